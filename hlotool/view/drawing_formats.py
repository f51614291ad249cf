"""A module as a drawing for other programs: Graphviz's dot, SVG, and the graphs of Model Explorer."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired, TypedDict

from hlotool.diagnostics import visible, visible_html
from hlotool.ir import HloComputation, HloInstruction, HloModule, kind_of
from hlotool.passes.origins import origin_of
from hlotool.passes.verify import require_usable
from hlotool.text import print_value
from hlotool.view.folding import Fold, fold_computation, opened
from hlotool.view.layered_layout import Box, laid_out
from hlotool.view.neighbourhood import Excerpt

#: boxes that a drawing has at most, unless it is asked for more
DEFAULT_BOXES = 40
_LONGEST = 60
_LONGEST_CAPTION = 110
#: constants that are written into a box
_MOST_CONSTANTS = 3
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
    lines = _dot_head(module.name)
    for number, computation in enumerate(module.computations):
        found = _shown(computation, most)
        lines += [f"  subgraph cluster_{number} {{", f"    label={_quoted(computation.name)};"]
        lines += _dot_items(found, found.tree, names, f"{number}", "    ")
        lines += [f"    {names[a]} -> {names[b]};" for a, b in found.edges()]
        lines.append("  }")
    return "\n".join([*lines, "}", ""])


def _dot_head(name: str) -> list[str]:
    return [f"digraph {_quoted(name)} {{", "  compound=true;",
            '  node [shape=box, style="rounded,filled", fillcolor="#eef1f5", fontname="monospace", fontsize=10];']


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
        work = item.work()
        return [_cut(item.label), f"{count:,} instruction{'s' * (count != 1)}{f': {work}' if work else ''}"]
    named = item.name if item.name.startswith(item.opcode) else f"{item.name} = {item.opcode}"
    calls = [c.name for c in item.called_computations()]
    return [_cut(named), _cut(item.shape.text(False)), *([_cut("calls " + ", ".join(calls))] if calls else [])]


def _cut(text: str, longest: int = _LONGEST) -> str:
    return visible(text if len(text) <= longest else f"{text[:longest - 1]}…")


# SVG.


def as_svg(module: HloModule, most: int | None = DEFAULT_BOXES) -> str:
    """Return the entry computation as an image: at most `most` boxes, those of folds drawn double."""
    return svg_and_width(module, most)[0]


def svg_and_width(module: HloModule, most: int | None = DEFAULT_BOXES) -> tuple[str, float]:
    """Return the same, and how wide it is in pixels where it is as large as its letters want it."""
    require_usable(module, is_encoded=False)
    found = _shown(module.entry, most)
    order: list[HloInstruction | Fold] = list(dict.fromkeys(found.box_of[i] for i in found.computation.instructions))
    numbers = {item: n for n, item in enumerate(order)}
    rows = [(_lines(item), "fold" if isinstance(item, Fold) else "box") for item in order]
    return _svg(module.name, rows, [(numbers[a], numbers[b], False) for a, b in found.edges()], [])


def _svg(title: str, rows: Sequence[tuple[list[str], str]], edges: Sequence[tuple[int, int, bool]],
         captions: Sequence[str]) -> tuple[str, float]:
    """Return boxes with their lines and classes as an image, and its width; edges that are marked are dashed."""
    boxes = [Box(max(map(len, lines)) * _WIDTH + 20, 16.0 * len(lines) + 10) for lines, _ in rows]
    layout = laid_out(boxes, [(a, b) for a, b, _ in edges], max((len(c) * _WIDTH + 24 for c in captions), default=0))
    width = layout.width
    height = layout.height + (16 * len(captions) + 8 if captions else 0)
    drawn = [_SVG_HEAD.format(width=width, height=height, title=visible_html(title))]
    for (_, _, is_dashed), route in zip(edges, layout.routes, strict=True):
        drawn.append(f'<path{_DASHED * is_dashed} d="{_curve(route)}"/>')
    for (lines, kind), box in zip(rows, boxes, strict=True):
        drawn.append(f'<rect class="{kind}" x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" '
                     f'height="{box.height:.1f}" rx="6"/>')
        drawn += [f'<text x="{box.x + 10:.1f}" y="{box.y + 18 + 16 * n:.1f}">{html.escape(line)}</text>'
                  for n, line in enumerate(lines)]
    drawn += [f'<text x="12" y="{layout.height + 12 + 16 * n:.1f}">{html.escape(line)}</text>'
              for n, line in enumerate(captions)]
    return "\n".join([*drawn, "</svg>", ""]), width


def _curve(route: Sequence[tuple[float, float]]) -> str:
    """Return an edge as the path of SVG: upright where it passes a layer, bent between them."""
    (x, y), *rest = route
    path = f"M{x:.1f} {y:.1f}"
    for n, (u, v) in enumerate(rest):
        end = v - 3 if n == len(rest) - 1 else v
        bend = max(20.0, abs(v - y) / 2)
        path += f"V{end:.1f}" if u == x else f"C{x:.1f} {y + bend:.1f} {u:.1f} {v - bend:.1f} {u:.1f} {end:.1f}"
        x, y = u, v
    return path


_DASHED = ' class="call"'
_SVG_HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" \
height="{height:.0f}" role="img" aria-label="{title}">
<title>{title}</title>
<style>text {{ font: 12px ui-monospace, Menlo, Consolas, monospace; fill: #1f2328 }}
rect {{ fill: #eef1f5; stroke: #57606a }} .fold {{ stroke-width: 3; fill: #dbeafe }}
.end {{ stroke-width: 3; fill: #fff0b8 }} .call {{ stroke-dasharray: 5 4 }}
path {{ fill: none; stroke: #57606a; stroke-opacity: .7; marker-end: url(#arrow) }}
@media (prefers-color-scheme: dark) {{ text {{ fill: #dfe3e8 }} rect {{ fill: #262b33; stroke: #a3adba }}
.fold {{ fill: #1d3557 }} .end {{ fill: #4a3f0c }} path {{ stroke: #a3adba }} }}</style>
<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto" \
markerUnits="userSpaceOnUse"><path d="M0 0L8 4L0 8z" style="fill: #57606a; stroke: none"/></marker></defs>"""


