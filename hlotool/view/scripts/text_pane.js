/* The text of a module: only the lines in view are made, and coloured. */

const ROW = 19, AROUND = 30, LONGEST = 3000;
class TextPane {
  constructor(app) {
    this.app = app;
    this.view = byId("lines");
    this.rows = byId("rows");
    this.here = [0, 0];
    this.view.addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.view);
    this.rows.addEventListener("click", event => {
      const row = event.target.closest(".row");
      if (row && !String(getSelection())) this.clicked(+row.dataset.line);
    });
  }

  show(module) {
    if (this.module === module) return;
    this.module = module;
    this.lines = module.textRows;
    byId("space").style.height = `${this.lines.length * ROW}px`;
    byId("text-heading").textContent = this.app.panes.length > 1 ? `Text of ${baseName(module.name)}` : "Text";
    this.view.scrollTop = 0;
    this.draw();
  }

  clicked(line) {
    const n = this.module.atLine(line);
    if (n >= 0) this.app.choose(this.app.paneOf(this.module), n, { keepsText: true });
  }

  /* Bring a line into view, and mark the lines of its statement. */
  at(module, line, end) {
    this.show(module);
    this.here = [line, Math.max(line, Math.min(end - 1, line + 40))];
    const top = (line - module.first) * ROW;
    if (top < this.view.scrollTop + ROW || top > this.view.scrollTop + this.view.clientHeight - 2 * ROW) this.view.scrollTop = top - this.view.clientHeight / 3;
    this.draw();
  }

  draw() {
    if (!this.lines) return;
    const first = Math.max(0, Math.floor(this.view.scrollTop / ROW) - AROUND);
    const last = Math.min(this.lines.length, Math.ceil((this.view.scrollTop + this.view.clientHeight) / ROW) + AROUND);
    const made = [];
    for (let n = first; n < last; n++) made.push(this.row(n));
    this.rows.replaceChildren(...made);
    this.rows.style.top = `${first * ROW}px`;
  }

  row(n) {
    const row = document.createElement("div"), number = document.createElement("span"), line = n + this.module.first;
    row.className = line >= this.here[0] && line <= this.here[1] ? "row here" : "row";
    row.dataset.line = line;
    number.className = "number";
    number.textContent = line;
    const text = this.lines[n];
    row.append(number, ...coloured(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text));
    return row;
  }
}
