/* The tabs of a report. An address that begins with ":" is a tab, a line of the text, or a pass; with "?" a search. */

class Report {
  constructor(app) {
    this.app = app;
    this.tabs = [...document.querySelectorAll("#tabs [role=tab]")];
    byId("graphs").setAttribute("role", "tabpanel");
    byId("graphs").setAttribute("aria-labelledby", "tab-graph");
    for (const tab of this.tabs) {
      tab.addEventListener("click", () => this.open(tab.id.slice(4)));
      tab.addEventListener("keydown", event => {
        const at = this.tabs.indexOf(tab), all = this.tabs.length;
        const next = { ArrowRight: (at + 1) % all, ArrowLeft: (at + all - 1) % all, Home: 0, End: all - 1 }[event.key];
        if (next === undefined) return;
        event.preventDefault();
        this.tabs[next].focus();
        this.open(this.tabs[next].id.slice(4));
      });
    }
  }

  /* Show a tab, which is a step of the history; the graph is what was last shown in it. */
  open(key) {
    this.app.address(key === "graph" ? this.app.lastPlace || "" : `:${key}`);
    this.show(key);
  }

  show(key) {
    const isGraph = key === "graph", panes = this.app.panes.map(pane => pane.scroller);
    if (!isGraph && !document.body.classList.contains("on-sheet")) this.places = panes.map(s => [s.scrollLeft, s.scrollTop]);
    for (const tab of this.tabs) {
      const isOwn = tab.id === `tab-${key}`;
      tab.setAttribute("aria-selected", String(isOwn));
      tab.tabIndex = isOwn ? 0 : -1;
      if (isOwn) tab.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    for (const sheet of document.querySelectorAll(".sheet")) sheet.hidden = sheet.id !== `sheet-${key}`;
    document.body.classList.toggle("on-sheet", !isGraph);
    byId("find").hidden = isGraph;
    if (isGraph) panes.forEach((scroller, k) => { if (this.places?.[k]) scroller.scrollTo(...this.places[k]); });
  }

  /* Go to an address. What it gives is left to do: the address of an instruction of a module in view; null: nothing. */
  async follow(name) {
    const [, key] = name.match(/^:(\w+)$/) || [];
    if (key && byId(`sheet-${key}`)) { this.show(key); return null; }
    this.show("graph");
    const [, chain, step, rest] = name.match(/^:pass\/(\d+)\/(\d+)\/(.*)$/s) || [];
    if (chain !== undefined) await this.app.showPass(+chain, +step);
    const place = chain === undefined ? name : rest;
    const [, line] = place.match(/^:line\/(\d+)$/) || [];
    if (line) { const pane = this.app.panes.at(-1); this.app.text.at(pane.module, +line, +line + 1); return null; }
    if (place.startsWith("?")) { this.search(place.slice(1)); return null; }
    return place || chain === undefined ? place : null;
  }

  search(text) {
    byId("search").value = text;
    byId("search").focus();
    this.app.search(text);
  }

  /* Links to the rows of an instruction in other tabs. */
  rowsOf(module, n) {
    const { module: number, place } = this.app.page.report;
    if (module.number !== number) return [];
    const target = `#${encodeURIComponent(place + module.address(n))}`.replace(/[!'()*]/g, c => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
    return this.tabs.flatMap(tab => {
      const row = tab.id === "tab-graph" ? null : byId(tab.getAttribute("aria-controls")).querySelector(`a[href="${target}"]`);
      if (!row) return [];
      const button = element("button", tab.textContent.replace(/ \(.*/, ""), "jump");
      button.addEventListener("click", () => { this.open(tab.id.slice(4)); row.closest("details").open = true; row.focus(); row.scrollIntoView({ block: "center" }); });
      return [button, " "];
    });
  }
}
