"""A module as a drawing for other programs: Graphviz's dot, SVG, and the graphs of Model Explorer."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired, TypedDict

from hlotool.diagnostics import visible, visible_html
from hlotool.ir import HloComputation, HloInstruction, HloModule, kind_of
from hlotool.passes.origins import origin_of
from hlotool.passes.verify import require_usable
from hlotool.text import print_value
from hlotool.view.folding import Fold, fold_computation, opened
from hlotool.view.layered_layout import Box, laid_out

#: boxes that a drawing has at most, unless it is asked for more
DEFAULT_BOXES = 40
_LONGEST = 60
_WIDTH = 7.4


@dataclass(frozen=True, slots=True)
class _Shown:
    """A computation with the folds that are open: what is drawn, and in which box each instruction is."""

    computation: HloComputation
    tree: Fold
    open: frozenset[Fold]
    #: the box that shows each instruction: itself, or the closed fold around it
    box_of: dict[HloInstruction, HloInstruction | Fold]

    def edges(self) -> Iterator[tuple[HloInstruction | Fold, HloInstruction | Fold]]:
        """Pairs of boxes of which the second reads the first, each once."""
        seen = set()
        for user in self.computation.instructions:
            for operand in user.operands:
                pair = self.box_of[operand], self.box_of[user]
                if pair[0] is not pair[1] and pair not in seen:
                    seen.add(pair)
                    yield pair


def _shown(computation: HloComputation, most: int | None) -> _Shown:
    tree = fold_computation(computation)
    chosen = frozenset(tree.folds() if most is None else opened(tree, most))
    box_of: dict[HloInstruction, HloInstruction | Fold] = {}
    stack = [tree]
    while stack:
        for item in stack.pop().items:
            if not isinstance(item, Fold):
                box_of[item] = item
            elif item in chosen:
                stack.append(item)
            else:
                box_of.update(dict.fromkeys(item.instructions(), item))
    return _Shown(computation, tree, chosen, box_of)


# Graphviz.


def as_dot(module: HloModule, most: int | None = DEFAULT_BOXES) -> str:
    """Return the module in Graphviz's language: computations and opened folds as clusters, closed folds as boxes.

    A computation shows at most `most` boxes; None shows every instruction.
    """
    names: dict[HloInstruction | Fold, str] = {}
    lines = [f"digraph {_quoted(module.name)} {{", "  compound=true;",
             '  node [shape=box, style="rounded,filled", fillcolor="#eef1f5", fontname="monospace", fontsize=10];']
    for number, computation in enumerate(module.computations):
        found = _shown(computation, most)
        lines += [f"  subgraph cluster_{number} {{", f"    label={_quoted(computation.name)};"]
        lines += _dot_items(found, found.tree, names, f"{number}", "    ")
        lines += [f"    {names[a]} -> {names[b]};" for a, b in found.edges()]
        lines.append("  }")
    return "\n".join([*lines, "}", ""])


def _dot_items(found: _Shown, fold: Fold, names: dict[HloInstruction | Fold, str], prefix: str, indent: str
               ) -> Iterator[str]:
    """Yield the boxes of a fold; those of opened folds in clusters."""
    for number, item in enumerate(fold.items):
        name = names[item] = f"n{prefix}_{number}"
        if isinstance(item, Fold) and item in found.open:
            yield f"{indent}subgraph cluster_{prefix}_{number} {{ label={_quoted(item.label)};"
            yield from _dot_items(found, item, names, f"{prefix}_{number}", indent + "  ")
            yield f"{indent}}}"
        else:
            yield f"{indent}{name} [label={_quoted(chr(10).join(_lines(item)))}];"


def _quoted(text: str) -> str:
    """Return a string of Graphviz; line feeds break lines, nothing else is an escape."""
    plain = "\n".join(visible(line) for line in text.split("\n"))
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _lines(item: HloInstruction | Fold) -> list[str]:
    if isinstance(item, Fold):
        count = item.count()
        return [_cut(item.label), f"{count:,} instruction{'s' * (count != 1)}"]
    named = item.name if item.name.startswith(item.opcode) else f"{item.name} = {item.opcode}"
    calls = [c.name for c in item.called_computations()]
    return [_cut(named), _cut(item.shape.text(False)), *([_cut("calls " + ", ".join(calls))] if calls else [])]


def _cut(text: str) -> str:
    return visible(text if len(text) <= _LONGEST else f"{text[:_LONGEST - 1]}…")


# SVG.


def as_svg(module: HloModule, most: int | None = DEFAULT_BOXES) -> str:
    """Return the entry computation as an image: at most `most` boxes, those of folds drawn double."""
    return svg_and_width(module, most)[0]


def svg_and_width(module: HloModule, most: int | None = DEFAULT_BOXES) -> tuple[str, float]:
    """Return the same, and how wide it is in pixels where it is as large as its letters want it."""
    require_usable(module, is_encoded=False)
    found = _shown(module.entry, most)
    order: list[HloInstruction | Fold] = list(dict.fromkeys(found.box_of[i] for i in found.computation.instructions))
    lines = {item: _lines(item) for item in order}
    boxes = [Box(max(map(len, lines[item])) * _WIDTH + 20, 16.0 * len(lines[item]) + 10) for item in order]
    numbers = {item: n for n, item in enumerate(order)}
    edges = [(numbers[a], numbers[b]) for a, b in found.edges()]
    width, height = laid_out(boxes, edges)
    drawn = [_SVG_HEAD.format(width=width, height=height, title=visible_html(module.name))]
    for a, b in edges:
        one, other = boxes[a], boxes[b]
        x, y, u, v = one.x + one.width / 2, one.y + one.height, other.x + other.width / 2, other.y
        bend = max(20.0, abs(v - y) / 2)
        drawn.append(f'<path d="M{x:.1f} {y:.1f}C{x:.1f} {y + bend:.1f} {u:.1f} {v - bend:.1f} {u:.1f} {v - 3:.1f}"/>')
    for item, box in zip(order, boxes, strict=True):
        kind = "fold" if isinstance(item, Fold) else "box"
        drawn.append(f'<rect class="{kind}" x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" '
                     f'height="{box.height:.1f}" rx="6"/>')
        drawn += [f'<text x="{box.x + 10:.1f}" y="{box.y + 18 + 16 * n:.1f}">{html.escape(line)}</text>'
                  for n, line in enumerate(lines[item])]
    return "\n".join([*drawn, "</svg>", ""]), width


_SVG_HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" \
height="{height:.0f}" role="img" aria-label="{title}">
<title>{title}</title>
<style>text {{ font: 12px ui-monospace, Menlo, Consolas, monospace; fill: #1f2328 }}
rect {{ fill: #eef1f5; stroke: #57606a }} .fold {{ stroke-width: 3; fill: #dbeafe }}
path {{ fill: none; stroke: #57606a; stroke-opacity: .7; marker-end: url(#arrow) }}
@media (prefers-color-scheme: dark) {{ text {{ fill: #dfe3e8 }} rect {{ fill: #262b33; stroke: #a3adba }}
.fold {{ fill: #1d3557 }} path {{ stroke: #a3adba }} }}</style>
<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto" \
markerUnits="userSpaceOnUse"><path d="M0 0L8 4L0 8z" style="fill: #57606a; stroke: none"/></marker></defs>"""


