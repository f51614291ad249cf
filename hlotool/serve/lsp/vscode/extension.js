/* Starts `hlotool lsp` with the first HLO or MLIR file, and anew when the path of the program is changed. Texts whose name
   says nothing, such as XLA's dumps (.txt), are known by their first line. */

const { commands, languages, window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

/** @type {LanguageClient | undefined} */
let client;

async function start() {
  const settings = workspace.getConfiguration("hlotool");
  const server = { command: settings.get("path", "hlotool"), args: ["lsp"] };
  client = new LanguageClient("hlotool", "hlotool", server, {
    documentSelector: [{ language: "hlo" }, { language: "mlir" }],
    initializationOptions: { inlayHints: settings.get("inlayHints") },
    synchronize: { configurationSection: "hlotool" },
  });
  try {
    await client.start();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    window.showErrorMessage(`hlotool cannot be started as "${server.command}": ${why}. The setting hlotool.path names the program.`);
  }
}

async function restart() {
  await client?.stop().catch(() => undefined);  // one that did not start cannot be stopped
  await start();
}

/** @param {import("vscode").ExtensionContext} context */
exports.activate = async context => {
  /** @type {{ id: string, firstLine: string }[]} */
  const known = context.extension.packageJSON.contributes.languages;
  /** @param {import("vscode").TextDocument} document */
  const opened = async document => {
    if (known.some(language => language.id === document.languageId)) {
      if (!client) await start();
    } else if (document.languageId === "plaintext") {
      const language = known.find(({ firstLine }) => new RegExp(firstLine).test(document.lineAt(0).text));
      if (language) await languages.setTextDocumentLanguage(document, language.id);  // which opens it again
    }
  };
  context.subscriptions.push(
    commands.registerCommand("hlotool.restart", restart),
    workspace.onDidOpenTextDocument(opened),
    workspace.onDidChangeConfiguration(event => client && event.affectsConfiguration("hlotool.path") ? restart() : undefined));
  for (const document of workspace.textDocuments) await opened(document);
};

exports.deactivate = () => client?.stop();
