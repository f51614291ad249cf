/* The page: which modules are shown, what is chosen, search, colours, passes, and the address. */

/* hits that are listed at once */
const MOST_HITS = 100, SMALL_LETTERS = .7;

class App {
  constructor(page) {
    this.page = page;
    this.panes = [];
    this.details = new Details(this);
    this.text = new TextPane(this);
    this.colour = "operation";
    this.hits = [];
    this.report = byId("tabs") && new Report(this);
    this.listen();
  }

  async start() {
    if (this.page.chains) await this.showChains();
    else await this.showModules(this.page.modules, this.page.modules.length > 1 ? 0 : null);
    // Until a page with an address of its own is opened, it is where the command opened it.
    await this.followAddress(location.hash.length < 2 && this.page.start);
    document.documentElement.dataset.ready = "yes";
    // The first search finds its tables made.
    setTimeout(() => { for (const pane of this.panes) pane.module.prepared(); });
  }

  /* Show one module, or two with their differences (the number of the block that holds these, or null). */
  async showModules(numbers, differences) {
    const turn = this.turn = (this.turn || 0) + 1;
    const modules = await Promise.all(numbers.map(n => Module.number(n)));
    const match = differences === null ? null : await this.match(differences);
    await Promise.all(modules.map(module => module.textLines()));
    if (turn !== this.turn) return;
    while (this.panes.length > modules.length) this.panes.pop().element.remove();
    while (this.panes.length < modules.length) {
      const pane = new Pane(this.panes.length, this);
      this.panes.push(pane);
      byId("graphs").append(pane.element);
    }
    this.showColours(modules, match);
    modules.forEach((module, side) => this.panes[side].show(module, match, `match ${differences}`));
    this.panes.forEach(pane => pane.title.hidden = modules.length < 2);
    this.tellVerdict();
    this.details.overview(this.panes);
    this.showLegend();
    this.text.show(modules.at(-1));
  }

  async match(number) {
    this.matches ??= new Map();
    if (!this.matches.has(number)) this.matches.set(number, unpacked(`match-${number}`).then(text => new Match(seen(JSON.parse(text)))));
    return this.matches.get(number);
  }

  paneOf(module) { return this.panes.find(pane => pane.module === module) || this.panes[0]; }

  // What is chosen.

  choose(pane, n, { isInPlace = false, path = "", keepsText = false, address } = {}) {
    if (n === null) {
      for (const p of this.panes) { p.chosen = null; p.mark(); }
      const part = this.panes.find(p => p.part);
      part?.showPart(null);
      this.details.overview(this.panes);
      this.address("");
      return;
    }
    if (this.wayFrom) return this.endWay(pane, n);
    if (isInPlace) { pane.chosen = n; pane.chosenPath = path; pane.mark(); } else pane.reveal(n);
    const m = pane.module, end = n + 1 < m.count && m.lines[n + 1] > m.lines[n] ? m.lines[n + 1] : m.lines[n] + 1;
    const partner = pane.match?.partners[pane.side].get(n), other = this.panes[1 - pane.side];
    if (other) { if (partner !== undefined) other.reveal(partner); else { other.chosen = null; other.mark(); } }
    this.details.instruction(pane, n);
    if (keepsText) { this.text.here = [m.lines[n], end - 1]; this.text.draw(); } else this.text.at(m, m.lines[n], end);
    this.address(address ?? (pane.side ? "@" : "") + m.address(n));
    byId("said").textContent = pane.describe({ instruction: n }, {});
  }

  /* Show what is near an instruction, or the ways from it to another, instead of the whole graph. */
  showNear(pane, n, hops) {
    pane.showPart(pane.module.around(n, hops, NEAR_BOXES));
    this.choose(pane, n, { address: `${pane.side ? "@" : ""}${pane.module.address(n)}~${hops}` });
    pane.fit(SMALL_LETTERS);
  }

  showWays(pane, start, end) {
    const part = pane.module.between(start, end, NEAR_BOXES), names = pane.module.names;
    if (!part) { byId("said").textContent = byId("verdict").textContent = `No way leads from ${names[start]} to ${names[end]}; rounds of loops and further calls of a computation are not followed`; return; }
    pane.showPart(part);
    this.choose(pane, end, { address: `${pane.side ? "@" : ""}${pane.module.address(start)}>${pane.module.address(end)}` });
    pane.fit(SMALL_LETTERS);
  }

