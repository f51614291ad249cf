"use strict";
const by = id => document.getElementById(id);
const PAUSE = 350, SEVERITIES = ["error", "warning", "info"];
const waiting = new Map();
let worker, asked = 0, timer, shown = [], drawing = 0;

/* An element with a class, texts and elements in it. What comes from a module only ever becomes text. */
function made(tag, className, ...inside) {
  const found = document.createElement(tag);
  if (className) found.className = className;
  found.append(...inside);
  return found;
}

function ask(name, text) {
  const id = ++asked;
  return new Promise((done, failed) => {
    waiting.set(id, { done, failed });
    worker.postMessage({ id, base: document.baseURI, name, text });
  });
}

function received({ data }) {
  if (data.progress) { say(data.progress); return; }
  const { done, failed } = waiting.get(data.id);
  waiting.delete(data.id);
  if (data.error) failed(new Error(data.error)); else done(JSON.parse(data.answer));
}

function say(text, kind = "") {
  by("verdict").textContent = text;
  by("verdict").className = kind;
}

/* The policy of this page holds for a worker that is made from text, and only for such a one. */
async function start() {
  if (location.protocol === "file:") throw new Error("A browser runs Python only for pages from a server: `hlotool docs --serve --playground` is one.");
  const script = await fetch("worker.js");
  if (!script.ok) throw new Error(`worker.js: ${script.status}`);
  const there = await fetch("pyodide/package.json");
  if (!there.ok) throw new Error("Pyodide is not here: `hlotool docs FOLDER --playground` puts it beside this page.");
  const address = URL.createObjectURL(new Blob([await script.text()], { type: "text/javascript" }));
  worker = new Worker(address);
  worker.onmessage = received;
  worker.onerror = event => say(`Python does not run: ${event.message}`, "error");
  await ask("load");
  for (const button of document.querySelectorAll("button[disabled]")) button.disabled = false;
  await look();
  document.documentElement.dataset.ready = "1";
}

async function look() {
  const text = by("text").value, mine = asked + 1;
  if (!text.trim()) { shown = []; list(); say("Paste a module, or choose an example."); return; }
  const { findings, total } = await ask("look", text);
  if (asked > mine) return;
  shown = findings;
  list();
  const counts = SEVERITIES.map(s => [findings.filter(f => f.severity === s).length, s]).filter(([n]) => n);
  const told = counts.map(([n, s]) => `${n} ${s}${n === 1 || s === "info" ? "" : "s"}`).join(", ");
  say(told ? told + (total > findings.length ? ` of the first ${findings.length}; ${total} in all` : "") : "No findings.", counts.length ? counts[0][1] : "good");
}

function list() {
  by("findings").replaceChildren(...shown.map((f, n) => {
    const button = made("button", "finding", made("b", f.severity, f.code), ` ${f.message}`, made("span", "quiet where", f.line ? `line ${f.line}` : ""));
    button.dataset.n = n;
    return made("li", "", button);
  }));
  by("findings").hidden = !shown.length;
}

/* Columns count code points; a text area counts UTF-16 units. */
function offset(text, line, column) {
  let at = 0;
  for (let n = 1; n < line && at >= 0; n++) at = text.indexOf("\n", at) + 1;
  for (let n = 1; n < column && at < text.length; n++) at += text.codePointAt(at) > 0xffff ? 2 : 1;
  return at;
}

async function choose(n) {
  const f = shown[n], area = by("text");
  by("findings").querySelectorAll("[aria-current]").forEach(b => b.removeAttribute("aria-current"));
  by("findings").querySelector(`[data-n="${n}"]`)?.setAttribute("aria-current", "true");
  if (f.line) {
    area.focus({ preventScroll: true });
    area.setSelectionRange(offset(area.value, f.line, f.column), offset(area.value, f.endLine || f.line, f.endColumn || f.column));
    area.scrollTop = (f.line - 4) * parseFloat(getComputedStyle(area).lineHeight);
  }
  await explain(f.code, f);
}

async function explain(word, f) {
  const found = await ask("explained", word);
  const parts = [made("h2", "", found.title)];
  if (f) parts.push(...[f.message, f.help && `help: ${f.help}`, ...f.notes].filter(Boolean).map(text => made("p", "", text)));
  if (found.summary) parts.push(made("p", "quiet prose", found.summary));
  for (const [title, text] of found.parts)
    parts.push(...(title ? [made("h3", "", title)] : []), title === "Bad" || title === "Good" ? made("pre", "", text) : made("p", "prose", text));
  if (found.place) {
    const link = made("a", "", "In the manual");
    link.href = `../reference/${encodeURIComponent(found.place)}.html`;
    parts.push(made("p", "", link));
  }
  for (const pre of parts.filter(part => part.tagName === "PRE")) pre.tabIndex = 0;
  by("explanation").replaceChildren(...parts);
}

/* Puts another text in the place of this one: the same in one format, or converted. */
async function rewrite(how) {
  const { text, findings } = await ask(how, by("text").value);
  if (findings) { shown = findings; list(); say(`It cannot be ${how}.`, "error"); return; }
  by("text").value = text;
  await look();
}

async function draw() {
  const mine = ++drawing, { page, findings } = await ask("drawn", by("text").value);
  if (mine !== drawing) return;
  if (findings) { shown = findings; list(); say("It cannot be drawn.", "error"); return; }
  by("drawing").hidden = false;
  by("frame").srcdoc = page;
  by("drawing").scrollIntoView({ block: "nearest" });
}

const failed = error => say(error.message, "error");
by("text").addEventListener("input", () => {
  if (!worker || !document.documentElement.dataset.ready) return;
  clearTimeout(timer);
  timer = setTimeout(() => look().catch(failed), PAUSE);
});
by("findings").addEventListener("click", event => {
  const row = event.target.closest("[data-n]");
  if (row) choose(+row.dataset.n).catch(failed);
});
by("format").addEventListener("click", () => rewrite("formatted").catch(failed));
by("convert").addEventListener("click", () => rewrite("converted").catch(failed));
by("draw").addEventListener("click", () => draw().catch(failed));
by("word").addEventListener("change", event => { if (event.target.value.trim() && worker) explain(event.target.value.trim()).catch(failed); });
by("example").addEventListener("change", event => {
  const example = JSON.parse(by("examples").textContent)[event.target.value];
  if (example === undefined) return;
  by("text").value = example;
  if (document.documentElement.dataset.ready) look().catch(failed);
});
if (!by("text").value) by("text").value = JSON.parse(by("examples").textContent)[by("example").options[1].value];
start().catch(failed);
