/* Colours of boxes: what an operation does, findings, costs, values, shardings, differences. */

const FAMILIES = [
  ["other", null],
  ["products", /^(dot|convolution|ragged-dot|scaled-dot|triangular-solve|cholesky|fft)$/],
  ["reductions and sorts", /^(reduce|reduce-window|select-and-scatter|sort|topk|reduce-precision|map|scan)$/],
  ["data movement", /^(reshape|transpose|broadcast|bitcast|bitcast-convert|copy.*|slice|dynamic-slice|dynamic-update-slice|concatenate|pad|reverse|gather|scatter|iota|get-tuple-element|tuple|convert)$/],
  ["control and calls", /^(while|conditional|call|fusion|async-.*|custom-call|opt-barrier)$/],
  ["between devices", /^(all-.*|reduce-scatter.*|collective-.*|ragged-all.*|send.*|recv.*|partition-id|replica-id|infeed|outfeed|after-all)$/],
  ["constants and random numbers", /^(constant|rng.*)$/],
  ["parameters", /^parameter$/],
];
/* What became of an operation, or where an instruction comes from: the number of its colour, its mark, its meaning. */
const STATES = { changed: [6, "~", "changed (~), also inside of what is called"], removed: [5, "−", "removed (−)"], added: [3, "+", "added (+)"] };
const FATES = { fused: [1, "fused", "fused"], rewritten: [6, "rewritten", "other operations stand for it"], inlined: [4, "inlined", "inlined"], "not found": [5, "not found", "not found: folded, merged or superfluous"],
  fusion: [1, "fusions", "a fusion, which lists what went into it"], added: [3, "new", "new"] };
const SEVERITIES = ["error", "warning", "info"];

function family(opcode) {
  const found = FAMILIES.findIndex(([, pattern]) => pattern?.test(opcode));
  return Math.max(0, found);
}

const PREFIXES = ["", "k", "M", "G", "T", "P", "E"];

/* A number as people read it, three digits and a unit, as hlotool writes it everywhere. */
function amount(value, unit = "") {
  let scaled = value, n = 0;
  for (; scaled >= 999.5 && n + 1 < PREFIXES.length; n++) scaled /= 1000;
  const digits = scaled < 999.5 ? String(Number(scaled.toPrecision(3))) : scaled.toExponential(3);
  return `${digits} ${PREFIXES[n]}${unit}`.trimEnd();
}

/* A part of a whole in per cent, two digits. */
function share(value, whole) { return `${Number((100 * value / (whole || 1)).toPrecision(2))} %`; }

/* Each overlay: whether the module has it, the look of an instruction and of a fold, and the legend. A look is
   {kind: number of a colour, heat: 0 to 1, badge: text, badgeClass}. */
