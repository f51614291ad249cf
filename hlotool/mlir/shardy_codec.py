"""The encodings of Shardy's attributes, which artifacts carry beside VHLO, read as the bodies of their texts.

They are written as texts, which every reader of bytecode takes. Source: Shardy, bytecode.td, attrs.td, printers.cc.
"""

from __future__ import annotations

from typing import Any

from hlotool.mlir import builtin_values as mlir
from hlotool.mlir.print_values import quoted, symbol
from hlotool.mlir.value_codec import (
    ATTRIBUTE,
    ATTRIBUTES,
    FLAG,
    SIGNED,
    SIGNED_LIST,
    STRING,
    Codec,
    Encoding,
    FieldKind,
    ValueSource,
)

#: letters of the factors of a rule; more of them are z_1, z_2 and so on
_LETTERS = "ijklmnopqrstuvwxyz"


def _read_optional(source: ValueSource, done: list[Any]) -> Any:
    index, is_there = source.cursor.flagged()
    return source.attribute_at(index) if is_there else None


def _read_optional_number(source: ValueSource, done: list[Any]) -> int | None:
    value, is_there = source.cursor.flagged()
    return value if is_there else None


def _unwritten(sink: Any, value: Any, done: list[Any]) -> None:
    """Fail: SHARDY has no numbers to write by, so that each value is written as its text."""
    raise AssertionError("Shardy's attributes are written as texts")


_OPTIONAL = FieldKind(_read_optional, _unwritten)
_PRIORITY = FieldKind(_read_optional_number, _unwritten)


def body_of(value: Any) -> str:
    """Return the text between the angle brackets of a Shardy attribute. Raises TypeError for any other."""
    if not isinstance(value, mlir.DialectAttribute) or value.dialect != "sdy":
        raise TypeError("an attribute of Shardy holds one that is none")
    return "".join([p.text for _, p in value.parameters if isinstance(p, mlir.Bracketed)])


def _bodies(values: Any, separator: str = ", ") -> str:
    return separator.join([body_of(v) for v in values])


def _attribute(mnemonic: str, body: str) -> mlir.DialectAttribute:
    return mlir.DialectAttribute("sdy", mnemonic, (("", mlir.Bracketed(body)),))


def _manual_axes(names: Any) -> Any:
    if any(not isinstance(n, mlir.StringAttribute) for n in names):
        raise TypeError("the name of an axis is no string")
    return _attribute("", f"manual_axes{{{', '.join([quoted(n.text) for n in names])}}}")


def _mesh(axes: Any, devices: Any) -> Any:
    ids = f", device_ids=[{', '.join(map(str, devices))}]" if devices else ""
    return _attribute("mesh", f"[{_bodies(axes)}]{ids}")


def _axis(name: str, part: Any) -> Any:
    return _attribute("axis_ref", quoted(name) + ("" if part is None else f":{body_of(part)}"))


def _dimension(axes: Any, is_closed: bool, priority: int | None) -> Any:
    listed = [body_of(a) for a in axes] + ([] if is_closed else ["?"])
    return _attribute("dimension_sharding", f"{{{', '.join(listed)}}}{'' if priority is None else f'p{priority}'}")


def _sharding(mesh: Any, dimensions: Any, replicated: Any, unreduced: Any = ()) -> Any:
    of = symbol(mesh.names) if isinstance(mesh, mlir.SymbolAttribute) else f"mesh<{body_of(mesh)}>"
    axes = "".join([f", {word}={{{_bodies(listed)}}}"
                    for word, listed in (("replicated", replicated), ("unreduced", unreduced)) if listed])
    return _attribute("sharding", f"{of}, [{_bodies(dimensions)}]{axes}")


def _per_value(shardings: Any) -> Any:
    return _attribute("sharding_per_value", f"[{', '.join([f'<{body_of(s)}>' for s in shardings])}]")


def _factor(index: int) -> str:
    return _LETTERS[index] if index < len(_LETTERS) else f"z_{index - len(_LETTERS) + 1}"


def _checked(indices: Any) -> Any:
    if any(i < 0 for i in indices):
        raise TypeError("a factor has a number less than zero")
    return indices


def _rule(sizes: Any, operands: Any, results: Any, reduction: Any, replication: Any, permutation: Any, blocked: Any,
          is_custom: bool) -> Any:
    factors = ", ".join([f"{_factor(n)}={size}" for n, size in enumerate(sizes)])
    special = "".join([f" {word}={{{', '.join([_factor(n) for n in _checked(given)])}}}" for word, given in (
        ("reduction", reduction), ("need_replication", replication), ("permutation", permutation),
        ("blocked_propagation", blocked)) if given])
    return _attribute("op_sharding_rule", f"({_bodies(operands)})->({_bodies(results)})"
                      f"{f' {{{factors}}}' if factors else ''}{special}{', custom' if is_custom else ''}")


def _row(kinds: tuple[FieldKind, ...], build: Any) -> Encoding:
    return Encoding(kinds, build, lambda value: ())


SHARDY = Codec({
    0: _row((ATTRIBUTES,), _manual_axes),
    1: _row((STRING, SIGNED), lambda name, size: _attribute("mesh_axis", f"{quoted(name)}={size}")),
    2: _row((ATTRIBUTES, SIGNED_LIST), _mesh),
    3: _row((SIGNED, SIGNED), lambda before, size: _attribute("sub_axis_info", f"({before}){size}")),
    4: _row((STRING, _OPTIONAL), _axis),
    5: _row((ATTRIBUTES, FLAG, _PRIORITY), _dimension),
    6: _row((ATTRIBUTE, ATTRIBUTES, ATTRIBUTES), _sharding),
    7: _row((ATTRIBUTES,), _per_value),
    8: _row((SIGNED_LIST,), lambda all: _attribute("dim_mapping", "".join([_factor(n) for n in _checked(all)]))),
    9: _row((ATTRIBUTES,), lambda all: _attribute("tensor_mapping", f"[{_bodies(all)}]")),
    10: _row((SIGNED_LIST, ATTRIBUTES, ATTRIBUTES, *[SIGNED_LIST] * 4, FLAG), _rule),
    11: _row((ATTRIBUTES,), lambda all: _attribute("axis_ref_list", f"{{{_bodies(all)}}}")),
    12: _row((ATTRIBUTES,), lambda all: _attribute("", f"list_of_axis_ref_lists[{_bodies(all)}]")),
    13: _row((ATTRIBUTES, SIGNED, SIGNED), lambda all, source, target: _attribute(
        "all_to_all_param", f"{{{_bodies(all)}}}: {source}->{target}")),
    14: _row((ATTRIBUTES,), lambda all: _attribute("", f"all_to_all_param_list[{_bodies(all)}]")),
    15: _row((ATTRIBUTE, ATTRIBUTES, ATTRIBUTES, ATTRIBUTES), _sharding),
    16: _row((ATTRIBUTES,), _per_value),
}, {}, lambda value: None)

#: the properties of Shardy's operations, in the order of the bytes
SHARDY_PROPERTIES = {
    "mesh": ("mesh", "sym_name"),
    "sharding_constraint": ("sharding",),
    "reshard": ("sharding",),
    "return": (),
    "manual_computation": ("in_shardings", "manual_axes", "out_shardings"),
    "sharding_group": ("group_id",),
    "constant": ("value",),
    "propagation_barrier": ("allowed_direction",),
    "named_computation": ("in_shardings?", "name", "out_shardings?"),
}
