"use strict";
/* Python beside the page: it is loaded once, and then answers one question after the other. */

let module = null;

async function load(base) {
  const said = what => postMessage({ progress: what });
  said("Loading Python …");
  const { loadPyodide } = await import(new URL("pyodide/pyodide.mjs", base));
  const [python, packed] = await Promise.all([
    loadPyodide({ indexURL: new URL("pyodide/", base).href, stdout: () => {}, stderr: () => {} }),
    fetch(new URL("hlotool.zip", base)).then(answer => { if (!answer.ok) throw new Error(`hlotool.zip: ${answer.status}`); return answer.arrayBuffer(); }),
  ]);
  said("Loading hlotool …");
  python.unpackArchive(packed, "zip", { extractDir: "/packages" });
  python.runPython("import sys; sys.path.insert(0, '/packages')");
  module = python.pyimport("hlotool.view.playground.in_browser");
}

onmessage = async ({ data: { id, base, name, text } }) => {
  try {
    if (name === "load") await load(base);
    const answer = name === "load" ? "{}" : module[name](text ?? "");
    postMessage({ id, answer });
  } catch (error) {
    postMessage({ id, error: String(error.message || error).trim().split("\n").pop() });
  }
};
