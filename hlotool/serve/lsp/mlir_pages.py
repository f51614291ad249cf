"""Shows an editor an MLIR text: pages of operations and values, an outline, folds, and its printed form."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types as lsp

from hlotool import mlir
from hlotool.diagnostics import visible
from hlotool.ops import OPS
from hlotool.serve.lsp.document import MlirPart
from hlotool.serve.lsp.features import Places, block_of_code, hover_page, summary
from hlotool.serve.lsp.mlir_names import Binding
from hlotool.serve.lsp.symbols import MOST_LISTED

#: characters of a type or a statement that is shown
_LONGEST = 400
_KINDS = lsp.SymbolKind


def page_at(part: MlirPart, places: Places, offset: int) -> lsp.Hover | None:
    """Return what is known of a value, a symbol or an operation at a place of a text."""
    named = part.names.at(offset)
    if named is not None and isinstance(named.item, Binding):
        return hover_page(_binding_page(named.item), places.of(part, named.start, named.end))
    found = part.names.operation_at(offset)
    if found is None:
        return None
    return hover_page(_operation_page(found[0]), places.of(part, *found[1:]))


def _binding_page(binding: Binding) -> str:
    if binding.is_symbol:
        return block_of_code(f"{binding.operation.name} @{binding.name}{_signature(binding.operation)}"[:_LONGEST],
                             "mlir")
    types = ", ".join(dict.fromkeys(mlir.value_text(v.type) for v in binding.values))
    shown = block_of_code(f"%{binding.name} : {types}"[:_LONGEST], "mlir")
    if isinstance(binding.values[0].owner, mlir.Block):
        return f"{shown}\n\nan argument of `{visible(binding.operation.name)}`"
    return f"{shown}\n\n{_operation_page(binding.operation)}"


def _signature(operation: mlir.Operation) -> str:
    given = operation.attribute("function_type")
    return mlir.value_text(given.type) if isinstance(given, mlir.TypeAttribute) else ""


def _operation_page(operation: mlir.Operation) -> str:
    """Return an operation with its types and attributes, and what HLO's operation of the same meaning does."""
    operands = ", ".join(f"%{v.name}: {mlir.value_text(v.type)}" for v in operation.operands)
    results = ", ".join(mlir.value_text(v.type) for v in operation.results)
    parts = [block_of_code(f"{operation.name}({operands}) -> ({results})"[:_LONGEST], "mlir")]
    given = {n: v for n, v in (operation.properties | operation.attributes).items() if n != "sym_name"}
    if given:
        parts.append("\n".join(f"- {name}: `{_short(mlir.value_text(value))}`" for name, value in given.items()))
    if operation.location != mlir.UNKNOWN:
        parts.append(f"from `{_short(mlir.value_text(operation.location))}`")
    parts += [text for opcode in OPS if operation.name in OPS[opcode].lowering.names for text in summary(opcode)][:3]
    return "\n\n".join(parts)


def _short(text: str) -> str:
    text = visible(text).replace("`", "'")
    return text if len(text) <= 120 else f"{text[:119]}…"


# Structure

def mlir_symbols(part: MlirPart, places: Places) -> list[lsp.DocumentSymbol]:
    """Return the functions of a text with their operations inside; of a long text those that hold or call others."""
    is_short = len(part.names.operations) > MOST_LISTED
    room, found = MOST_LISTED, []
    for function, start, end in _functions(part):
        name, at = _named(part, function)
        inside = [o for region in function.regions for block in region.blocks for o in block.operations if o.start >= 0]
        listed = [o for o in inside if not is_short or o.regions or o.attribute("callee") is not None][:room]
        room -= len(listed)
        detail = f"{len(listed):,} of {len(inside):,} operations" if len(listed) < len(inside) else ""
        found.append(lsp.DocumentSymbol(
            visible(name), _KINDS.Function, places.of(part, start, end), places.of(part, at, at + len(name)),
            detail=detail, children=[_child(part, places, o) for o in listed]))
    return found


def _child(part: MlirPart, places: Places, operation: mlir.Operation) -> lsp.DocumentSymbol:
    names = ", ".join(dict.fromkeys(f"%{v.name}" for v in operation.results))
    types = ", ".join(mlir.value_text(v.type) for v in operation.results)
    end = part.source.text.find("\n", operation.start)
    where = places.of(part, operation.start, end if end >= 0 else len(part.source.text))
    return lsp.DocumentSymbol(visible(names or operation.name), _KINDS.Variable, where, where,
                              detail=_short(f"{types} {operation.name}".strip()))


def _functions(part: MlirPart) -> Iterator[tuple[mlir.Operation, int, int]]:
    """Yield the operations that are named and hold regions, with where their text begins and ends."""
    named = [o for o in part.names.operations if o.regions and o.attribute("sym_name") is not None
             and o.name != "builtin.module"]
    for function, following in zip(named, [*named[1:], None], strict=True):
        end = following.start if following is not None else len(part.source.text)
        last = max((o.start for o in mlir.walk(function)), default=function.start)
        closing = part.source.text.find("\n", part.source.text.find("}", last, end))
        yield function, function.start, closing if last < closing < end else end


def _named(part: MlirPart, function: mlir.Operation) -> tuple[str, int]:
    name = function.attribute("sym_name")
    text = name.text if isinstance(name, mlir.StringAttribute) else ""
    at = part.source.text.find(f"@{text}", function.start)
    return (text, at + 1) if at >= 0 else (function.name, function.start)


def mlir_folding(part: MlirPart) -> list[lsp.FoldingRange]:
    """Return the functions that take more than a line."""
    rows = [(part.source.position(start).line - 1, part.source.position(end).line - 1)
            for _, start, end in _functions(part)]
    return [lsp.FoldingRange(first, last, kind=lsp.FoldingRangeKind.Region) for first, last in rows if last > first]

