#!/bin/sh
# VS Code: hlotool lsp --print-config vscode | sh
# Packs the extension that comes with hlotool (npm is needed) and installs it where `code` is a command.
set -eu
folder=$(mktemp -d)
cp -R @SOURCES@/. "$folder"
cd "$folder"
cat > command.json <<'END'
@COMMAND@
END
node -e '
const fs = require("fs"), package = JSON.parse(fs.readFileSync("package.json", "utf8"));
package.contributes.configuration.properties["hlotool.path"].default = JSON.parse(fs.readFileSync("command.json", "utf8"));
fs.writeFileSync("package.json", JSON.stringify(package, null, 2));
fs.rmSync("command.json");
'
npm ci --silent --no-fund --no-audit --ignore-scripts
npm run --silent package -- --out hlotool.vsix
if command -v code > /dev/null; then
  code --install-extension hlotool.vsix
else
  echo "install it in VS Code with 'Extensions: Install from VSIX': $folder/hlotool.vsix"
fi