# A part of a module.


def excerpt_svg(excerpt: Excerpt) -> str:
    """Return a part of a module as an image: what was asked for is marked, what is left out is told below."""
    numbers = {box: n for n, box in enumerate(excerpt.boxes)}
    rows = [(_near_lines(excerpt, box), "end" if box in excerpt.ends else "box") for box in excerpt.boxes]
    edges = [(numbers[a], numbers[b], a not in b.operands) for a, b in excerpt.edges()]
    captions = [_cut(caption, _LONGEST_CAPTION) for caption in excerpt.captions()]
    return _svg(f"{excerpt.module.name}: {excerpt.title}", rows, edges, captions)[0]


def excerpt_dot(excerpt: Excerpt) -> str:
    """Return a part of a module in Graphviz's language: a cluster for each computation."""
    names = {box: f"n{n}" for n, box in enumerate(excerpt.boxes)}
    lines = [*_dot_head(excerpt.module.name), f"  label={_quoted(chr(10).join(excerpt.captions()))};"]
    for number, (computation, boxes) in enumerate(excerpt.computations().items()):
        lines += [f"  subgraph cluster_{number} {{", f"    label={_quoted(computation.name)};"]
        for box in boxes:
            marked = ", penwidth=3" * (box in excerpt.ends)
            lines.append(f"    {names[box]} [label={_quoted(chr(10).join(_near_lines(excerpt, box)))}{marked}];")
        lines.append("  }")
    lines += [f"  {names[a]} -> {names[b]}{' [style=dashed]' * (a not in b.operands)};" for a, b in excerpt.edges()]
    return "\n".join([*lines, "}", ""])


def _near_lines(excerpt: Excerpt, box: HloInstruction) -> list[str]:
    """Return the lines of an instruction, the constants that it reads, and how much around it is not shown."""
    constants = excerpt.constants(box)
    told = [_cut(f"{c.name} = {_value('literal', c.attributes.get('literal'))}") for c in constants[:_MOST_CONSTANTS]]
    if len(constants) > _MOST_CONSTANTS:
        told.append(f"{len(constants) - _MOST_CONSTANTS} more constants")
    above, below = excerpt.missing(box)
    hidden = [f"{count} {word}{'s' * (count != 1)}" for count, word in ((above, "operand"), (below, "user")) if count]
    return [*_lines(box), *told, *([f"… {' and '.join(hidden)} not shown"] if hidden else [])]


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


def as_model_explorer(module: HloModule, kept: Set[HloInstruction] | None = None) -> GraphCollection:
    """Return the module as Model Explorer's collection of graphs: one for each computation, folds as namespaces.

    Where some instructions are named, only those are nodes.
    Source: google-ai-edge/model-explorer, "Custom JSON graphs" (GraphCollection, Graph, GraphNode).
    """
    graphs = [_graph(module, computation, kept) for computation in [
        module.entry, *(c for c in module.computations if c is not module.entry)]]
    return {"label": visible(module.name), "graphs": [graph for graph in graphs if graph["nodes"]]}


def _graph(module: HloModule, computation: HloComputation, kept: Set[HloInstruction] | None) -> ExplorerGraph:
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
    shown = [i for i in computation.instructions if kept is None or i in kept]
    return {"id": visible(computation.name), "nodes": [_node(module, i, spaces[i], kept) for i in shown]}


def _node(module: HloModule, instruction: HloInstruction, space: str, kept: Set[HloInstruction] | None
          ) -> ExplorerNode:
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
                          for n, o in enumerate(instruction.operands) if kept is None or o in kept],
        "outputsMetadata": [{"id": "0", "attrs": [{"key": "tensor_shape", "value": visible(str(instruction.shape))}]}]}
    if called := [visible(c.name) for c in instruction.called_computations()
                  if kept is None or not kept.isdisjoint(c.instructions)]:
        node["subgraphIds"] = called
    return node


def _value(name: str, value: Any) -> str:
    if name == "literal":
        text = str(value.text) if getattr(value, "text", None) is not None else print_value(kind_of(name), value)
    else:
        text = print_value(kind_of(name), value)
    return text if len(text) <= 1000 else f"{text[:999]}…"


def model_explorer_text(module: HloModule, kept: Set[HloInstruction] | None = None) -> str:
    """`as_model_explorer` as JSON."""
    return json.dumps(as_model_explorer(module, kept), indent=1) + "\n"