const OVERLAYS = {
  operation: {
    label: "by operation", has: () => true,
    instruction: (pane, n) => ({ kind: family(pane.module.opcodes[pane.module.opcode[n]]) }),
    fold: () => ({}),
    legend: () => FAMILIES.map(([name], n) => [`k${n}`, name]),
  },
  findings: {
    label: "by findings", has: module => module.findings !== undefined,
    instruction(pane, n) {
      const rows = pane.module.byInstruction.get(n);
      if (rows) return severityLook(worst(rows), rows.length);
      const severity = SEVERITIES.find(s => inside(pane, s, has.finding(pane, s)).has(n));
      return severity ? { ...severityLook(severity), badge: `${severity} inside` } : {};
    },
    fold(pane, f) {
      for (const severity of SEVERITIES) {
        const test = has.finding(pane, severity), count = pane.module.counted(severity, test)[f];
        if (count) return severityLook(severity, count);
        const within = countedInside(pane, severity, test, f);
        if (within) return { ...severityLook(severity), badge: `${within} with ${severity} inside` };
      }
      return {};
    },
    legend: () => [["k5", "error"], ["k6", "warning"], ["k1", "info"]],
  },
  flops: heat("by arithmetic", 2, "flops and functions, loops counted as often as they run"),
  bytes: heat("by bytes moved", 4, "bytes read and written", "B"),
  values: {
    label: "by values", has: module => module.valueLines.size > 0,
    instruction(pane, n) {
      const own = pane.module.valueLines.get(n)?.state;
      if (own && own !== "finite") return valueLook(own);
      const state = ["wrong", "nan", "infinity"].find(s => inside(pane, `value ${s}`, has.value(pane, s)).has(n));
      return state ? { ...valueLook(state), badge: `${state} inside` } : valueLook(own);
    },
    fold(pane, f) {
      for (const state of ["wrong", "nan", "infinity", "finite"]) {
        const test = has.value(pane, state), count = pane.module.counted(`value ${state}`, test)[f];
        if (count) return { ...valueLook(state), badge: state === "finite" ? "" : `${count} ${state}` };
        const within = state === "finite" ? 0 : countedInside(pane, `value ${state}`, test, f);
        if (within) return { ...valueLook(state), badge: `${within} with ${state} inside` };
      }
      return {};
    },
    legend: () => [["k5", "wrong"], ["k2", "NaN or infinite"], ["k3", "finite"], ["k0", "not known"]],
  },
  sharding: {
    label: "by sharding", has: module => module.shardings.size > 0,
    instruction(pane, n) {
      const text = pane.module.shardings.get(n);
      return text === undefined ? {} : { kind: shardingKinds(pane.module).get(text) };
    },
    fold(pane, f) {
      const count = pane.module.counted("sharding", n => pane.module.shardings.has(n))[f];
      return count ? { badge: `${count} sharded` } : {};
    },
    legend: pane => [...shardingKinds(pane.module)].filter(([, kind]) => kind).slice(0, 7).map(([text, kind]) => [`k${kind}`, cut(text, 40)]),
  },
  differences: {
    label: "by differences", has: (_, match) => Boolean(match),
    instruction(pane, n) {
      const state = pane.match?.state[pane.side].get(n), parts = pane.match?.into.get(n)?.length;
      if (state === "fusion" && pane.side) return { ...differenceLook(pane, state), badge: `from ${parts} operation${parts === 1 ? "" : "s"}` };
      if (state) return differenceLook(pane, state);
      return inside(pane, pane.matchKey, has.difference(pane)).has(n) ? { ...differenceLook(pane, pane.match.fates.size ? "fused" : "changed"), badge: pane.match.fates.size ? "" : "changed inside" } : {};
    },
    fold(pane, f) {
      const states = statesOf(pane), counts = Object.keys(states).map(state =>
        [state, pane.module.counted(`${pane.matchKey} ${state}`, n => pane.match?.state[pane.side].get(n) === state)[f]])
        .filter(([, count]) => count);
      const within = counts.length ? 0 : countedInside(pane, pane.matchKey, has.difference(pane), f);
      if (within) return { ...differenceLook(pane, "changed"), badge: `${within} changed inside` };
      const text = ([state, count]) => pane.match.fates.size ? `${count} ${states[state][1]}` : `${states[state][1]}${count}`;
      return counts.length ? { ...differenceLook(pane, counts[0][0]), badge: counts.map(text).join(pane.match.fates.size ? ", " : " ") } : {};
    },
    legend: pane => Object.values(statesOf(pane)).map(([kind, , meaning]) => [`k${kind}`, meaning]),
  },
};

/* Tests of instructions: whether the worst finding, the value or a difference is there. */
const has = {
  finding: (pane, severity) => n => worst(pane.module.byInstruction.get(n) || []) === severity,
  value: (pane, state) => n => pane.module.valueLines.get(n)?.state === state,
  difference: pane => n => Boolean(pane.match?.state[pane.side].has(n)),
};

/* The instructions that call something in which a test holds, and how many of them a fold holds. */
function inside(pane, name, test) { return pane.module.holders(name, test); }
function countedInside(pane, name, test, f) {
  const found = inside(pane, name, test);
  return pane.module.counted(`${name} inside`, n => found.has(n))[f];
}

