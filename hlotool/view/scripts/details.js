/* Beside the graph: an overview of the module, or all that is known of an instruction. */

const MOST_ROWS = 60, MOST_ATTRIBUTES = 1000;

function element(tag, text, className) {
  const found = document.createElement(tag);
  if (text !== undefined) found.textContent = text;
  if (className) found.className = className;
  return found;
}

class Details {
  constructor(app) { this.app = app; }

  /* A button that leads to an instruction. */
  jump(pane, n, label) {
    const button = element("button", label ?? pane.module.names[n], "jump");
    button.addEventListener("click", () => this.app.choose(pane, n));
    return button;
  }

  /* A heading and a list of things, made rows by `made`; the last row lists more of them. */
  list(heading, things, made = row => row) {
    if (!things.length) return [];
    const list = element("ul");
    const more = from => {
      for (const thing of things.slice(from, from + MOST_ROWS)) {
        const item = element("li");
        item.append(...[made(thing)].flat());
        list.append(item);
      }
      const left = things.length - from - MOST_ROWS;
      if (left <= 0) return;
      const item = element("li"), button = element("button", `${left.toLocaleString("en")} more`, "jump");
      button.addEventListener("click", () => { item.remove(); more(from + MOST_ROWS); list.children[from + MOST_ROWS]?.querySelector("button")?.focus(); });
      item.append(button);
      list.append(item);
    };
    more(0);
    return [element("h3", heading), list];
  }

  facts(pairs) {
    const list = element("dl");
    for (const [name, value] of pairs) if (value !== "" && value !== undefined) {
      const cell = element("dd");
      cell.append(...[value].flat());
      list.append(element("dt", name), cell);
    }
    return list;
  }

  fill(heading, parts) {
    byId("details-heading").textContent = heading;
    byId("facts").replaceChildren(...parts);
    byId("details").scrollTop = 0;
  }