  /* The next instruction that is chosen is the other end of a way. */
  beginWay(pane, n) {
    this.wayFrom = [pane, n];
    byId("verdict").textContent = byId("said").textContent = `Choose the other end of the way from ${pane.module.names[n]}: click a box, or search. Escape: none`;
    byId("search").focus();
  }

  endWay(pane, n) {
    const [own, start] = this.wayFrom;
    this.wayFrom = null;
    this.tellVerdict();
    if (own !== pane || start === n) return this.choose(pane, n);
    // The other end may be above as well as below.
    const isBack = !pane.module.between(start, n, 2) && pane.module.between(n, start, 2);
    return isBack ? this.showWays(pane, n, start) : this.showWays(pane, start, n);
  }

  tellVerdict() { byId("verdict").textContent = this.page.verdict || this.panes[0]?.match?.summary || ""; }

  /* A fold was opened or closed: the same is done with the fold of its partners on the other side. */
  toggled(pane, fold, isOpen) {
    const other = this.panes[1 - pane.side];
    if (!other || !pane.match) return;
    const label = pane.module.folds[fold][0];
    const first = pane.module.inside(fold).find(n => pane.match.partners[pane.side].has(n));
    if (first === undefined) return;
    const partner = pane.match.partners[pane.side].get(first);
    const chain = other.module.chain(partner), at = chain.findIndex((f, k) => k && other.module.folds[f][0] === label);
    if (at < 0) return;
    const steps = other.pathTo(partner), end = steps.indexOf(`f${chain[at]}`);
    if (end < 0 || (isOpen && !other.boxes.has(steps.slice(0, end + 1).join("/")))) return;
    const focus = document.activeElement;
    other.toggle(steps.slice(0, end + 1).join("/"), isOpen);
    focus?.focus?.({ preventScroll: true });
  }

  // The address: #name, #name~2 for what is near it, #name>other for ways, and #@ in front on the right of two. Each is a
  // step of the history, so that Back goes back.

  address(name) {
    if (!/^:\w+$/.test(name)) this.lastPlace = name;
    if (name === this.own) return;
    this.own = name;
    const wanted = name ? `#${encodeURIComponent(name)}` : location.pathname + location.search;
    try { history.pushState(null, "", wanted); } catch { /* pages without an address have none to change */ }
  }

  async followAddress(given = "") {
    let name = given;
    try { name ||= decodeURIComponent(location.hash.slice(1)); } catch { return; }
    if (name === (this.own || "")) return;
    const whole = this.own = name;
    if (!/^:\w+$/.test(name)) this.lastPlace = name;
    if (this.report) name = await this.report.follow(name);
    if (name === null) return;
    if (name !== whole) { this.choose(this.panes.at(-1), this.panes.at(-1).module.byName(name) ?? null, { address: whole }); return; }
    const side = name.startsWith("@") && this.panes[1] ? 1 : 0, pane = this.panes[side];
    if (!pane) return;
    if (!name) { this.choose(pane, null); return; }
    const plain = side ? name.slice(1) : name, [, start, hops, end] = plain.match(/^(.*?)(?:~(\d+)|>(.*))?$/s);
    const n = pane.module.byName(start), other = end === undefined ? undefined : pane.module.byName(end);
    if (n === undefined || (end !== undefined && other === undefined)) byId("said").textContent = byId("verdict").textContent = `Nothing is called ${shown(n === undefined ? start : end)}`;
    else if (hops !== undefined) this.showNear(pane, n, +hops);
    else if (end !== undefined) this.showWays(pane, n, other);
    else { if (pane.part) pane.showPart(null); this.choose(pane, n); }
  }

  // Controls.