function worst(rows) { return SEVERITIES.find(s => rows.some(row => row[1] === s)); }
function severityLook(severity, count) {
  return { kind: { error: 5, warning: 6, info: 1 }[severity], badge: `${count} ${severity}`, badgeClass: severity };
}
function valueLook(state) { return state ? { kind: { wrong: 5, nan: 2, infinity: 2, finite: 3 }[state], badge: state === "finite" ? "" : state } : {}; }
function statesOf(pane) { return pane.match?.fates.size ? FATES : STATES; }
function differenceLook(pane, state) {
  const [kind, word] = statesOf(pane)[state] || STATES.changed;
  return { kind, badge: pane.match.fates.size ? word : state };
}

function heat(label, index, meaning, unit) {
  const look = (value, whole) => value ? { heat: Math.sqrt(value / (whole || 1)), badge: `${amount(value, unit)} (${share(value, whole)})` } : {};
  return {
    label, has: module => module.costs.length > 0,
    instruction: (pane, n) => { const c = pane.module.column(index); return look(c.own[n], c.whole); },
    fold: (pane, f) => { const c = pane.module.column(index); return look(c.ofFold[f], c.whole); },
    legend: () => [["hot", `${meaning}: more is darker`]],
  };
}

/* The overlays of a page: those above, and one for each column of data that it was given. */
function overlaysOf(modules) {
  const headings = new Set(modules.flatMap(module => [...module.data.keys()]));
  return { ...OVERLAYS, ...Object.fromEntries([...headings].map(heading => [`data ${heading}`, dataOverlay(heading)])) };
}

function dataOverlay(heading) {
  const name = `data ${heading}`, column = pane => pane.module.data.get(heading) || { rows: new Map(), isNumber: true };
  const number = value => String(Number(value.toPrecision(4)));
  const look = (pane, value, count) => ({ heat: Math.sqrt(Math.abs(value) / (column(pane).largest || 1)), badge: count > 1 ? `${number(value)} in ${count}` : number(value) });
  return {
    label: `by ${heading}`, has: module => module.data.has(heading),
    instruction(pane, n) {
      const { rows, isNumber, kinds } = column(pane), value = rows.get(n);
      if (value === undefined) return inside(pane, name, at => rows.has(at)).has(n) ? { badge: "known inside" } : {};
      return isNumber ? look(pane, value, 1) : { kind: kinds.get(value), badge: value };
    },
    fold(pane, f) {
      const { rows, isNumber } = column(pane), counts = pane.module.counted(name, n => rows.has(n))[f];
      return !counts ? {} : isNumber ? look(pane, pane.module.summed(name, rows)[f], counts) : { badge: `${counts} known` };
    },
    legend(pane) {
      const { isNumber, kinds } = column(pane);
      return isNumber ? [["hot", `${heading}: more is darker; folds have the sum`]] : [...kinds].filter(([, kind]) => kind).map(([text, kind]) => [`k${kind}`, cut(text, 40)]);
    },
  };
}

function shardingKinds(module) {
  if (!module.shardingKinds) {
    module.shardingKinds = kindsOf(module.shardings.values());
  }
  return module.shardingKinds;
}

/* The numbers of colours of words, the most frequent first; those for which there is none share one. */
function kindsOf(words) {
  const counts = new Map();
  for (const word of words) counts.set(word, (counts.get(word) || 0) + 1);
  return new Map([...counts].sort((a, b) => b[1] - a[1]).map(([word], n) => [word, n < 7 ? n + 1 : 0]));
}

/* A list of words between commas as rows of at most so many characters, as far as its words allow. */
function rowsOf(text, most) {
  const rows = [];
  for (const word of text ? text.split(", ") : []) {
    const row = rows.length ? `${rows[rows.length - 1]}, ${word}` : word;
    if (!rows.length || row.length > most) rows.push(word);
    else rows[rows.length - 1] = row;
  }
  return rows;
}

function cut(text, most) {
  const room = most - 1, front = Math.ceil(room * .6);
  return text.length <= most ? text : `${text.slice(0, front)}…${text.slice(text.length - (room - front))}`;
}
