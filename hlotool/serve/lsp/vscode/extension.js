/* Starts `hlotool lsp` for HLO and MLIR files, and starts it anew when the path of the program is changed. */

const { commands, window, workspace } = require("vscode");
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
  context.subscriptions.push(
    commands.registerCommand("hlotool.restart", restart),
    workspace.onDidChangeConfiguration(event => event.affectsConfiguration("hlotool.path") ? restart() : undefined));
  await start();
};

exports.deactivate = () => client?.stop();
