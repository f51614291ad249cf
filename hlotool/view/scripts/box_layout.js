/* Boxes in layers, each below what it reads, and edges that cross no box: layered_layout.py in the browser, with folds in
   folds. An edge has a point in every layer that it passes. One that leads out of an open fold or into one touches its
   border at a port, and goes on inside. */

const ASIDE = 18, LANE = 9, BELOW = 40, PORT_ROOM = 20, SWEEPS = 8, WIDEST_LAYER = 1200, TURN = 24, WEIGHT = 6;

/* Places boxes {w, h, pin} so that links {from, to, out, into} lead downwards, as far as they can. `pin` is "top" or
   "bottom" for ports; `out` and `into` are where on a box a link must touch it. Sets x and y of boxes and `points` of
   links, and returns the size. */
function layered(boxes, links) {
  const forward = links.filter(link => link.from !== link.to);
  const layer = layersOf(boxes, forward), all = [...boxes], near = { above: boxes.map(() => []), below: boxes.map(() => []) };
  const join = (upper, lower, out, into) => {
    near.below[upper].push([lower, out, into]);
    near.above[lower].push([upper, into, out]);
  };
  const point = at => {
    layer.push(at);
    near.above.push([]);
    near.below.push([]);
    return all.push({ w: 0, h: 0 }) - 1;
  };
  for (const link of forward) {
    const first = layer[link.from], last = layer[link.to], way = [];
    link.isBack = first >= last;
    for (let at = link.isBack ? first : first + 1; link.isBack ? at >= last : at < last; at += link.isBack ? -1 : 1) way.push(point(at));
    link.way = way;
    const out = link.out ?? all[link.from].w / 2, into = link.into ?? all[link.to].w / 2;
    if (link.isBack) for (let k = 1; k < way.length; k++) join(way[k], way[k - 1], 0, 0);
    else [link.from, ...way].forEach((upper, k) => join(upper, way[k] ?? link.to, k ? 0 : out, k === way.length ? into : 0));
  }
  const rows = Array.from({ length: Math.max(-1, ...layer) + 1 }, () => []);
  layer.forEach((at, n) => rows[at].push(n));
  order(rows, near);
  abreast(rows, all, near);
  const tops = [], bottoms = [];
  let y = 0;
  rows.forEach((row, k) => {
    tops.push(y);
    bottoms.push(y + Math.max(0, ...row.map(n => all[n].h)));
    const isPorts = row.every(n => all[n].pin) || rows[k + 1]?.every(n => all[n].pin || (!all[n].w && k + 2 === rows.length));
    y = bottoms[k] + (isPorts ? PORT_ROOM : BELOW);
    for (const n of row) all[n].y = tops[k];
  });
  const left = Math.min(...all.map(box => box.x)), right = Math.max(...all.map(box => box.x + box.w));
  for (const box of all) box.x -= left;
  trace(forward, all, layer, tops, bottoms);
  return { w: right - left, h: bottoms.at(-1) || 0 };
}

/* The layer of each box: below all that it reads, near what reads it, and no layer wider than a screen or two. */
function layersOf(boxes, links) {
  const above = boxes.map(() => []), below = boxes.map(() => []);
  for (const { from, to } of links) if (!boxes[from].pin && !boxes[to].pin) { above[to].push(from); below[from].push(to); }
  const found = boxes.map(() => 0), waiting = above.map(row => row.length), isDone = boxes.map(() => false), sequence = [];
  const ready = boxes.map((_, n) => n).filter(n => !waiting[n]).reverse();
  for (let next = 0; sequence.length < boxes.length;) {
    let n = ready.pop();
    // Folds may read each other in a circle, which is begun where the text begins.
    if (n === undefined) { while (isDone[next]) next++; n = next; }
    if (isDone[n]) continue;
    isDone[n] = true;
    sequence.push(n);
    for (const b of below[n]) if (!isDone[b]) {
      found[b] = Math.max(found[b], found[n] + 1);
      if (!--waiting[b]) ready.push(b);
    }
  }
  for (const n of sequence.toReversed()) {
    const later = below[n].filter(b => found[b] > found[n]);
    if (later.length && above[n].length <= below[n].length) found[n] = Math.max(found[n], Math.min(...later.map(b => found[b])) - 1);
  }
  const widths = new Map(), wanted = [...found];
  for (const n of sequence.toSorted((a, b) => wanted[a] - wanted[b] || a - b)) {
    if (boxes[n].pin) continue;
    let at = Math.max(wanted[n], ...above[n].filter(a => wanted[a] < wanted[n]).map(a => found[a] + 1));
    while (widths.get(at) && widths.get(at) + boxes[n].w > WIDEST_LAYER) at++;
    widths.set(at, (widths.get(at) || 0) + boxes[n].w + ASIDE);
    found[n] = at;
  }
  const hasTop = boxes.some(box => box.pin === "top"), last = Math.max(-1, ...found.filter((_, n) => !boxes[n].pin));
  return found.map((at, n) => boxes[n].pin === "top" ? 0 : boxes[n].pin === "bottom" ? last + 1 + hasTop : at + hasTop);
}

