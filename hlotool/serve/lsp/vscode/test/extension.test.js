/* Activates the extension with stand-ins for VS Code and its client, and looks at what it starts and when. */

const assert = require("node:assert");
const fs = require("node:fs");
const Module = require("node:module");
const path = require("node:path");

/** @type {any[]} */
const started = [];
/** @type {any[]} */
const stopped = [];
/** @type {string[]} */
const errors = [];
/** @type {Record<string, any>} */
const settings = { path: "/opt/hlotool", inlayHints: "names" };
/** @type {Record<string, () => any>} */
const known = {};
/** @type {(event: any) => any} */
let changed = () => undefined;
/** @type {(document: any) => any} */
let opened = () => undefined;
let fails = false;

/** A document with one line. @param {string} languageId @param {string} line */
const text = (languageId, line) => ({ languageId, lineAt: () => ({ text: line }) });

class LanguageClient {
  /** @param {any[]} given */
  constructor(...given) { this.given = given; }
  async start() { if (fails) throw new Error("ENOENT"); started.push(this.given); }
  async stop() { stopped.push(this.given); }
}

/** @type {Record<string, any>} */
const standIns = {
  vscode: {
    commands: { registerCommand: (/** @type {string} */ name, /** @type {() => any} */ run) => { known[name] = run; } },
    languages: {
      setTextDocumentLanguage: (/** @type {any} */ document, /** @type {string} */ language) =>
        opened({ ...document, languageId: language }),
    },
    window: { showErrorMessage: (/** @type {string} */ text) => { errors.push(text); } },
    workspace: {
      getConfiguration: () => ({ get: (/** @type {string} */ name, /** @type {any} */ other) => settings[name] ?? other }),
      textDocuments: [text("plaintext", "Dear all,")],
      onDidOpenTextDocument: (/** @type {any} */ run) => { opened = run; },
      onDidChangeConfiguration: (/** @type {any} */ run) => { changed = run; },
    },
  },
  "vscode-languageclient/node": { LanguageClient },
};
const load = /** @type {any} */ (Module)._load;
/** @type {any} */ (Module)._load = (/** @type {string} */ name, /** @type {any[]} */ ...rest) => standIns[name] ?? load(name, ...rest);

async function main() {
  const extension = require(path.join(__dirname, "..", "extension.js"));
  const packageJSON = JSON.parse(fs.readFileSync(path.join(__dirname, "..", "package.json"), "utf8"));
  await extension.activate({ subscriptions: [], extension: { packageJSON } });
  await changed({ affectsConfiguration: () => true });
  await opened(text("python", "HloModule f"));
  assert.strictEqual(started.length, 0);  // nothing of ours is open
  await opened(text("plaintext", "HloModule jit_f, is_scheduled=true"));
  await opened(text("mlir", "module @m {"));
  assert.strictEqual(started.length, 1);
  const [, , server, options] = started[0];
  assert.deepStrictEqual(server, { command: "/opt/hlotool", args: ["lsp"] });
  assert.deepStrictEqual(options.documentSelector, [{ language: "hlo" }, { language: "mlir" }]);
  assert.deepStrictEqual(options.initializationOptions, { inlayHints: "names" });
  assert.strictEqual(options.synchronize.configurationSection, "hlotool");
  await changed({ affectsConfiguration: (/** @type {string} */ name) => name === "hlotool.inlayHints" });
  assert.strictEqual(started.length, 1);
  settings.path = "/opt/other";
  await changed({ affectsConfiguration: (/** @type {string} */ name) => name === "hlotool.path" });
  assert.deepStrictEqual([started.length, stopped.length, started[1][2].command], [2, 1, "/opt/other"]);
  await known["hlotool.restart"]();
  assert.deepStrictEqual([started.length, stopped.length], [3, 2]);
  fails = true;
  await known["hlotool.restart"]();
  assert(errors[0].includes("/opt/other") && errors[0].includes("ENOENT"));
  fails = false;
  await extension.deactivate();
}

main().catch(error => { console.error(error); process.exitCode = 1; });
