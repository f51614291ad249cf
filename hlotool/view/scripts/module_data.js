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

/* words of a search: what is between slashes is one, blanks included */
const TERMS = /(?:\w+:)?\/(?:[^/\\]|\\.)+\/(?=\s|$)|\S+/g;
/* braces of metadata nest no deeper */
const METADATA = /,?\s*metadata=\{(?:[^{}"]|"(?:[^"\\]|\\.)*"|\{[^{}]*\})*\}/;
const MOST_STATEMENT_LINES = 40, MOST_CONSTANT = 12;

/* Characters that nobody sees, or that turn the order in which text is read: what escaping.py writes out. */
const UNSEEN = /[\0-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\u{e0000}-\u{e007f}]/gu;
function shown(text) {
  return text.replace(UNSEEN, c => c === "\t" ? c : c.codePointAt(0) < 0x100 ? `\\x${c.codePointAt(0).toString(16).padStart(2, "0")}` : `\\u${c.codePointAt(0).toString(16).padStart(4, "0")}`);
}

/* A record with all its texts as they are shown. */
function seen(value) {
  if (typeof value === "string") return shown(value);
  if (Array.isArray(value)) return typeof value[0] === "number" && typeof value.at(-1) === "number" ? value : value.map(seen);
  return value && typeof value === "object" ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, seen(inner)])) : value;
}

/* Pairs as a map from the first to all the second. */
function grouped(pairs) {
  const found = new Map();
  for (const [key, value] of pairs) if (found.has(key)) found.get(key).push(value); else found.set(key, [value]);
  return found;
}

/* The number of steps to each thing that links lead to, the nearest first. */
function distances(starts, links, most = Infinity) {
  const found = new Map(starts.map(n => [n, 0])), waiting = [...starts];
  for (let k = 0; k < waiting.length; k++) {
    const steps = found.get(waiting[k]) + 1;
    if (steps <= most) for (const other of links(waiting[k])) if (!found.has(other)) { found.set(other, steps); waiting.push(other); }
  }
  return found;
}

class Module {
  static #known = new Map();

