"""The files of the playground: its page, hlotool for the browser, and Pyodide where somebody has it."""

from __future__ import annotations

import html
import importlib.util
import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path

from hlotool.diagnostics.pages import filled, script_data
from hlotool.passes.lints import RULES
from hlotool.passes.read import parse
from hlotool.process import OwnFiles

#: folders of the package that a page has no use for: manuals, runners, servers, samples
_NOT_PACKED = frozenset(("__pycache__", "docs", "samples", "builder", "folds", "fuzzing", "jax", "serve", "reduction",
                         "conformance", "bisection", "blame", "verdict", "cli"))
_PACKED = (".py", ".lark", ".toml", ".json", ".html", ".css", ".js", ".txt")
#: the same bytes for the same files
_EPOCH = (1980, 1, 1, 0, 0, 0)


def write_playground(files: OwnFiles, pyodide: Mapping[str, bytes] | None) -> list[Path]:
    """Write the page and what it loads into the folder's `playground`; gives the files.

    Without Pyodide the page says how to have it. Raises OSError where that fails, and HloError for a link, a pipe or a
    file of several names at one of these names.
    """
    contents = {"index.html": page().encode("utf-8"), "worker.js": _file("worker.js").encode("utf-8"),
             "hlotool.zip": packed_tool()}
    contents |= {f"pyodide/{name}": data for name, data in (pyodide or {}).items()}
    for name, data in contents.items():
        files.write(f"playground/{name}", data, is_lasting=False)
    return [files.path / "playground" / name for name in contents]


def page() -> str:
    """Return the page, whose policy lets in what lies beside it, and the scripts and styles of the graph's page."""
    template = _file("playground.html")
    options = "".join(f'<option value="{html.escape(name)}">{html.escape(name)}</option>' for name in EXAMPLES)
    text = filled(template, {"OPTIONS": options, "EXAMPLES": script_data(EXAMPLES), "SILENT": _silent(),
                             "SCRIPT": _file("page.js")})
    return text.replace(_policy_of(text), _wider(_policy_of(text)), 1)


def _silent() -> str:
    """Return the rules that say less here, as links to the manual."""
    return ", ".join(f'<a href="../reference/{rule.code}.html">{rule.code} {html.escape(rule.name)}</a>'
                     for rule in RULES.values() if rule.needs_numpy)


def _policy_of(text: str) -> str:
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert found is not None
    return found[1]


def _wider(policy: str) -> str:
    """Return the policy of the page with what Python needs: files from its own server, WebAssembly, a worker.

    The graph is drawn in a frame, for which the policy of the page around it holds as well as its own.
    """
    from hlotool.view import module_page

    inner = _directives(_policy_of(module_page("empty", parse("ENTRY e { ROOT c = f32[] constant(0) }"))))
    rules = _directives(policy)
    rules["script-src"] += ["'self'", "'wasm-unsafe-eval'", *inner["script-src"]]
    rules["style-src"] += inner["style-src"]
    rules |= {"connect-src": ["'self'"], "worker-src": ["blob:"], "frame-src": ["'self'"]}
    return "; ".join(" ".join([name, *values]) for name, values in rules.items())


def _directives(policy: str) -> dict[str, list[str]]:
    return {name: values for name, *values in map(str.split, policy.split(";"))}


def packed_tool() -> bytes:
    """Return the package as a ZIP file, and Lark beside it: what checking, formatting, explaining and drawing need."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in sorted(_sources()):
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), path.read_bytes(), zipfile.ZIP_DEFLATED, 9)
    return made.getvalue()


def _sources() -> Iterator[tuple[str, Path]]:
    for name in ("hlotool", "lark"):
        spec = importlib.util.find_spec(name)
        assert spec is not None and spec.origin is not None
        yield from _below(Path(spec.origin).parent, name)


def _below(folder: Path, name: str) -> Iterator[tuple[str, Path]]:
    for path in folder.iterdir():
        if path.is_dir() and path.name not in _NOT_PACKED:
            yield from _below(path, f"{name}/{path.name}")
        elif path.suffix in _PACKED:
            yield f"{name}/{path.name}", path


def _file(name: str) -> str:
    return resources.files("hlotool.view.playground").joinpath(name).read_text("utf-8")


EXAMPLES: Mapping[str, str] = {
    "A shape that is not right": """HloModule example

ENTRY main {
  x = f32[8,16] parameter(0)
  w = f32[16,4] parameter(1)
  y = f32[8,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  zero = f32[] constant(0)
  zeros = f32[8,4] broadcast(zero), dimensions={}
  ROOT relu = f32[4,8] maximum(y, zeros)
}
""",
    "Work for nothing": """HloModule example

ENTRY main {
  x = f32[64,32] parameter(0)
  there = f32[32,64] transpose(x), dimensions={1,0}
  back = f32[64,32] transpose(there), dimensions={1,0}
  same = f32[64,32] copy(back)
  one = f32[] constant(1)
  ones = f32[64,32] broadcast(one), dimensions={}
  ROOT y = f32[64,32] multiply(same, ones)
}
""",
    "A loop": """HloModule example

step {
  s = (s32[], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[8,8] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[8,8] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  z = f32[8,8] tanh(y)
  ROOT t = (s32[], f32[8,8]) tuple(next, z)
}

go {
  s = (s32[], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(100)
  ROOT p = pred[] compare(i, n), direction=LT
}

ENTRY main {
  x = f32[8,8] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[8,8]) tuple(zero, x)
  w = (s32[], f32[8,8]) while(t), condition=go, body=step
  ROOT r = f32[8,8] get-tuple-element(w), index=1
}
""",
    "StableHLO": """// A shape that is not right.
module @example {
  func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
    %y = stablehlo.dot %x, %w : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %relu = stablehlo.maximum %y, %zeros : tensor<8x4xf32>
    %turned = stablehlo.transpose %relu, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %turned : tensor<8x4xf32>
  }
}
""",
}