  listen() {
    const search = byId("search"), hits = byId("hits");
    search.addEventListener("input", () => this.search(search.value));
    search.addEventListener("keydown", event => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step && this.hits.length) {
        event.preventDefault();
        if (this.picked + step >= this.listed && this.listed < this.hits.length) this.moreHits();
        this.pickHit((this.picked + step + this.listed) % this.listed);
      }
      else if (event.key === "Enter" && this.hits.length) this.takeHit(Math.max(0, this.picked));
      else if (event.key === "Escape") { this.closeHits(); this.wayFrom = null; this.tellVerdict(); }
    });
    hits.addEventListener("mousedown", event => event.preventDefault());
    hits.addEventListener("click", event => {
      const row = event.target.closest("[data-hit]");
      if (row?.dataset.hit === "more") this.moreHits();
      else if (row) this.takeHit(+row.dataset.hit);
    });
    search.addEventListener("blur", () => this.closeHits());
    search.addEventListener("focus", () => { if (search.value) this.search(search.value); });
    document.addEventListener("keydown", event => {
      if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName)) { event.preventDefault(); search.focus(); search.select(); }
      if (event.key === "Escape" && document.activeElement?.tagName !== "INPUT" && this.panes[0]) { this.wayFrom = null; this.tellVerdict(); this.choose(this.panes[0], null); }
    });
    byId("colour").addEventListener("change", event => { this.colour = event.target.value; this.panes.forEach(pane => pane.draw()); this.showLegend(); });
    byId("in").addEventListener("click", () => this.panes.forEach(pane => pane.zoom(pane.scale * 1.25)));
    byId("out").addEventListener("click", () => this.panes.forEach(pane => pane.zoom(pane.scale / 1.25)));
    byId("fit").addEventListener("click", () => this.panes.forEach(pane => pane.fit()));
    byId("fold").addEventListener("click", () => this.panes.forEach(pane => { pane.showPart(null, false); pane.root = pane.module.entry; pane.open.clear(); pane.draw(); pane.first(); }));
    addEventListener("popstate", () => this.followAddress());
    addEventListener("hashchange", () => this.followAddress());
  }

  search(text) {
    let problem = "";
    this.hits = [];
    try {
      this.hits = this.panes.flatMap(pane => pane.module.search(text).map(n => [pane, n]));
    } catch (error) { problem = `This is no regular expression: ${error.message}`; }
    this.total = this.hits.length;
    this.listed = 0;
    this.picked = -1;
    byId("hits").replaceChildren();
    byId("search").setAttribute("aria-invalid", String(Boolean(problem)));
    if (problem) byId("hits").append(this.hitRow("none", problem, ""));
    this.moreHits();
    const isOpen = this.total > 0 || Boolean(problem);
    byId("hits").hidden = !isOpen;
    byId("search").setAttribute("aria-expanded", String(isOpen));
    byId("said").textContent = problem || (text ? `${this.total.toLocaleString("en")} found` : "");
    if (this.total) this.pickHit(0);
  }

  /* Lists the next hits; the last row says how many more there are, and lists them. */
  moreHits() {
    const next = this.hits.slice(this.listed, this.listed + MOST_HITS), rows = next.map(([pane, n], k) => {
      const m = pane.module;
      return this.hitRow(this.listed + k, m.names[n], ` ${m.opcodes[m.opcode[n]]} ${m.shapes[m.shape[n]]} ${m.scopes[m.scope[n]]}`);
    });
    byId("hit-more")?.remove();
    byId("hits").append(...rows);
    this.listed += next.length;
    const left = this.hits.length - this.listed;
    if (left > 0) byId("hits").append(this.hitRow("more", `${left.toLocaleString("en")} more`, " show"));
  }

  hitRow(k, name, rest) {
    const row = element("li");
    row.id = `hit-${k}`;
    row.dataset.hit = k;
    row.setAttribute("role", "option");
    row.setAttribute("aria-selected", "false");
    row.append(name, element("span", rest, "quiet"));
    return row;
  }

  pickHit(k) {
    byId(`hit-${this.picked}`)?.setAttribute("aria-selected", "false");
    this.picked = k;
    const row = byId(`hit-${k}`);
    row.setAttribute("aria-selected", "true");
    row.scrollIntoView({ block: "nearest" });
    byId("search").setAttribute("aria-activedescendant", row.id);
  }

  takeHit(k) {
    if (!this.hits[k]) return;
    const [pane, n] = this.hits[k];
    this.closeHits();
    this.choose(pane, n);
  }

  closeHits() {
    byId("hits").hidden = true;
    byId("search").setAttribute("aria-expanded", "false");
    byId("search").removeAttribute("aria-activedescendant");
  }

  showColours(modules, match) {
    this.overlays = overlaysOf(modules);
    const found = Object.entries(this.overlays).filter(([, overlay]) => modules.some(module => overlay.has(module, match)));
    const wanted = match ? "differences" : this.wasSet ? this.colour : modules.some(m => m.valueLines.size) ? "values" : found.find(([name]) => name.startsWith("data "))?.[0] || this.colour;
    this.wasSet = true;
    this.colour = found.some(([name]) => name === wanted) ? wanted : found[0][0];
    byId("colour").replaceChildren(...found.map(([name, overlay]) => {
      const option = element("option", overlay.label);
      option.value = name;
      option.selected = name === this.colour;
      return option;
    }));
  }

  showLegend() {
    byId("legend").replaceChildren(...this.overlays[this.colour].legend(this.panes.at(-1)).map(([kind, text]) => {
      const row = element("li"), mark = element("i", undefined, kind);
      mark.setAttribute("aria-hidden", "true");
      row.append(mark, text);
      return row;
    }));
  }

  // A folder: the passes of each module in order.

  showChains() {
    const bar = byId("passes");
    bar.hidden = false;
    this.chain = element("select");
    this.chain.setAttribute("aria-label", "Module");
    this.page.chains.forEach((chain, k) => { const option = element("option", chain.name); option.value = k; this.chain.append(option); });
    this.chain.hidden = this.page.chains.length < 2;
    this.line = element("ol");
    this.said = element("p");
    bar.replaceChildren(this.chain, this.line, this.said);
    this.chain.addEventListener("change", () => this.showChain(+this.chain.value));
    this.line.addEventListener("keydown", event => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const buttons = [...this.line.querySelectorAll("button")], next = step && buttons[buttons.indexOf(document.activeElement) + step];
      if (next) { next.focus(); next.click(); }
    });
    return this.showChain(0);
  }

  /* Show a pass of a module by their numbers. */
  async showPass(k, n) { return k === this.shownChain ? this.showStep(this.page.chains[k], n) : this.showChain(k, n); }

  async showChain(k, n) {
    const chain = this.page.chains[k];
    this.shownChain = k;
    this.chain.value = k;
    this.line.setAttribute("aria-label", `Passes of ${chain.name}`);
    this.line.replaceChildren(...chain.steps.map((step, n) => {
      const row = element("li"), button = element("button"), size = step.size || 0;
      button.style.height = `${Math.min(40, 6 + 5 * Math.log2(1 + size))}px`;
      button.className = step.problem ? "broken" : step.left ? "left" : size ? "changed" : "";
      button.setAttribute("aria-label", `${n}: ${step.label}: ${step.said}`);
      button.title = `${step.label}: ${step.said}`;
      button.addEventListener("click", () => this.showStep(chain, n));
      row.append(button);
      return row;
    }));
    const first = chain.steps.findIndex(step => step.size);
    await this.showStep(chain, n ?? (first < 0 ? 0 : first));
  }

  async showStep(chain, n) {
    const step = chain.steps[n];
    this.line.querySelectorAll("button").forEach((button, k) => {
      if (k === n) button.setAttribute("aria-current", "step"); else button.removeAttribute("aria-current");
      button.tabIndex = k === n ? 0 : -1;
    });
    this.line.children[n].scrollIntoView({ block: "nearest", inline: "nearest" });
    this.said.textContent = `${n} of ${chain.steps.length - 1}: ${step.label}: ${step.said}`;
    // What stood there is another pass's.
    byId("graphs").hidden = byId("side").hidden = !step.modules.length;
    this.tellVerdict();
    if (!step.modules.length) return;
    await this.showModules(step.modules, step.match);
    // Passes that change nothing share a module, so its own name is that of the first of them.
    this.panes.forEach((pane, k) => { pane.title.textContent = k < step.modules.length - 1 ? `Before ${step.label}` : step.label; });
  }
}

const app = new App(JSON.parse(byId("page").textContent));
app.start().catch(error => { byId("verdict").textContent = `This page cannot be shown: ${error.message}`; throw error; });
