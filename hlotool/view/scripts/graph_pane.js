/* One graph: the tree of folds, of which only opened levels are laid out, drawn as boxes that open and close. */

const SVG = "http://www.w3.org/2000/svg";
const WIDEST = 250, LINE = 7.3, HEAD = 26, ROOM = 14, MOST_BOXES_AT_ONCE = 420, MOST_TARGETS = 14, MOST_CROSSING = 300, MOST_INSIDE = 2000, FIRST_BOXES = [36, 20, 10, 0];

function made(tag, attributes = {}, ...inside) {
  const found = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) found.setAttribute(name, value);
  found.append(...inside);
  return found;
}

class Pane {
  constructor(side, app) {
    this.side = side;
    this.app = app;
    this.element = document.createElement("section");
    this.element.className = "pane";
    this.title = document.createElement("h2");
    this.scroller = document.createElement("div");
    this.scroller.className = "scroller";
    this.scroller.tabIndex = 0;
    this.scroller.setAttribute("role", "region");
    this.element.append(this.title, this.scroller);
    this.scale = 1;
    this.chosen = null;
    this.scroller.addEventListener("wheel", event => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoom(this.scale * Math.exp(-event.deltaY / 300));
    }, { passive: false });
    this.scroller.addEventListener("keydown", event => this.key(event));
  }

  show(module, match, matchKey) {
    const isNew = module !== this.module;
    this.module = module;
    this.match = match;
    this.matchKey = matchKey;
    this.title.textContent = module.name;
    this.scroller.setAttribute("aria-label", `Graph of ${module.name}`);
    if (isNew) {
      this.root = module.entry;
      this.chosen = null;
      this.scale = 1;
      this.chosenPath = "";
      for (const most of FIRST_BOXES) {
        this.open = this.firstOpened(most);
        this.draw();
        if (this.width < 2 * this.scroller.clientWidth) break;
      }
      this.fit();
    } else this.draw();
  }

  /* The folds to open at first: the largest, as long as few boxes are drawn. */
  firstOpened(most) {
    const found = new Set(), queue = [[this.root, ""]];
    let boxes = this.module.children[this.root].length;
    while (queue.length) {
      queue.sort((a, b) => this.module.foldCount[b[0]] - this.module.foldCount[a[0]]);
      const [fold, path] = queue.shift(), inside = this.module.children[fold];
      if (path) {
        if (boxes + inside.length > most || this.module.folds[fold][1] === "parameters") continue;
        boxes += inside.length;
        found.add(path);
      }
      for (const item of inside) if (item.fold !== undefined) queue.push([item.fold, path ? `${path}/f${item.fold}` : `f${item.fold}`]);
    }
    return found;
  }

  // The tree: paths of keys, f for a fold and i for an instruction, from the computation that is shown.

  keyOf(item) { return item.fold === undefined ? `i${item.instruction}` : `f${item.fold}`; }

  /* What a box shows when it is open: the folds of the computations that it calls, or its own fold. */
  contents(item) {
    return item.fold === undefined ? this.module.called.get(item.instruction) || [] : [item.fold];
  }

  /* The path of a box in the tree, by a way from the computation that is shown; null where there is none. */
  pathTo(instruction) {
    const callers = this.module.callers(), steps = [], seen = new Set();
    let at = instruction;
    for (;;) {
      const [computation, ...folds] = this.module.chain(at);
      steps.unshift(...folds.map(f => `f${f}`), `i${at}`);
      if (computation === this.root) return steps;
      const caller = callers.get(computation);
      if (caller === undefined || seen.has(computation)) { this.root = computation; return steps; }
      seen.add(computation);
      if ((this.module.called.get(caller) || []).length > 1) steps.unshift(`f${computation}`);
      at = caller;
    }
  }

  toggle(path, isOpen = !this.open.has(path)) {
    if (isOpen) this.open.add(path);
    else for (const other of [...this.open]) if (other === path || other.startsWith(`${path}/`)) this.open.delete(other);
    const before = this.boxes.get(path), x = before && before.x * this.scale - this.scroller.scrollLeft, y = before && before.y * this.scale - this.scroller.scrollTop;
    this.draw();
    const after = this.boxes.get(path);
    if (before && after) {
      this.scroller.scrollLeft = after.x * this.scale - x;
      this.scroller.scrollTop = after.y * this.scale - y;
    }
    after?.element.focus({ preventScroll: true });
  }

  // Layout.

  /* The size of a box and its lines; `hidden` readers are told in the last one instead of being drawn. */
  sizeOf(item, look, hidden = 0) {
    const lines = [...this.linesOf(item), ...(hidden ? [`→ ${hidden} users, not drawn`] : [])];
    const width = Math.max(...lines.map(line => line.length), look.badge ? look.badge.length + 2 : 0) * LINE + 22;
    return { w: Math.min(WIDEST + 20, Math.max(64, width)), h: 16 * (lines.length + (look.badge ? 1 : 0)) + 12, lines };
  }

  linesOf(item) {
    const m = this.module;
    if (item.fold !== undefined) {
      const count = m.foldCount[item.fold];
      return [`${cut(m.folds[item.fold][0], 30)} ▸`, `${count.toLocaleString("en")} instruction${count === 1 ? "" : "s"}`];
    }
    const n = item.instruction, opens = m.called.has(n) ? " ▸" : "";
    const name = m.names[n], opcode = m.opcodes[m.opcode[n]];
    const first = name === opcode || name.startsWith(`${opcode}.`) ? name : `${name} = ${opcode}`;
    return [cut(first, 34) + opens, cut(m.shapes[m.shape[n]], 34)];
  }

  lookOf(item) {
    const overlay = OVERLAYS[this.app.colour];
    return item.fold === undefined ? overlay.instruction(this, item.instruction) : overlay.fold(this, item.fold);
  }

  /* Boxes and edges of a fold, from (0, 0): {w, h, boxes, edges}. */
  layout(fold, path) {
    const { items, edges, outside } = this.module.level(fold);
    const graph = new dagre.graphlib.Graph();
    graph.setGraph({ nodesep: 18, ranksep: 34, edgesep: 8, marginx: 0, marginy: 0, ranker: items.length > 30 ? "longest-path" : "network-simplex" });
    graph.setDefaultEdgeLabel(() => ({}));
    const fanOut = new Map();
    for (const [from] of edges) fanOut.set(from, (fanOut.get(from) || 0) + 1);
    const drawn = edges.filter(([from]) => fanOut.get(from) <= MOST_TARGETS);
    const connected = new Set(drawn.flatMap(([a, b]) => [a, b]));
    const cells = items.map((item, k) => {
      const own = path ? `${path}/${this.keyOf(item)}` : this.keyOf(item), look = this.lookOf(item);
      const isOpen = this.open.has(own) && this.contents(item).length > 0;
      const hidden = fanOut.get(k) > MOST_TARGETS && !isOpen ? fanOut.get(k) : 0;
      const cell = { item, path: own, look, isOpen, hidden, outside: outside[k], ...this.sizeOf(item, look, hidden) };
      if (isOpen) {
        cell.inner = this.layoutAll(this.contents(item), own);
        cell.w = Math.max(cell.w, cell.inner.w + 2 * ROOM);
        cell.h = cell.inner.h + HEAD + ROOM;
      }
      return cell;
    });
    cells.forEach((cell, k) => { if (connected.has(k)) graph.setNode(String(k), { width: cell.w, height: cell.h }); });
    for (const [from, to, count] of drawn) graph.setEdge(String(from), String(to), { weight: 1, count });
    const apart = cells.filter((_, k) => !connected.has(k));
    const top = this.rows(apart, Math.max(700, Math.sqrt(apart.length) * 260));
    let w = top.w, h = top.h;
    const routes = [];
    if (connected.size) {
      dagre.layout(graph);
      const size = graph.graph(), shift = top.h ? top.h + 24 : 0;
      cells.forEach((cell, k) => {
        if (!connected.has(k)) return;
        const node = graph.node(String(k));
        cell.x = node.x - cell.w / 2;
        cell.y = node.y - cell.h / 2 + shift;
      });
      for (const edge of graph.edges()) {
        const found = graph.edge(edge);
        routes.push({ from: cells[+edge.v].path, to: cells[+edge.w].path, count: found.count, points: found.points.map(p => ({ x: p.x, y: p.y + shift })) });
      }
      w = Math.max(w, size.width);
      h = shift + size.height;
    }
    return { w, h, cells, routes };
  }

  /* Boxes without edges, in rows. */
  rows(cells, width) {
    let x = 0, y = 0, high = 0, w = 0;
    for (const cell of cells) {
      if (x && x + cell.w > width) { x = 0; y += high + 12; high = 0; }
      cell.x = x; cell.y = y;
      x += cell.w + 12;
      w = Math.max(w, x - 12);
      high = Math.max(high, cell.h);
    }
    return { w, h: cells.length ? y + high : 0 };
  }

  /* One fold, or several computations beside each other, each a box. */
  layoutAll(folds, path) {
    if (folds.length === 1) return this.layout(folds[0], path);
    const cells = folds.map(fold => {
      const item = { fold }, own = `${path}/f${fold}`, look = this.lookOf(item), isOpen = this.open.has(own);
      const cell = { item, path: own, look, isOpen, hidden: 0, outside: 0, ...this.sizeOf(item, look) };
      if (isOpen) {
        cell.inner = this.layout(fold, own);
        cell.w = Math.max(cell.w, cell.inner.w + 2 * ROOM);
        cell.h = cell.inner.h + HEAD + ROOM;
      }
      return cell;
    });
    const size = this.rows(cells, 900);
    return { ...size, cells, routes: [] };
  }

  // Drawing.

  draw() {
    const focus = document.activeElement?.dataset?.path;
    const all = this.layout(this.root, "");
    this.boxes = new Map();
    this.edges = [];
    const boxes = made("g");
    this.place(all, 20, 20, boxes);
    this.cross(boxes);
    this.width = all.w + 40;
    this.height = all.h + 40;
    const arrow = made("marker", { id: `arrow-${this.side}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" },
      made("path", { d: "M0 0L8 4L0 8z", class: "arrow" }));
    this.svg = made("svg", { viewBox: `0 0 ${this.width} ${this.height}` }, made("defs", {}, arrow), boxes);
    this.scroller.replaceChildren(this.svg);
    this.zoom(this.scale);
    this.mark();
    const again = focus !== undefined && this.boxes.get(focus);
    if (again) again.element.focus({ preventScroll: true });
    else { const first = this.boxes.values().next().value; if (first) first.element.setAttribute("tabindex", "0"); }
  }

  /* Levels are drawn from the outermost inwards, each with its edges below its boxes. */
  place(layout, x, y, boxes) {
    const queue = [[layout, x, y]];
    while (queue.length) {
      const [level, dx, dy] = queue.shift();
      for (const route of level.routes) {
        const element = made("path", { d: curve(route.points.map(p => ({ x: p.x + dx, y: p.y + dy }))), class: "edge",
          "stroke-width": Math.min(4, 1 + Math.log2(route.count) / 2), "marker-end": `url(#arrow-${this.side})` });
        boxes.append(element);
        this.edges.push({ ...route, element });
      }
      for (const cell of level.cells) {
        const at = { ...cell, x: cell.x + dx, y: cell.y + dy };
        at.element = this.boxElement(at);
        boxes.append(at.element);
        this.boxes.set(cell.path, at);
        if (cell.inner) queue.push([cell.inner, at.x + (cell.w - cell.inner.w) / 2, at.y + HEAD]);
      }
    }
  }

  /* Edges between boxes of different levels: out of opened folds and into them, instead of those between the folds. */
  cross(boxes) {
    const found = this.crossings();
    if (!found) return;
    const between = new Set();
    for (const { from, to, count } of found.values()) {
      const a = this.boxes.get(from), b = this.boxes.get(to), x = a.x + a.w / 2, y = a.y + a.h, u = b.x + b.w / 2;
      const bend = Math.max(24, Math.min(90, Math.abs(b.y - y) / 2));
      const element = made("path", { d: `M${x} ${y}C${x} ${y + bend} ${u} ${b.y - bend} ${u} ${b.y}`, class: "edge crossing",
        "stroke-width": Math.min(4, 1 + Math.log2(count) / 2), "marker-end": `url(#arrow-${this.side})` });
      boxes.append(element);
      this.edges.push({ from, to, count, element });
      between.add(apart(from, to).join(">"));
    }
    this.edges = this.edges.filter(edge => {
      const isReplaced = !edge.element.classList.contains("crossing") && between.has(`${edge.from}>${edge.to}`);
      if (isReplaced) edge.element.remove();
      return !isReplaced;
    });
  }

  /* Pairs of boxes of different levels, one of which reads the other; null where they are too many to be seen. */
  crossings() {
    const found = new Map();
    for (const cell of this.boxes.values()) {
      if (cell.isOpen && cell.item.fold !== undefined) continue;
      if (cell.item.fold !== undefined && this.module.foldCount[cell.item.fold] > MOST_INSIDE) continue;
      const readers = cell.item.fold === undefined ? [cell.item.instruction] : this.module.inside(cell.item.fold);
      for (const reader of readers) for (const operand of this.module.operands(reader)) {
        const other = this.boxOf(operand, cell.path);
        if (!other || other.path === cell.path || folder(other.path) === folder(cell.path)) continue;
        if (other.path.startsWith(`${cell.path}/`) || cell.path.startsWith(`${other.path}/`)) continue;
        if (this.module.users(operand).length > MOST_TARGETS) continue;
        const key = `${other.path}>${cell.path}`, edge = found.get(key);
        if (edge) edge.count++;
        else if (found.size === MOST_CROSSING) return null;
        else found.set(key, { from: other.path, to: cell.path, count: 1 });
      }
    }
    return found;
  }

  boxElement(cell) {
    const { x, y, w, h, item, look } = cell, group = made("g", { class: "box", role: "button", tabindex: "-1", transform: `translate(${x} ${y})` });
    group.dataset.path = cell.path;
    const rect = made("rect", { width: w, height: h, rx: item.fold === undefined ? 5 : 10 });
    group.append(rect);
    if (look.kind !== undefined) group.classList.add(`k${look.kind}`);
    if (look.heat !== undefined && !cell.isOpen) rect.style.fill = `color-mix(in srgb, var(--heat) ${Math.round(100 * Math.min(1, look.heat))}%, var(--node))`;
    const opens = this.contents(item).length > 0;
    if (item.fold !== undefined) group.classList.add("fold");
    if (cell.isOpen) group.classList.add("open");
    if (opens) group.setAttribute("aria-expanded", String(cell.isOpen));
    const lines = cell.isOpen ? [cell.lines[0].replace("▸", "▾") + (item.fold === undefined ? `  ${cell.lines[1]}` : "")] : cell.lines;
    lines.forEach((line, k) => {
      const text = made("text", { x: 10, y: 18 + 16 * k, ...(k ? { class: "small" } : {}) });
      text.textContent = line;
      group.append(text);
    });
    if (look.badge && !cell.isOpen) {
      const text = made("text", { x: 10, y: 18 + 16 * lines.length, class: "small badge" });
      text.textContent = look.badge;
      group.append(text);
    }
    const what = this.describe(item, look) + (cell.hidden ? `, read by ${cell.hidden} boxes, which are listed instead of drawn` : "");
    group.setAttribute("aria-label", what);
    const title = made("title");
    title.textContent = what;
    group.append(title);
    group.addEventListener("click", () => this.clicked(cell.path));
    group.addEventListener("focus", () => {
      this.scroller.querySelectorAll('.box[tabindex="0"]').forEach(b => b.setAttribute("tabindex", "-1"));
      group.setAttribute("tabindex", "0");
    });
    return group;
  }

  describe(item, look) {
    const m = this.module, badge = look.badge ? `, ${look.badge}` : "";
    if (item.fold !== undefined) return `${m.folds[item.fold][0]}, ${m.foldCount[item.fold]} instructions${badge}`;
    const n = item.instruction, scope = m.scopes[m.scope[n]];
    return `${m.names[n]}, ${m.opcodes[m.opcode[n]]} ${m.shapes[m.shape[n]]}${scope ? `, ${scope}` : ""}${badge}`;
  }

  clicked(path) {
    const { item, isOpen } = this.boxes.get(path);
    if (item.fold !== undefined) {
      this.toggle(path);
      this.app.toggled(this, item.fold, !isOpen);
    } else if (this.chosen === item.instruction && this.contents(item).length) this.toggle(path);
    else if (isOpen) this.toggle(path);
    else this.app.choose(this, item.instruction, { isInPlace: true, path });
  }

  key(event) {
    const path = document.activeElement?.dataset?.path, cell = path !== undefined && this.boxes.get(path);
    if (!cell) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      if (event.key === "Enter" && cell.item.fold === undefined && this.contents(cell.item).length) {
        this.app.choose(this, cell.item.instruction, { isInPlace: true, path });
        this.toggle(path);
      } else this.clicked(path);
      return;
    }
    const step = { ArrowDown: [0, 1], ArrowUp: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.nearest(cell, step)?.element.focus();
  }

  /* The box in a direction that is nearest, sideways steps counting more. */
  nearest(from, [dx, dy]) {
    let best = null, least = Infinity;
    const middle = cell => [cell.x + Math.min(cell.w, 300) / 2, cell.y + 15], [x, y] = middle(from);
    for (const cell of this.boxes.values()) {
      if (cell.path === from.path) continue;
      const [cx, cy] = middle(cell), along = (cx - x) * dx + (cy - y) * dy, aside = Math.abs((cx - x) * dy) + Math.abs((cy - y) * dx);
      if (along > 3 && along + 2.5 * aside < least) { least = along + 2.5 * aside; best = cell; }
    }
    return best;
  }

  // What is chosen.

  /* Open the way to an instruction and bring it into view. */
  reveal(instruction) {
    const root = this.root, steps = this.pathTo(instruction), path = steps.join("/");
    if (!this.boxes.has(path) || root !== this.root) {
      if (this.boxes.size > MOST_BOXES_AT_ONCE || root !== this.root) this.open.clear();
      for (let n = 1; n < steps.length; n++) this.open.add(steps.slice(0, n).join("/"));
      this.draw();
    }
    this.chosen = instruction;
    this.chosenPath = path;
    this.mark();
    this.bringIntoView(this.boxes.get(path));
  }

  bringIntoView(cell) {
    if (!cell) return;
    this.scroller.scrollTo({ left: (cell.x + Math.min(cell.w, 260) / 2) * this.scale - this.scroller.clientWidth / 2,
      top: (cell.y + 20) * this.scale - this.scroller.clientHeight / 2 });
  }

  /* The box that shows an instruction: itself, or the innermost closed fold that holds it, near the chosen one. */
  boxOf(instruction, near) {
    const prefix = near.split("/").slice(0, -1);
    for (let n = prefix.length; n >= 0; n--) {
      const base = prefix.slice(0, n).join("/");
      const folds = this.module.chain(instruction).slice(1).map(f => `f${f}`);
      const ways = [[...folds, `i${instruction}`], ...folds.map((_, k) => folds.slice(0, folds.length - k))];
      for (const way of ways) {
        const path = [base, ...way].filter(Boolean).join("/");
        const cell = this.boxes.get(path);
        if (cell && (!cell.isOpen || cell.item.fold === undefined)) return cell;
      }
    }
    return null;
  }

  mark() {
    for (const cell of this.boxes.values()) cell.element.classList.remove("chosen", "operand", "user");
    for (const edge of this.edges) edge.element.classList.remove("lit");
    if (this.chosen === null) return;
    const mine = this.boxes.get(this.chosenPath) || this.boxOf(this.chosen, this.chosenPath || "");
    if (!mine) return;
    mine.element.classList.add("chosen");
    for (const [kind, others] of [["operand", this.module.operands(this.chosen)], ["user", this.module.users(this.chosen)]])
      for (const n of others) {
        const cell = this.boxOf(n, mine.path);
        if (cell && cell.path !== mine.path) cell.element.classList.add(kind);
      }
    for (const edge of this.edges) if (edge.from === mine.path || edge.to === mine.path) edge.element.classList.add("lit");
  }

  zoom(scale) {
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.scroller;
    const x = (scrollLeft + clientWidth / 2) / this.scale, y = (scrollTop + clientHeight / 2) / this.scale;
    const moved = Math.abs(scale - this.scale) > 1e-6;
    this.scale = Math.min(3, Math.max(.08, scale));
    this.svg.setAttribute("width", this.width * this.scale);
    this.svg.setAttribute("height", this.height * this.scale);
    if (moved) this.scroller.scrollTo({ left: x * this.scale - clientWidth / 2, top: y * this.scale - clientHeight / 2 });
  }

  /* As large as the width allows, but legible. */
  fit() {
    this.zoom(Math.min(1.25, Math.max(.6, (this.scroller.clientWidth - 4) / this.width)));
    this.scroller.scrollTo({ left: (this.width * this.scale - this.scroller.clientWidth) / 2, top: 0 });
  }
}

/* What holds a box: its path without the last step. */
function folder(path) { return path.slice(0, Math.max(0, path.lastIndexOf("/"))); }

/* Of two boxes the outermost boxes around them that are not the same. */
function apart(one, other) {
  const a = one.split("/"), b = other.split("/");
  let n = 0;
  while (a[n] === b[n]) n++;
  return [a.slice(0, n + 1).join("/"), b.slice(0, n + 1).join("/")];
}

/* A curve through the points of an edge. */
function curve(points) {
  let path = `M${points[0].x.toFixed(1)} ${points[0].y.toFixed(1)}`;
  for (let n = 1; n < points.length - 1; n++) {
    const p = points[n], q = points[n + 1], last = n === points.length - 2;
    const x = last ? q.x : (p.x + q.x) / 2, y = last ? q.y : (p.y + q.y) / 2;
    path += `Q${p.x.toFixed(1)} ${p.y.toFixed(1)} ${x.toFixed(1)} ${y.toFixed(1)}`;
  }
  if (points.length === 2) path += `L${points[1].x.toFixed(1)} ${points[1].y.toFixed(1)}`;
  return path;
}
