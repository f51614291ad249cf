/* One graph: the tree of folds, of which only opened levels are laid out, drawn as boxes that open and close. */

const SVG = "http://www.w3.org/2000/svg";
const WIDEST = 300, LINE = 7.3, HEAD = 26, ROOM = 14, MOST_BOXES_AT_ONCE = 420, MOST_TARGETS = 14, MOST_READ = 3, FIRST_BOXES = [36, 28, 20, 10, 0];
const SMALLEST = .05, LARGEST = 3, LEGIBLE = .9, WIDEST_FIRST = 1.9, STILL = 4, NEAR_BOXES = 40;

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
    this.canvas = document.createElement("div");
    this.canvas.className = "canvas";
    this.scroller.append(this.canvas);
    this.partBar = element("p", undefined, "part");
    this.partBar.hidden = true;
    this.element.append(this.title, this.partBar, this.scroller);
    this.scale = 1;
    this.aside = [0, 0];
    this.chosen = null;
    this.part = null;
    this.scroller.addEventListener("wheel", event => this.wheel(event), { passive: false });
    this.scroller.addEventListener("pointerdown", event => this.pan(event));
    this.scroller.addEventListener("keydown", event => this.key(event));
    new ResizeObserver(() => { if (this.svg) this.zoom(this.scale); }).observe(this.scroller);
  }

  /* The wheel zooms where the pointer is; sideways it scrolls. */
  wheel(event) {
    event.preventDefault();
    const unit = event.deltaMode ? 16 : 1, { clientX: x, clientY: y } = event;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.scroller.scrollLeft += unit * (event.deltaX || event.deltaY);
    else this.zoom(this.scale * Math.exp(-unit * event.deltaY / (event.ctrlKey ? 200 : 500)), { x, y });
  }

  /* A drag moves the graph; the click at its end opens nothing. Fingers scroll by themselves. */
  pan(event) {
    if (event.button || event.pointerType === "touch" || event.target === this.scroller) return;
    const { clientX, clientY } = event, { scrollLeft, scrollTop } = this.scroller, ending = new AbortController(), { signal } = ending;
    let isMoved = false;
    addEventListener("pointermove", moved => {
      const x = moved.clientX - clientX, y = moved.clientY - clientY;
      isMoved ||= Math.hypot(x, y) > STILL;
      if (!isMoved) return;
      this.scroller.classList.add("panned");
      this.scroller.scrollTo(scrollLeft - x, scrollTop - y);
    }, { signal });
    const end = () => {
      ending.abort();
      this.scroller.classList.remove("panned");
      if (!isMoved) return;
      const stop = click => click.stopPropagation();
      addEventListener("click", stop, { capture: true, once: true });
      setTimeout(() => removeEventListener("click", stop, { capture: true }));
    };
    addEventListener("pointerup", end, { signal });
    addEventListener("pointercancel", end, { signal });
  }

  show(module, match, matchKey) {
    const isNew = module !== this.module;
    this.module = module;
    this.match = match;
    this.matchKey = matchKey;
    this.title.textContent = baseName(module.name);
    this.title.title = module.name;
    this.scroller.setAttribute("aria-label", `Graph of ${module.name}`);
    if (isNew) {
      this.root = module.entry;
      this.chosen = null;
      this.showPart(null, false);
      this.scale = 1;
      this.chosenPath = "";
      for (const most of FIRST_BOXES) {
        this.open = this.firstOpened(most);
        this.draw();
        if (this.width * LEGIBLE <= WIDEST_FIRST * this.scroller.clientWidth) break;
      }
      this.first();
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
        if (boxes + inside.length > most || QUIET.includes(this.module.folds[fold][1])) continue;
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
    if (this.part?.numbers.includes(instruction)) return [`i${instruction}`];
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

  /* The size of a box and its lines; the constants and parameters that it reads, and readers that are not drawn, in the last. */
  sizeOf(item, look, read = [], hidden = 0) {
    const lines = [...this.linesOf(item), ...(read.length ? [cut(`◂ ${this.readText(read)}`, 34)] : []), ...(hidden ? [`→ ${hidden} users, not drawn`] : [])];
    const badge = rowsOf(look.badge || "", 40);
    const width = Math.max(...lines.map(line => line.length), ...badge.map(row => row.length + 2)) * LINE + 28;
    return { w: Math.min(WIDEST, Math.max(64, width)), h: 16 * (lines.length + badge.length) + 12, lines, badge };
  }

  /* Parameters by name, constants by value, or how many of them there are. */
  readText(read) {
    const m = this.module;
    if (read.length <= MOST_READ) return read.map(n => m.constantText(n) || m.names[n]).join(", ");
    const counts = QUIET_WORDS.map(word => [read.filter(n => m.opcodes[m.opcode[n]] === word).length, word]).filter(([count]) => count);
    return counts.map(([count, word]) => `${count} ${word}${count === 1 ? "" : "s"}`).join(", ");
  }

  linesOf(item) {
    const m = this.module;
    if (item.fold !== undefined) {
      const count = m.foldCount[item.fold], [label, , , work] = m.folds[item.fold];
      return [`${cut(label, 30)} ▸`, cut(rowsOf(`${count.toLocaleString("en")} instruction${count === 1 ? "" : "s"}${work ? `: ${work}` : ""}`, 40)[0], 40)];
    }
    const n = item.instruction, opens = m.called.has(n) ? " ▸" : "";
    const name = m.names[n], opcode = m.opcodes[m.opcode[n]];
    const first = name === opcode || name.startsWith(`${opcode}.`) ? name : `${name} = ${opcode}`;
    return [cut(first, 34) + opens, cut(m.shapes[m.shape[n]], 34)];
  }

  lookOf(item) {
    const overlay = this.app.overlays[this.app.colour];
    return item.fold === undefined ? overlay.instruction(this, item.instruction) : overlay.fold(this, item.fold);
  }

  /* The tree of boxes of a fold: open folds have a `node` with the boxes in them. */
  tree(items, path, leaves) {
    const node = { cells: [], segments: new Map(), tops: new Map(), bottoms: new Map() };
    for (const item of items) {
      const own = path ? `${path}/${this.keyOf(item)}` : this.keyOf(item), isOpen = this.open.has(own) && this.contents(item).length > 0;
      const cell = { item, path: own, look: this.lookOf(item), isOpen, holder: node, at: node.cells.length };
      node.cells.push(cell);
      if (isOpen && item.fold !== undefined) {
        cell.node = this.tree(this.module.children[item.fold], own, leaves);
        cell.node.cell = cell;
      } else leaves.push(cell);
    }
    return node;
  }

  /* Boxes and edges of a fold, or of the part that is shown, from (0, 0): {w, h, cells, routes}. */
  layout(items, path) {
    const leaves = [], node = this.tree(items, path, leaves);
    this.leafLinks(leaves);
    for (const cell of leaves) {
      const hidden = cell.targets.size > MOST_TARGETS ? cell.targets.size : 0;
      cell.hidden = cell.isOpen ? 0 : hidden;
      for (const [to, count] of cell.targets) if (!hidden) split(cell, leaves[to], count);
    }
    for (const cell of leaves) {
      // A constant is told in what reads it.
      cell.isBare = cell.item.fold === undefined && cell.readers && this.isConstant(cell.item.instruction);
      Object.assign(cell, this.sizeOf(cell.item, cell.look, [...cell.read], cell.hidden));
      if (!cell.isOpen) continue;
      cell.inner = this.layoutAll(this.contents(cell.item), cell.path);
      cell.w = Math.max(cell.w, cell.inner.w + 2 * ROOM);
      cell.h = cell.inner.h + HEAD + ROOM;
    }
    return this.layoutNode(node);
  }

  isConstant(n) { return this.module.opcodes[this.module.opcode[n]] === "constant" && n !== this.part?.ends[0]; }

  /* Gives each leaf the leaves that read it, `targets`, and the constants and parameters that it reads, `read`. */
  leafLinks(leaves) {
    const m = this.module, place = m.places ??= new Int32Array(m.count).fill(-1), members = [];
    const isQuiet = QUIET_WORDS.map(word => m.opcodes.indexOf(word)), readers = this.part ? n => m.above(n) : n => m.operands(n);
    leaves.forEach((cell, k) => {
      cell.targets = new Map();
      cell.read = new Set();
      for (const n of cell.item.fold === undefined ? [cell.item.instruction] : m.inside(cell.item.fold)) { place[n] = k; members.push(n); }
    });
    for (const n of members) for (const o of readers(n)) {
      const from = place[o], to = place[n];
      if (from === to) continue;
      if (this.part ? this.isConstant(o) : isQuiet.includes(m.opcode[o])) {
        leaves[to].read.add(o);
        if (from >= 0) leaves[from].readers = true;
      } else if (from >= 0) leaves[from].targets.set(to, (leaves[from].targets.get(to) || 0) + 1);
    }
    for (const n of members) place[n] = -1;
  }

  /* Lays out the boxes of an open fold, those inside first, for their ports are where its edges end. */
  layoutNode(node) {
    for (const cell of node.cells) if (cell.node) {
      cell.inner = this.layoutNode(cell.node);
      const { lines } = this.sizeOf(cell.item, cell.look);
      Object.assign(cell, { lines, hidden: 0, w: Math.max(cell.inner.w + 2 * ROOM, lines[0].length * LINE + 22), h: cell.inner.h + HEAD + ROOM });
      cell.inset = (cell.w - cell.inner.w) / 2;
    }
    const segments = [...node.segments.values()], linked = new Set(segments.flatMap(s => [s.from, s.to]).filter(end => typeof end === "object"));
    const cells = node.cells.filter(cell => linked.has(cell)), apart = node.cells.filter(cell => !linked.has(cell) && !cell.isBare);
    const ports = [...node.tops.values(), ...node.bottoms.values()], boxes = [...cells.map(({ w, h }) => ({ w, h })), ...ports];
    const numbers = new Map([...cells, ...ports].map((end, k) => [end, k]));
    const links = segments.map(segment => ({ segment, from: numbers.get(segment.from), to: numbers.get(segment.to),
      out: segment.from.node && segment.from.inset + segment.from.node.bottoms.get(segment.source).x,
      into: segment.to.node && segment.to.inset + segment.to.node.tops.get(segment.source).x }));
    const size = cells.length ? layered(boxes, links) : { w: 0, h: 0 };
    const beside = ports.length && apart.length, top = this.rows(apart, beside ? 420 : Math.max(700, size.w, Math.sqrt(apart.length) * 260));
    const down = !beside && top.h && size.h ? top.h + 24 : 0;
    cells.forEach((cell, k) => { cell.x = boxes[k].x; cell.y = boxes[k].y + down; });
    const w = beside ? size.w + 24 + top.w : Math.max(size.w, top.w), h = Math.max(size.h + down, top.h + (beside ? PORT_ROOM : 0));
    for (const cell of apart) { cell.x += beside ? size.w + 24 : Math.max(0, w - top.w) / 2; cell.y += beside ? PORT_ROOM : 0; }
    if (!beside) for (const cell of cells) cell.x += (w - size.w) / 2;
    const side = beside ? 0 : (w - size.w) / 2;
    const routes = links.filter(link => link.points).map(({ segment, points }) => ({ ...segment, points: points.map(([x, y, turn]) => [x + side, y + down, turn]) }));
    for (const route of routes) {
      // Through the border of the fold.
      if (route.from.pin) route.points.unshift([route.points[0][0], -HEAD]);
      if (route.to.pin) route.points.push([route.points.at(-1)[0], h + ROOM]);
    }
    return { w, h, cells: [...cells, ...apart], routes };
  }

  /* Boxes without edges, in rows. */
  rows(cells, width) {
    let x = 0, y = 0, high = 0, w = 0;
    for (const [k, cell] of cells.entries()) {
      if (x && (x + cell.w > width || cell.isOpen || cells[k - 1].isOpen)) { x = 0; y += high + 12; high = 0; }
      cell.x = x; cell.y = y;
      x += cell.w + 12;
      w = Math.max(w, x - 12);
      high = Math.max(high, cell.h);
    }
    return { w, h: cells.length ? y + high : 0 };
  }

  /* One fold, or several computations beside each other, each a box. */
  layoutAll(folds, path) {
    return this.layout(folds.length === 1 ? this.module.children[folds[0]] : folds.map(fold => ({ fold })), path);
  }

  // Drawing.

  draw() {
    const focus = document.activeElement?.dataset?.path;
    this.isStale = false;
    const all = this.layout(this.part ? this.part.numbers.map(instruction => ({ instruction })) : this.module.children[this.root], "");
    this.boxes = new Map();
    this.edges = [];
    const boxes = made("g");
    this.place(all, 20, 20, boxes);
    this.width = all.w + 40;
    this.height = all.h + 40;
    const arrow = made("marker", { id: `arrow-${this.side}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" },
      made("path", { d: "M0 0L8 4L0 8z", class: "arrow" }));
    this.svg = made("svg", { viewBox: `0 0 ${this.width} ${this.height}` }, made("defs", {}, arrow), boxes);
    this.canvas.replaceChildren(this.svg);
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
        const points = route.points.map(([px, py, turn]) => [px + dx, py + dy, turn]), arrow = route.to.pin || route.to.node ? {} : { "marker-end": `url(#arrow-${this.side})` };
        const crossing = route.from.pin || route.to.pin ? " crossing" : "", call = [...route.targets].some(to => this.isPassed(route.source, to)) ? " call" : "";
        const element = made("path", { d: curve(points), class: `edge${crossing}${call}`, "stroke-width": Math.min(4, 1 + Math.log2(route.count) / 2), ...arrow });
        boxes.append(element);
        this.edges.push({ from: route.source.path, targets: new Set([...route.targets].map(to => to.path)), element });
      }
      for (const cell of level.cells) {
        const at = { ...cell, x: cell.x + dx, y: cell.y + dy };
        at.element = this.boxElement(at);
        boxes.append(at.element);
        this.boxes.set(cell.path, at);
        if (cell.inner) queue.push([cell.inner, at.x + (cell.inset ?? (cell.w - cell.inner.w) / 2), at.y + HEAD]);
      }
    }
  }

  /* Of the part that is shown: whether a box gets a value from a caller, or gives it to one, instead of reading it. */
  isPassed(from, to) { return Boolean(this.part) && !this.module.operands(to.item.instruction).includes(from.item.instruction); }

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
    if (this.part?.ends.includes(item.instruction)) group.classList.add("end");
    const lines = cell.isOpen ? [cell.lines[0].replace("▸", "▾") + (item.fold === undefined ? `  ${cell.lines[1]}` : "")] : cell.lines;
    lines.forEach((line, k) => {
      const text = made("text", { x: 10, y: 18 + 16 * k, ...(k ? { class: "small" } : {}) });
      text.textContent = line;
      group.append(text);
    });
    if (!cell.isOpen) cell.badge.forEach((row, k) => {
      const text = made("text", { x: 10, y: 18 + 16 * (lines.length + k), class: "small badge" });
      text.textContent = row;
      group.append(text);
    });
    const what = this.describe(item, look) + (cell.read?.size ? `, reads ${this.readText([...cell.read])}` : "") + (cell.hidden ? `, read by ${cell.hidden} boxes, which are listed instead of drawn` : "");
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
    if (item.fold !== undefined) return `${m.folds[item.fold][0]}, ${m.foldCount[item.fold]} instructions${m.folds[item.fold][3] ? `: ${m.folds[item.fold][3]}` : ""}${badge}`;
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
    const factor = { "+": 1.25, "-": 1 / 1.25 }[event.key];
    if (factor) this.zoom(this.scale * factor);
    if (event.key === "0") this.fit();
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
    if (this.part && !this.part.numbers.includes(instruction)) this.showPart(null, false);
    const root = this.root, steps = this.pathTo(instruction), path = steps.join("/");
    if (!this.boxes.has(path) || root !== this.root || this.isStale) {
      if (this.boxes.size > MOST_BOXES_AT_ONCE || root !== this.root) this.open.clear();
      for (let n = 1; n < steps.length; n++) this.open.add(steps.slice(0, n).join("/"));
      this.draw();
    }
    this.chosen = instruction;
    this.chosenPath = path;
    this.mark();
    // A constant has no box; the first that reads it has one.
    this.bringIntoView(this.boxes.get(path) || this.module.users(instruction).map(n => this.boxOf(n, path)).find(Boolean));
  }

  /* Show some instructions instead of the whole: {numbers, ends, title, rest}; null: the whole again. */
  showPart(part, isDrawn = true) {
    this.isStale = !isDrawn && this.part !== part;
    this.part = part;
    this.partBar.hidden = !part;
    if (part) {
      const whole = element("button", "Whole graph");
      whole.addEventListener("click", () => { this.showPart(null); this.app.choose(this, part.ends[0]); });
      this.partBar.replaceChildren(element("span", part.rest ? `${part.title}. ${part.rest}` : part.title), whole);
    }
    if (!isDrawn) return;
    this.draw();
    this.first();
  }

  bringIntoView(cell) {
    if (!cell) return;
    this.scroller.scrollTo({ left: this.aside[0] + (cell.x + Math.min(cell.w, 260) / 2) * this.scale - this.scroller.clientWidth / 2,
      top: this.aside[1] + (cell.y + 20) * this.scale - this.scroller.clientHeight / 2 });
  }

  /* The box that shows an instruction: itself, or the innermost closed fold that holds it, near the chosen one. */
  boxOf(instruction, near) {
    if (this.part) return this.boxes.get(`i${instruction}`) || null;
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
    const near = mine?.path ?? this.chosenPath ?? "";
    mine?.element.classList.add("chosen");
    for (const [kind, others] of [["operand", this.module.operands(this.chosen)], ["user", this.module.users(this.chosen)]])
      for (const n of others) {
        const cell = this.boxOf(n, near);
        if (cell && cell.path !== near) cell.element.classList.add(kind);
      }
    for (const edge of this.edges) if (edge.from === near || edge.targets.has(near)) edge.element.classList.add("lit");
  }

  /* Larger or smaller around a point of the window, or the middle of what is seen. Beside the graph there is room, so that
     every part of it can be brought anywhere. */
  zoom(scale, at) {
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.scroller, frame = at && this.scroller.getBoundingClientRect();
    const left = at ? at.x - frame.left : clientWidth / 2, top = at ? at.y - frame.top : clientHeight / 2;
    const x = (scrollLeft + left - this.aside[0]) / this.scale, y = (scrollTop + top - this.aside[1]) / this.scale;
    this.scale = Math.min(LARGEST, Math.max(SMALLEST, scale));
    this.aside = [Math.round(clientWidth * .75), Math.round(clientHeight * .75)];
    this.canvas.style.padding = `${this.aside[1]}px ${this.aside[0]}px`;
    this.svg.setAttribute("width", this.width * this.scale);
    this.svg.setAttribute("height", this.height * this.scale);
    this.scroller.scrollTo({ left: x * this.scale + this.aside[0] - left, top: y * this.scale + this.aside[1] - top });
  }

  /* All of the graph in what is seen; with a least scale, as long as it need not be smaller. */
  fit(least = 0) {
    const { clientWidth, clientHeight } = this.scroller, scale = Math.min(1.25, (clientWidth - 16) / this.width, (clientHeight - 16) / this.height);
    if (scale < least) return;
    this.zoom(scale);
    this.scroller.scrollTo({ left: this.aside[0] + (this.width * this.scale - clientWidth) / 2, top: this.aside[1] + (this.height * this.scale - clientHeight) / 2 });
  }

  /* As large as the width allows, but legible, from the top. */
  first() {
    const { clientWidth, clientHeight } = this.scroller;
    this.zoom(Math.min(1.15, Math.max(LEGIBLE, (clientWidth - 4) / this.width)));
    this.scroller.scrollTo({ left: this.aside[0] + (this.width * this.scale - clientWidth) / 2,
      top: this.aside[1] + Math.min(0, (this.height * this.scale - clientHeight) / 2) });
  }
}

/* The kinds of folds, and the opcodes, of what is told in the boxes that read it instead of by edges. */
const QUIET = ["parameters", "constants"], QUIET_WORDS = ["parameter", "constant"];

/* An edge between two boxes, taken apart: a segment in each open fold that holds one of them, from port to port. */
function split(from, to, count) {
  const holders = cell => { const found = []; for (let node = cell.holder; node; node = node.cell?.holder) found.unshift(node); return found; };
  const sources = holders(from), targets = holders(to);
  let depth = 0;
  while (sources[depth + 1] && sources[depth + 1] === targets[depth + 1]) depth++;
  const held = (cell, row, node) => row[row.indexOf(node) + 1]?.cell || cell;
  for (const node of new Set([...sources.slice(depth), ...targets.slice(depth)])) {
    const start = sources.includes(node) ? held(from, sources, node) : port(node.tops, from, "top");
    const end = targets.includes(node) ? held(to, targets, node) : port(node.bottoms, from, "bottom");
    const key = `${from.path}>${end.path ?? ""}`, segment = node.segments.get(key);
    if (segment) { segment.count += count; segment.targets.add(to); }
    else node.segments.set(key, { from: start, to: end, source: from, targets: new Set([to]), count });
  }
}

/* Where edges of a box cross the border of an open fold. */
function port(ports, source, pin) {
  if (!ports.has(source)) ports.set(source, { w: 0, h: 0, pin });
  return ports.get(source);
}

/* A path without its folders. */
function baseName(path) { return path.replace(/^.*[/\\](?=.)/, ""); }