/* Sorts each layer by the mean place of neighbours, from the top and from the bottom in turn. */
function order(rows, near) {
  const place = [];
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const row of rows) row.forEach((n, k) => place[n] = k / Math.max(1, row.length - 1));
    const side = sweep % 2 ? near.below : near.above;
    for (const row of sweep % 2 ? rows.toReversed() : rows) {
      const mean = new Map(row.map(n => [n, side[n].length ? side[n].reduce((sum, [o]) => sum + place[o], 0) / side[n].length : place[n]]));
      row.sort((a, b) => mean.get(a) - mean.get(b));
      row.forEach((n, k) => place[n] = k / Math.max(1, row.length - 1));
    }
  }
}

/* Gives each box a place in its layer, as near to its neighbours as the order allows: with the least room between boxes
   taken off, wanted places must only not fall; those that do become a block that stands at its mean. */
function abreast(rows, all, near) {
  const offsets = rows.map(row => {
    let at = 0;
    return row.map((n, k) => {
      if (k) at += all[row[k - 1]].w + (all[n].w && all[row[k - 1]].w ? ASIDE : LANE);
      return all[n].x = at;
    });
  });
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const side = sweep % 2 ? near.below : near.above;
    for (let at = 0; at < rows.length; at++) {
      const k = sweep % 2 ? rows.length - 1 - at : at, blocks = [];
      rows[k].forEach((n, i) => {
        let sum = 0, heavy = 0;
        for (const [o, mine, other] of side[n]) {
          const pull = all[n].w && !all[o].w ? 1 : WEIGHT;
          sum += pull * (all[o].x + other - mine);
          heavy += pull;
        }
        const wanted = heavy ? sum / heavy : all[n].x;
        // A box stays where it wants to be, and edges go around it.
        let place = wanted - offsets[k][i], count = 1, weight = all[n].w ? WEIGHT : 1;
        while (blocks.length && blocks.at(-1)[0] > place) {
          const [before, many, heavy] = blocks.pop();
          place = (before * heavy + place * weight) / (heavy + weight);
          count += many;
          weight += heavy;
        }
        blocks.push([place, count, weight]);
      });
      let i = 0;
      for (const [place, count] of blocks) for (const end = i + count; i < end; i++) all[rows[k][i]].x = place + offsets[k][i];
    }
  }
}

/* The points of links: [x, y], and with a third number where the way turns back, below (1) or above (-1). */
function trace(links, all, layer, tops, bottoms) {
  const ports = (end, given, next) => {
    const byBox = new Map();
    for (const link of links) {
      if (link[given] !== undefined) link[`${end}X`] = all[link[end]].x + link[given];
      else byBox.set(link[end], [...(byBox.get(link[end]) || []), link]);
    }
    for (const [n, touching] of byBox) {
      touching.sort((a, b) => next(a) - next(b));
      touching.forEach((link, k) => link[`${end}X`] = all[n].x + all[n].w * (k + 1) / (touching.length + 1));
    }
  };
  const middle = n => all[n].x + all[n].w / 2;
  ports("from", "out", link => link.way.length ? all[link.way[0]].x : middle(link.to));
  ports("to", "into", link => link.way.length ? all[link.way.at(-1)].x : middle(link.from));
  for (const link of links) {
    const { fromX, toX, way, isBack } = link, start = layer[link.from], box = all[link.from];
    link.points = [[fromX, box.y + box.h], [fromX, bottoms[start]]];
    way.forEach((n, k) => link.points.push(isBack ? [all[n].x, bottoms[layer[n]], k ? 0 : 1] : [all[n].x, tops[layer[n]]], [all[n].x, isBack ? tops[layer[n]] : bottoms[layer[n]]]));
    link.points.push(isBack ? [toX, all[link.to].y, -1] : [toX, all[link.to].y]);
  }
}

/* The path of SVG through points: upright in layers, bent between them. */
function curve(points) {
  const text = value => value.toFixed(1);
  let [[x, y]] = points, path = `M${text(x)} ${text(y)}`;
  for (const [u, v, turn] of points.slice(1)) {
    if (turn) path += `C${text(x)} ${text(y + turn * TURN)} ${text(u)} ${text(v + turn * TURN)} ${text(u)} ${text(v)}`;
    else if (Math.abs(u - x) < .05) path += `V${text(v)}`;
    else { const bend = (v - y) / 2; path += `C${text(x)} ${text(y + bend)} ${text(u)} ${text(v - bend)} ${text(u)} ${text(v)}`; }
    [x, y] = [u, v];
  }
  return path;
}