# Model Explorer.


class ExplorerAttribute(TypedDict):
    """A fact about a node or a value."""

    key: str
    value: str


class ExplorerEdge(TypedDict):
    """An operand of a node."""

    sourceNodeId: str
    sourceNodeOutputId: str
    targetNodeInputId: Annotated[str, "the operand's number"]


class ExplorerOutput(TypedDict):
    """A value that a node gives."""

    id: str
    attrs: list[ExplorerAttribute]


class ExplorerNode(TypedDict):
    """An instruction."""

    id: Annotated[str, "the instruction's name"]
    label: Annotated[str, "its opcode"]
    namespace: Annotated[str, "the folds that hold it, outermost first, between slashes"]
    attrs: list[ExplorerAttribute]
    incomingEdges: list[ExplorerEdge]
    outputsMetadata: list[ExplorerOutput]
    subgraphIds: NotRequired[Annotated[list[str], "computations that it calls"]]


class ExplorerGraph(TypedDict):
    """A computation."""

    id: Annotated[str, "the computation's name"]
    nodes: list[ExplorerNode]


class GraphCollection(TypedDict):
    """A collection of graphs for Model Explorer, one for each computation, the entry first."""

    label: str
    graphs: list[ExplorerGraph]


def as_model_explorer(module: HloModule) -> GraphCollection:
    """Return the module as Model Explorer's collection of graphs: one for each computation, folds as namespaces.

    Source: google-ai-edge/model-explorer, "Custom JSON graphs" (GraphCollection, Graph, GraphNode).
    """
    graphs = [_graph(module, computation) for computation in [
        module.entry, *(c for c in module.computations if c is not module.entry)]]
    return {"label": visible(module.name), "graphs": graphs}


def _graph(module: HloModule, computation: HloComputation) -> ExplorerGraph:
    spaces: dict[HloInstruction, str] = {}
    stack = [(fold_computation(computation), "")]
    while stack:
        fold, space = stack.pop()
        for item in fold.items:
            if isinstance(item, Fold):
                # A slash in a label would be another level.
                inner = visible(item.label).replace("/", "∕")
                stack.append((item, f"{space}/{inner}" if space else inner))
            else:
                spaces[item] = space
    return {"id": visible(computation.name), "nodes": [_node(module, i, spaces[i]) for i in computation.instructions]}


def _node(module: HloModule, instruction: HloInstruction, space: str) -> ExplorerNode:
    origin = origin_of(module, instruction)
    facts = {"name": instruction.name, "shape": str(instruction.shape)}
    if instruction.metadata is not None and instruction.metadata.op_name:
        facts["op_name"] = instruction.metadata.op_name
    if origin is not None and origin.file and origin.line:
        facts["source"] = f"{origin.file}:{origin.line}"
    for name, value in instruction.attributes.items():
        facts[name] = str(value) if name == "parameter_number" else _value(name, value)
    node: ExplorerNode = {
        "id": visible(instruction.name), "label": instruction.opcode, "namespace": space,
        "attrs": [{"key": visible(key), "value": visible(value)} for key, value in facts.items()],
        "incomingEdges": [{"sourceNodeId": visible(o.name), "sourceNodeOutputId": "0", "targetNodeInputId": str(n)}
                          for n, o in enumerate(instruction.operands)],
        "outputsMetadata": [{"id": "0", "attrs": [{"key": "tensor_shape", "value": visible(str(instruction.shape))}]}]}
    if called := [visible(c.name) for c in instruction.called_computations()]:
        node["subgraphIds"] = called
    return node


def _value(name: str, value: Any) -> str:
    if name == "literal":
        text = str(value.text) if getattr(value, "text", None) is not None else print_value(kind_of(name), value)
    else:
        text = print_value(kind_of(name), value)
    return text if len(text) <= 1000 else f"{text[:999]}…"


def model_explorer_text(module: HloModule) -> str:
    """`as_model_explorer` as JSON."""
    return json.dumps(as_model_explorer(module), indent=1) + "\n"
