"use strict";
/* The module as the page holds it: columns by number of instruction, the tree of folds, what is laid over them. */

const byId = id => document.getElementById(id);

/* The text of a block that is base64 of gzip; the block is emptied, for nobody reads it twice. */
async function unpacked(id) {
  const block = byId(id), packed = atob(block.textContent.trim()), bytes = new Uint8Array(packed.length);
  for (let n = 0; n < packed.length; n++) bytes[n] = packed.charCodeAt(n);
  block.textContent = "";
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

class Module {
  static #known = new Map();

  /* The module of that number in the page, read when it is first asked for. */
  static async number(n) {
    if (!Module.#known.has(n)) Module.#known.set(n, unpacked(`module-${n}`).then(text => new Module(n, JSON.parse(text))));
    return Module.#known.get(n);
  }

  constructor(number, record) {
    const { operands, arity, line, calls, costs, sharding, values, ...plain } = record;
    Object.assign(this, plain, { costs });
    this.number = number;
    this.count = record.names.length;
    this.starts = new Int32Array(this.count + 1);
    for (let n = 0; n < this.count; n++) this.starts[n + 1] = this.starts[n] + arity[n];
    this.operandList = new Int32Array(operands.length);
    for (let n = 0; n < this.count; n++)
      for (let k = this.starts[n]; k < this.starts[n + 1]; k++) this.operandList[k] = n - operands[k];
    let at = 0;
    this.lines = Int32Array.from(line, step => at += step);
    this.called = new Map(calls.map(([n, ...found]) => [n, found]));
    this.makeFolds();
    this.shardings = new Map(sharding);
    this.byInstruction = new Map();
    for (const finding of record.findings || [])
      if (finding[0] >= 0) this.byInstruction.set(finding[0], [...(this.byInstruction.get(finding[0]) || []), finding]);
    this.valueLines = new Map((values || []).map(([n, state, lines]) => [n, { state, lines }]));
    this.costOf = new Map(costs.map(row => [row[0], row]));
    this.levels = new Map();
    this.columns = new Map();
  }

  makeFolds() {
    const folds = this.folds.length;
    this.parents = Int32Array.from(this.folds, fold => fold[2]);
    this.foldCount = new Int32Array(folds);
    this.firstOf = new Int32Array(folds).fill(this.count);
    this.children = Array.from({ length: folds }, () => []);
    for (let n = 0; n < this.count; n++) {
      this.foldCount[this.fold[n]]++;
      this.firstOf[this.fold[n]] = Math.min(this.firstOf[this.fold[n]], n);
      this.children[this.fold[n]].push({ at: n, instruction: n });
    }
    // Folds stand behind those that hold them.
    for (let f = folds - 1; f >= 0; f--) if (this.parents[f] >= 0) {
      this.foldCount[this.parents[f]] += this.foldCount[f];
      this.firstOf[this.parents[f]] = Math.min(this.firstOf[this.parents[f]], this.firstOf[f]);
      this.children[this.parents[f]].push({ at: this.firstOf[f], fold: f });
    }
    for (const row of this.children) row.sort((a, b) => a.at - b.at);
  }

  operands(n) { return this.operandList.subarray(this.starts[n], this.starts[n + 1]); }

  users(n) {
    if (!this.userRows) {
      this.userRows = new Map();
      for (let i = 0; i < this.count; i++) for (const o of new Set(this.operands(i))) {
        if (!this.userRows.has(o)) this.userRows.set(o, []);
        this.userRows.get(o).push(i);
      }
    }
    return this.userRows.get(n) || [];
  }

  /* The computation of an instruction: that of the outermost fold. */
  computationOf(n) { return this.chain(n)[0]; }

  /* The folds that hold an instruction, outermost first; the first is its computation's. */
  chain(n) { return this.foldChain(this.fold[n]); }

  foldChain(fold) {
    const found = [];
    for (let f = fold; f >= 0; f = this.parents[f]) found.push(f);
    return found.reverse();
  }

  /* The first instruction that calls each computation. */
  callers() {
    if (!this.callerOf) {
      this.callerOf = new Map();
      this.callCounts = new Map();
      for (const [n, called] of this.called) for (const c of called) {
        if (!this.callerOf.has(c)) this.callerOf.set(c, n);
        this.callCounts.set(c, (this.callCounts.get(c) || 0) + 1);
      }
    }
    return this.callerOf;
  }

  /* The instructions inside of a fold. */
  inside(fold) {
    const found = [], stack = [fold];
    while (stack.length) for (const item of this.children[stack.pop()]) {
      if (item.fold === undefined) found.push(item.instruction); else stack.push(item.fold);
    }
    return found;
  }

  /* Edges between the children of a fold: [from, to, how many]; and of each child how many operands are elsewhere. */
  level(fold) {
    if (this.levels.has(fold)) return this.levels.get(fold);
    const items = this.children[fold], place = this.places ??= new Int32Array(this.count).fill(-1), members = [];
    items.forEach((item, k) => {
      const own = item.fold === undefined ? [item.instruction] : this.inside(item.fold);
      for (const n of own) { place[n] = k; members.push(n); }
    });
    const counts = new Map(), outside = new Int32Array(items.length);
    for (const n of members) for (const o of this.operands(n)) {
      if (place[o] < 0) outside[place[n]]++;
      else if (place[o] !== place[n]) {
        const key = place[o] * items.length + place[n];
        counts.set(key, (counts.get(key) || 0) + 1);
      }
    }
    for (const n of members) place[n] = -1;
    const edges = [...counts].map(([key, count]) => [Math.floor(key / items.length), key % items.length, count]);
    const made = { items, edges, outside };
    this.levels.set(fold, made);
    return made;
  }

  /* What a number is for an instruction, what it runs included. Callers of one computation share its sum. */
  column(index) {
    if (this.columns.has(index)) return this.columns.get(index);
    const own = new Float64Array(this.count), ofFold = new Float64Array(this.folds.length), sums = new Map();
    for (const [n, row] of this.costOf) own[n] = index === 4 ? row[4] + row[5] : row[2] + row[3];
    const runs = new Set(["call", "while", "conditional", "async-start"]);
    this.callers();
    const sum = start => {
      const stack = [[start, false]], open = new Set();
      while (stack.length) {
        const [c, isReady] = stack.pop(), [, , first, length] = this.computations[c];
        if (sums.has(c)) continue;
        const called = [];
        for (let n = first; n < first + length; n++)
          if (this.called.has(n) && runs.has(this.opcodes[this.opcode[n]])) called.push([n, this.called.get(n)]);
        if (!isReady && !open.has(c)) {
          open.add(c);
          stack.push([c, true], ...called.flatMap(([, found]) => found).filter(d => !sums.has(d) && !open.has(d)).map(d => [d, false]));
          continue;
        }
        for (const [n, found] of called) for (const d of found) own[n] += (sums.get(d) || 0) / this.callCounts.get(d);
        let total = 0;
        for (let n = first; n < first + length; n++) total += own[n];
        sums.set(c, total);
      }
    };
    this.computations.forEach((_, c) => sum(c));
    for (let n = 0; n < this.count; n++) ofFold[this.fold[n]] += own[n];
    for (let f = this.folds.length - 1; f >= 0; f--) if (this.parents[f] >= 0) ofFold[this.parents[f]] += ofFold[f];
    const made = { own, ofFold, whole: ofFold[this.entry] };
    this.columns.set(index, made);
    return made;
  }

  /* The instructions that call a computation in which a test holds for an instruction, also through others. */
  holders(name, test) {
    const key = `holders ${name}`;
    if (!this.columns.has(key)) {
      const callers = new Map(), found = new Set(), seen = new Set(), waiting = [];
      for (const [n, called] of this.called) for (const c of called) {
        if (!callers.has(c)) callers.set(c, []);
        callers.get(c).push(n);
      }
      this.computations.forEach(([, , first, length], c) => {
        for (let n = first; n < first + length; n++) if (test(n)) { waiting.push(c); break; }
      });
      while (waiting.length) {
        const c = waiting.pop();
        if (seen.has(c)) continue;
        seen.add(c);
        for (const n of callers.get(c) || []) { found.add(n); waiting.push(this.computationOf(n)); }
      }
      this.columns.set(key, found);
    }
    return this.columns.get(key);
  }

  /* How many instructions of each fold have a property, by a test of the instruction. */
  counted(name, test) {
    const key = `count ${name}`;
    if (!this.columns.has(key)) {
      const found = new Int32Array(this.folds.length);
      for (let n = 0; n < this.count; n++) if (test(n)) found[this.fold[n]]++;
      for (let f = this.folds.length - 1; f >= 0; f--) if (this.parents[f] >= 0) found[this.parents[f]] += found[f];
      this.columns.set(key, found);
    }
    return this.columns.get(key);
  }

  /* What is searched, made once: names, opcodes and scopes in small letters. */
  makeHaystack() {
    if (this.haystack) return;
    const small = text => text.toLowerCase(), opcodes = this.opcodes.map(small), scopes = this.scopes.map(small);
    this.haystack = this.names.map((name, n) => `${name.toLowerCase()} ${opcodes[this.opcode[n]]} ${scopes[this.scope[n]]}`);
  }

  /* Instructions that hold all words, names that begin with the first in front. */
  search(text, most) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return { hits: [], total: 0 };
    this.makeHaystack();
    const exact = [], begins = [], others = [];
    let total = 0;
    for (let n = 0; n < this.count; n++) {
      const hay = this.haystack[n];
      if (!words.every(word => hay.includes(word))) continue;
      total++;
      const row = hay.startsWith(`${words[0]} `) ? exact : hay.startsWith(words[0]) ? begins : others;
      if (row.length < most) row.push(n);
    }
    return { hits: [...exact, ...begins, ...others].slice(0, most), total };
  }

  byName(name) {
    this.numbers ??= new Map(this.names.map((found, n) => [found, n]).reverse());
    return this.numbers.get(name);
  }

  async textLines() {
    this.text ??= unpacked(`text-${this.number}`).then(text => text.split("\n"));
    return this.text;
  }

  /* The instruction that a line belongs to: the last that begins there or before. */
  atLine(line) {
    let low = 0, high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.lines[middle] <= line) low = middle + 1; else high = middle;
    }
    return low - 1;
  }
}

/* Which instructions of two modules are pairs, and what differs. */
class Match {
  constructor(record) {
    Object.assign(this, record);
    this.partners = [new Map(), new Map()];
    this.state = [new Map(), new Map()];
    record.partner.forEach((step, n) => {
      if (step === -1) return;
      const other = step >= 0 ? n + step : n + step + 1;
      this.partners[0].set(n, other);
      if (!this.partners[1].has(other)) this.partners[1].set(other, n);
    });
    for (const n of record.removed) this.state[0].set(n, "removed");
    for (const n of record.added) this.state[1].set(n, "added");
    this.parts = [new Map(), new Map()];
    for (const [left, right, parts] of record.changed) {
      this.state[0].set(left, "changed"); this.state[1].set(right, "changed");
      this.parts[0].set(left, parts); this.parts[1].set(right, parts);
    }
  }
}
