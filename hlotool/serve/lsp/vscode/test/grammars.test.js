/* Colours a sample of each language with VS Code's own engine, and compares the scopes of its words. */

const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const oniguruma = require("vscode-oniguruma");
const { INITIAL, Registry, parseRawGrammar } = require("vscode-textmate");

const folder = path.join(__dirname, "..", "syntaxes");
/** @type {Record<string, string>} */
const files = { "source.hlo": "hlo.tmLanguage.json", "source.mlir.stablehlo": "mlir.tmLanguage.json" };

/** @type {[string, string, [string, string][]][]} */
const samples = [
  ["source.hlo", `HloModule m, is_scheduled=true
%sum (a: f32[], b: f32[]) -> f32[] {
  ROOT %s.1 = f32[2]{0} add(f32[2] %a, %b), metadata={op_name="jit(f)"} // note
  /* two
     lines */ c = s4[] constant(-1.5e3), direction=LT
  zig-zag = (f32[], token[]) dynamic-slice(x), to_apply=sum`, [
    ["HloModule", "keyword.declaration"], ["true", "constant.language"], ["ROOT", "keyword.declaration"],
    ["%s.1", "variable.other.definition"], ["f32", "storage.type"], ["add", "support.function"], ["metadata", "entity.other.attribute-name"],
    ["jit(f)", "string.quoted"], ["// note", "comment.line"], ["     lines ", "comment.block"], ["-1.5e3", "constant.numeric"],
    ["zig-zag", "variable.other.definition"], ["dynamic-slice", "support.function"], ["to_apply", "entity.other.attribute-name"],
    ["%sum", "entity.name.function"], ["token", "storage.type"]]],
  ["source.mlir.stablehlo", `module @m {
  func.func public @main(%arg0: tensor<4x?xf32>) -> tensor<i1> attributes {a = "x"} { // note
    %0:2 = stablehlo.add %arg0, %arg0 : tensor<4xbf16> loc(#loc1)
    ^bb0(%1: !stablehlo.token):
    call @g(%0#1) {v = #stablehlo<precision HIGH>, n = -2.5e1} : () -> ()`, [
    ["module", "keyword.declaration"], ["@m", "entity.name.function"], ["func.func", "support.function"], ["public", "storage.modifier"],
    ["%arg0", "variable.other"], ["tensor", "storage.type"], ["f32", "storage.type"], ["bf16", "storage.type"], ["x", "string.quoted"],
    ["// note", "comment.line"], ["stablehlo.add", "support.function"], ["#loc1", "constant.other"], ["^bb0", "entity.name.label"],
    ["!stablehlo.token", "storage.type"], ["call", "support.function"], ["-2.5e1", "constant.numeric"]]],
];

async function main() {
  const wasm = fs.readFileSync(path.join(path.dirname(require.resolve("vscode-oniguruma")), "onig.wasm"));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
  const registry = new Registry({
    onigLib: Promise.resolve({
      createOnigScanner: sources => new oniguruma.OnigScanner(sources),
      createOnigString: text => new oniguruma.OnigString(text),
    }),
    loadGrammar: async name => parseRawGrammar(fs.readFileSync(path.join(folder, files[name]), "utf8"), files[name]),
  });
  for (const [name, text, wanted] of samples) {
    const grammar = await registry.loadGrammar(name);
    assert(grammar);
    /** @type {[string, string][]} */
    const found = [];
    let state = INITIAL;
    for (const line of text.split("\n")) {
      const result = grammar.tokenizeLine(line, state);
      for (const token of result.tokens) found.push([line.slice(token.startIndex, token.endIndex), token.scopes.join(" ")]);
      state = result.ruleStack;
    }
    for (const [word, scope] of wanted)
      assert(found.some(([w, scopes]) => w === word && scopes.includes(` ${scope}`)),
        `${word} is not ${scope}: ${JSON.stringify(found.filter(([w]) => w.includes(word) || word.includes(w)))}`);
  }
}

main().catch(error => { console.error(error.message ?? error); process.exitCode = 1; });