  overview(panes) {
    const pane = panes.at(-1), m = pane.module, parts = [];
    const whole = m.column(2).whole, bytes = m.column(4).whole;
    parts.push(this.facts([["module", m.module], ["instructions", m.count.toLocaleString("en")], ["computations", m.computations.length.toLocaleString("en")],
      ["arithmetic", `${amount(whole)} flops and functions`], ["bytes moved", amount(bytes, "B")]]));
    if (pane.match) parts.push(...this.changes(panes));
    const findings = (m.findings || []).toSorted((a, b) => SEVERITIES.indexOf(a[1]) - SEVERITIES.indexOf(b[1]));
    parts.push(...this.list(`Findings (${findings.length})`, findings, f => this.finding(pane, f)));
    // Beside two modules the values are those of the first.
    const named = panes.flatMap(p => [...p.module.valueLines].filter(([, v]) => v.state !== "finite").map(([n, v]) => [p, n, v]));
    parts.push(...this.list("Values that are not finite, or wrong", named, ([p, n, v]) => [this.jump(p, n), ` ${v.lines[0]}`]));
    for (const p of panes) for (const [heading, { rows, isNumber }] of p.module.data) if (isNumber) {
      const largest = [...rows].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, 10);
      parts.push(...this.list(`Largest by ${heading}`, largest, ([n, value]) => [this.jump(p, n), ` ${value}`]));
    }
    const dearest = m.costs.toSorted((a, b) => b[2] + b[3] - a[2] - a[3]).slice(0, 10).filter(row => row[2] + row[3]);
    parts.push(...this.list("Most arithmetic", dearest.map(row => [this.jump(pane, row[0]),
      ` ${amount(row[2] + row[3])}${row[1] > 1 ? ` in ${row[1]} runs` : ""} (${share(row[2] + row[3], whole)})`])));
    const reached = new Set([m.entry, ...m.callers().keys()]);
    const loose = m.computations.map((row, c) => [row, c]).filter(([, c]) => !reached.has(c));
    parts.push(...this.list("Computations that nothing calls", loose, ([row]) => this.jump(pane, row[4], row[0])));
    parts.push(element("p", "Click a box to open or close it; Enter and the arrow keys do the same. A drag moves the graph, the wheel makes it larger or smaller. / searches: words, shape:f32[8], op:dot, scope:, file:, attr:, name:, /regular expression/.", "quiet"));
    this.fill("Overview", parts);
  }

  changes(panes) {
    const match = panes[0].match, [left, right] = panes, parts = [element("p", match.summary)];
    parts.push(...this.list("Header", match.header.map(([name, a, b]) => `${name}: ${a || "absent"} → ${b || "absent"}`)));
    const rows = [...match.changed.map(([n, , p]) => [left, n, ` ~ ${p.map(([name]) => name).join(", ")}`]),
      ...match.removed.map(n => [left, n, " removed"]), ...match.added.map(n => [right, n, " added"])];
    if (match.fates.size) {
      const shown = [...match.fates].filter(([, { fate }]) => fate === "rewritten" || fate === "not found");
      parts.push(...this.list(`Rewritten or not found (${shown.length})`, shown, ([n, { fate }]) => [this.jump(left, n), ` ${fate}`]));
      parts.push(...this.list(`Fusions (${match.into.size})`, [...match.into], ([n, into]) => [this.jump(right, n), ` from ${into.length} operation${into.length === 1 ? "" : "s"}`]));
      parts.push(...this.list(`New (${match.added.length})`, match.added, n => this.jump(right, n)));
      return parts;
    }
    parts.push(...this.list(`Differences (${rows.length})`, rows, ([pane, n, text]) => [this.jump(pane, n), text]));
    return parts;
  }

  finding(pane, [n, severity, code, message, line, link]) {
    const name = element("b", `${code} `, severity), parts = [name];
    if (link) {
      const a = element("a", code);
      a.href = link;
      name.replaceChildren(a, " ");
    }
    parts.push(`${message} `);
    if (n >= 0) parts.push(this.jump(pane, n, `line ${line}`));
    return parts;
  }

  /* An operation of the optimised form, and the fusion that holds it. */
  stand(pane, n) {
    const caller = pane.module.callers().get(pane.module.computationOf(n));
    return ["as ", this.jump(pane, n), ...(caller === undefined ? [] : [" in ", this.jump(pane, caller)])];
  }

  instruction(pane, n) {
    const m = pane.module, cost = m.costOf.get(n), line = m.lines[n];
    const computation = m.computations[m.computationOf(n)], caller = m.callers().get(m.computationOf(n));
    const called = (m.called.get(n) || []).map(c => this.jump(pane, m.computations[c][4], m.computations[c][0]));
    const between = called.flatMap((button, k) => k ? [", ", button] : [button]);
    const parts = [this.facts([["operation", m.opcodes[m.opcode[n]]], ["shape", m.shapes[m.shape[n]]], ["scope", m.scopes[m.scope[n]]],
      ["source", m.sources[m.source[n]]], ["computation", caller === undefined ? computation[0] : [`${computation[0]}, called by `, this.jump(pane, caller)]],
      ["calls", called.length ? between : ""], ["attributes", m.attributes(n).replace(/^[\s,]+/, "").slice(0, MOST_ATTRIBUTES)], ["line", String(line)], ["sharding", m.shardings.get(n)], ...[...m.data].map(([heading, { rows }]) => [heading, rows.has(n) ? String(rows.get(n)) : ""]),
      ["cost", cost ? `${amount(cost[2])} flops, ${amount(cost[3])} functions, ${amount(cost[4], "B")} read, ${amount(cost[5], "B")} written${cost[1] !== 1 ? `, in ${cost[1].toLocaleString("en")} runs` : ""}` : ""]])];
    const state = pane.match?.state[pane.side].get(n), partner = pane.match?.partners[pane.side].get(n);
    if (pane.match) {
      const other = this.app.panes[1 - pane.side];
      const fate = pane.side ? undefined : pane.match.fates.get(n), into = pane.side ? pane.match.into.get(n) : undefined;
      if (fate) parts.push(...this.list(`${fate.fate[0].toUpperCase()}${fate.fate.slice(1)}`, fate.others.length ? fate.others : [null], k => k === null ? FATES[fate.fate][2] : this.stand(other, k)));
      else if (into) parts.push(...this.list(`What went into it (${into.length})`, into, k => [this.jump(other, k), ` ${other.module.opcodes[other.module.opcode[k]]} ${other.module.shapes[other.module.shape[k]]}`]));
      else parts.push(...this.list(state ? `Difference: ${state}` : "No difference", [
        ...(partner !== undefined ? [["stands for ", this.jump(other, partner)]] : []),
        ...(pane.match.parts[pane.side].get(n) || []).map(([name, a, b]) => `${name}: ${a || "absent"} → ${b || "absent"}`)]));
    }
    parts.push(...this.list("Findings", m.byInstruction.get(n) || [], f => this.finding(pane, f)));
    parts.push(...this.list("Values", m.valueLines.get(n)?.lines || []));
    const near = element("p", undefined, "buttons"), button = (label, act) => { const b = element("button", label); b.addEventListener("click", act); near.append(b); };
    for (const hops of [1, 2, 3]) button(`${hops} step${hops === 1 ? "" : "s"}`, () => this.app.showNear(pane, n, hops));
    button("Way to …", () => this.app.beginWay(pane, n));
    near.prepend("Near it: ");
    parts.push(near);
    const rows = this.app.report?.rowsOf(m, n) || [];
    if (rows.length) { const line = element("p", "In the report: "); line.append(...rows); parts.push(line); }
    const row = k => [this.jump(pane, k), ` ${m.opcodes[m.opcode[k]]} ${m.shapes[m.shape[k]]}`];
    const operands = [...m.operands(n)], users = m.users(n);
    parts.push(...this.list(`Operands (${operands.length})`, operands, row));
    parts.push(...this.list(`Users (${users.length})`, users, row));
    const back = element("button", "Overview");
    back.addEventListener("click", () => this.app.choose(pane, null));
    parts.push(element("p"), back);
    this.fill(m.names[n], parts);
  }
}
