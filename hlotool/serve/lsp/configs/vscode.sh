#!/bin/sh
# VS Code: hlotool lsp --print-config vscode | sh
# Writes an extension into a new folder, packs it (npm is needed) and installs it where `code` is a command.
set -eu
folder=$(mktemp -d)
cd "$folder"
cat > package.json <<'END'
{
  "name": "hlotool-lsp",
  "displayName": "HLO",
  "description": "HLO and StableHLO: findings, hover, names, completion and formatting by hlotool",
  "publisher": "hlotool",
  "version": "0.1.0",
  "license": "Apache-2.0",
  "engines": { "vscode": "^1.82.0" },
  "categories": ["Programming Languages", "Linters", "Formatters"],
  "main": "./extension.js",
  "contributes": {
    "languages": [
      {
        "id": "hlo",
        "aliases": ["HLO"],
        "extensions": [".hlo", ".hlo.txt"],
        "firstLine": "^HloModule\\s",
        "configuration": "./language-configuration.json"
      },
      {
        "id": "mlir",
        "aliases": ["MLIR"],
        "extensions": [".mlir"],
        "configuration": "./language-configuration.json"
      }
    ]
  },
  "dependencies": { "vscode-languageclient": "^9.0.1" }
}
END
cat > language-configuration.json <<'END'
{
  "comments": { "lineComment": "//", "blockComment": ["/*", "*/"] },
  "brackets": [["{", "}"], ["[", "]"], ["(", ")"]],
  "wordPattern": "[A-Za-z_][\\w.\\-]*"
}
END
cat > extension.js <<'END'
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = async () => {
  const server = { command: @COMMAND@, args: ["lsp"] };
  const languages = { documentSelector: [{ language: "hlo" }, { language: "mlir" }] };
  client = new LanguageClient("hlotool", "hlotool", server, languages);
  await client.start();
};

exports.deactivate = () => client?.stop();
END
printf 'Extension that starts hlotool.\n' > README.md
npm install --silent --no-fund --no-audit
npx --yes @vscode/vsce package --allow-missing-repository --skip-license --out hlotool-lsp.vsix
if command -v code > /dev/null; then
  code --install-extension hlotool-lsp.vsix
else
  echo "install it in VS Code with 'Extensions: Install from VSIX': $folder/hlotool-lsp.vsix"
fi