  /* The module of that number in the page, read when it is first asked for. */
  static async number(n) {
    if (!Module.#known.has(n)) Module.#known.set(n, unpacked(`module-${n}`).then(text => new Module(n, JSON.parse(text))));
    return Module.#known.get(n);
  }

  constructor(number, record) {
    const { operands, arity, line, calls, costs, sharding, values, columns, passed, returned, ...plain } = seen(record);
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
    this.data = new Map((columns || []).map(([heading, isNumber, rows]) => [heading, { isNumber, rows: new Map(rows), kinds: isNumber ? null : kindsOf(rows.map(row => row[1])),
      largest: isNumber ? rows.reduce((most, row) => Math.max(most, Math.abs(row[1])), 0) : 0 }]));
    this.costOf = new Map(costs.map(row => [row[0], row]));
    this.passedFrom = grouped(passed.map(([source, parameter]) => [parameter, source]));
    this.passedTo = grouped(passed);
    this.returnedTo = grouped(returned);
    this.returnedFrom = grouped(returned.map(([root, caller]) => [caller, root]));
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

  /* What an instruction reads, for a parameter what callers pass; and what reads it, for a root the callers. */
  above(n) { return [...this.operands(n), ...this.passedFrom.get(n) || []]; }
  below(n) { return [...this.users(n), ...this.returnedTo.get(n) || []]; }

  /* What is at most `hops` steps from an instruction, as neighbourhood.py has it: a part to show. */
  around(n, hops, most) {
    const near = [...distances([n], at => [...this.above(at), ...this.below(at)], hops).keys()];
    const found = near.filter(at => at === n || this.opcodes[this.opcode[at]] !== "constant");
    return this.partOf(found, [n], `${this.names[n]} and what is within ${hops} step${hops === 1 ? "" : "s"} of it`, most);
  }

  /* The ways from one instruction to another, the shortest first; null where none leads there. */
  between(start, end, most) {
    const allowed = this.leadingTo([start, end]), isAllowed = n => allowed.has(this.computationOf(n));
    const down = n => [...this.below(n), ...this.passedTo.get(n) || []].filter(isAllowed);
    const up = n => [...this.above(n), ...this.returnedFrom.get(n) || []].filter(isAllowed);
    const ahead = distances([start], down), behind = distances([end], up), steps = ahead.get(end);
    if (steps === undefined) return null;
    const length = n => ahead.get(n) + behind.get(n), found = [...ahead.keys()].filter(n => behind.has(n)).sort((a, b) => length(a) - length(b) || ahead.get(a) - ahead.get(b));
    return this.partOf(found, [start, end], `From ${this.names[start]} to ${this.names[end]}, ${steps} step${steps === 1 ? "" : "s"} by the shortest way`, most);
  }

  partOf(found, ends, title, most) {
    const numbers = [...new Set([...found.slice(0, Math.max(most, ends.length)), ...ends])].sort((a, b) => a - b);
    return { numbers, ends, title, rest: numbers.length < found.length ? `${numbers.length} of ${found.length.toLocaleString("en")} instructions are shown` : "" };
  }

  /* The computations of instructions and all that lead to them by calls; one alone where it holds all. */
  leadingTo(ends) {
    const found = new Set(ends.map(n => this.computationOf(n))), waiting = found.size > 1 ? [...found] : [], callers = new Map();
    for (const [n, called] of this.called) for (const c of called) callers.set(c, [...callers.get(c) || [], this.computationOf(n)]);
    while (waiting.length) for (const c of callers.get(waiting.pop()) || []) if (!found.has(c)) { found.add(c); waiting.push(c); }
    return found;
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

  /* The sum over the instructions of each fold. */
  summed(name, rows) {
    const key = `sum ${name}`;
    if (!this.columns.has(key)) {
      const found = new Float64Array(this.folds.length);
      for (const [n, value] of rows) found[this.fold[n]] += value;
      for (let f = this.folds.length - 1; f >= 0; f--) if (this.parents[f] >= 0) found[this.parents[f]] += found[f];
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

  /* The text of an instruction, split at its operands: [what is between the parentheses, the attributes behind them]. */
  statement(n) {
    if (!this.textRows) return ["", ""];
    const opcode = `${this.opcodes[this.opcode[n]]}(`, at = this.lines[n] - this.first;
    let text = this.textRows[at] || "", start = text.indexOf(this.names[n]);
    if (n + 1 < this.count && this.lines[n + 1] === this.lines[n]) text = text.slice(0, text.indexOf(this.names[n + 1], start + this.names[n].length + 1));
    else for (let k = at + 1, end = Math.min(at + MOST_STATEMENT_LINES, n + 1 < this.count ? this.lines[n + 1] - this.first : at + 1); k < end; k++) text += ` ${this.textRows[k].trim()}`;
    start = text.indexOf(opcode, Math.max(0, start)) + opcode.length;
    let depth = 1, end = start;
    for (; end < text.length && depth; end++) depth += text[end] === "(" ? 1 : text[end] === ")" ? -1 : 0;
    return [text.slice(start, end - 1), text.slice(end)];
  }

  /* The value of a constant where it is short; else nothing. */
  constantText(n) {
    if (this.opcodes[this.opcode[n]] !== "constant") return "";
    const [text] = this.statement(n);
    return text.length <= MOST_CONSTANT ? text : "";
  }

  /* Instructions that hold all words of a search, those of the name first: their numbers. A word may be a regular
     expression between slashes, and may name the field where it is searched. Throws SyntaxError. */
  search(text) {
    const terms = [...text.matchAll(TERMS)].map(found => this.term(found[0]));
    if (!terms.length) return [];
    const first = terms[0].plain, exact = [], begins = [], others = [];
    for (let n = 0; n < this.count; n++) {
      if (!terms.every(term => term.test(n))) continue;
      const name = this.names[n];
      (name === first ? exact : first && name.startsWith(first) ? begins : others).push(n);
    }
    return [...exact, ...begins, ...others];
  }

  /* A word of a search: a test of instructions. Texts that repeat are searched once. */
  term(word) {
    const [, field = "", rest] = word.match(/^(?:(name|op|shape|scope|file|attr):)?(.*)$/s), isPattern = rest.length > 2 && rest.startsWith("/") && rest.endsWith("/");
    const pattern = isPattern && new RegExp(rest.slice(1, -1), "i"), small = rest.toLowerCase(), { smallNames, attributes } = this.prepared();
    const test = isPattern ? value => pattern.test(value) : value => value.toLowerCase().includes(small);
    const tables = { op: [this.opcodes, this.opcode], shape: [this.shapes, this.shape], scope: [this.scopes, this.scope], file: [this.sources, this.source], attr: attributes };
    const columns = Object.entries(tables).filter(([name]) => !field || field === name).map(([, [values, column]]) => [values.map(test), column]).filter(([hits]) => hits.includes(true));
    const named = field && field !== "name" ? () => false : isPattern ? n => test(this.names[n]) : n => smallNames[n].includes(small);
    return { plain: field || isPattern ? "" : rest, test: n => named(n) || columns.some(([hits, column]) => hits[column[n]]) };
  }

  /* What a search needs, made once: names in small letters, attributes as a table (metadata are scope and file). */
  prepared() {
    if (!this.searched) {
      const numbers = new Map(), column = new Int32Array(this.count);
      for (let n = 0; n < this.count; n++) {
        const text = this.attributes(n).replace(METADATA, "");
        if (!numbers.has(text)) numbers.set(text, numbers.size);
        column[n] = numbers.get(text);
      }
      this.searched = { smallNames: this.names.map(name => name.toLowerCase()), attributes: [[...numbers.keys()], column] };
    }
    return this.searched;
  }

  /* The attributes of an instruction as text; of a constant its value too. */
  attributes(n) {
    const [inside, behind] = this.statement(n);
    return this.starts[n] === this.starts[n + 1] ? `${inside} ${behind}` : behind;
  }

  /* The number of an instruction by its name, by COMPUTATION/NAME, or of the root of a computation of that name. */
  byName(given) {
    const name = shown(given);
    this.numbers ??= new Map(this.names.map((found, n) => [found, n]).reverse());
    const at = name.indexOf("/"), computation = at < 0 ? undefined : this.computations.find(row => row[0] === name.slice(0, at));
    if (computation) {
      const [, , first, length] = computation, found = this.names.indexOf(name.slice(at + 1), first);
      if (found >= 0 && found < first + length) return found;
    }
    return this.numbers.get(name) ?? this.computations.find(row => row[0] === name)?.[4];
  }

  /* The name of an instruction in an address: with its computation where another has the same. */
  address(n) { return this.byName(this.names[n]) === n ? this.names[n] : `${this.computations[this.computationOf(n)][0]}/${this.names[n]}`; }

  async textLines() {
    this.text ??= unpacked(`text-${this.number}`).then(text => this.textRows = text.split("\n").map(shown));
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
    // Of a program and its optimised form: what became of each operation, and what went into each fusion.
    this.fates = new Map((record.fates || []).map(([n, fate, others]) => [n, { fate, others }]));
    this.into = new Map(record.into || []);
    for (const [n, { fate }] of this.fates) if (fate !== "kept") this.state[0].set(n, fate);
    for (const [n, parts] of this.into) {
      this.state[1].set(n, "fusion");
      if (!this.partners[1].has(n)) this.partners[1].set(n, parts.at(-1));
    }
    this.parts = [new Map(), new Map()];
    for (const [left, right, parts] of record.changed) {
      this.state[0].set(left, "changed"); this.state[1].set(right, "changed");
      this.parts[0].set(left, parts); this.parts[1].set(right, parts);
    }
  }
}
