"""Shardings and replica groups: text to values, by sharding.lark."""

from __future__ import annotations

from typing import Any

from hlotool.ir import AxisRef, DimSharding, Domain, IotaTile, Mesh, ReplicaGroups, Sharding, mesh_problem
from hlotool.text.phrase_errors import BAD_SHARDING, WHOLE, PhraseError
from hlotool.text.phrase_reading import PhraseReader
from hlotool.text.quoting import unquote

_KINDS = ("replicated", "maximal", "manual", "unknown", "unreduced")


def _wrong(message: str) -> PhraseError:
    return PhraseError(BAD_SHARDING, message, 0, WHOLE)


class _ShardingBuilder:
    """One method for each rule of sharding.lark."""

    def empty(self) -> Sharding:
        return Sharding("tuple")

    def tuple(self, *elements: Sharding) -> Sharding:
        return Sharding("tuple", elements=elements)

    def flags(self, *items: Any) -> Sharding:
        return _device_sharding(list(items))

    def flag(self, token: Any) -> Any:
        return "flag", str(token)

    def device(self, token: Any) -> Any:
        return "device", int(token)

    def device_list(self, dims: Any, devices: Any) -> Any:
        return "devices", (dims, devices)

    def iota_devices(self, iota: IotaTile) -> Any:
        return "devices", (iota.dims, iota)

    def last_tile_dims(self, *tokens: Any) -> Any:
        return "last_tile_dims", tuple(str(t) for t in tokens if t is not None)

    def shard_group(self, word: Any, number: Any) -> Any:
        return "shard_group", (str(word), int(number))

    def braces(self, *pieces: str) -> str:
        return "".join(pieces)

    inner_braces = braces

    def metadata(self, text: Any) -> Any:
        return "metadata", str(text)

    def tile_shape(self, *ignored: Any) -> Any:
        return "tile_shape", None

    def ints(self, *tokens: Any) -> Any:
        return tuple(map(int, tokens))

    def iota(self, dims: Any, reshape: Any, permutation: Any) -> IotaTile:
        return _iota(dims, reshape, permutation)

    def mesh(self, *parts: Any) -> Mesh:
        *axes, ids = parts
        return _mesh(tuple(a for a in axes if a is not None), ids)

    def axis(self, name: Any, size: Any) -> Any:
        return name, int(size)

    def axis_name(self, token: Any) -> str:
        return unquote(token) if token[0] in "\"'" else str(token)

    def iota_ids(self, reshape: Any, permutation: Any) -> Any:
        return "iota", reshape, permutation

    def maximal_mesh(self, device: Any) -> Mesh:
        return Mesh((), maximal_device=int(device))

    def named_maximal(self, mesh: Mesh, metadata: Any) -> Sharding:
        return Sharding("named", mesh=mesh, metadata=metadata[1] if metadata else None)

    def bare_mesh(self, mesh: Mesh) -> Sharding:
        raise _wrong("expected the dimensions' axes, replicated, unreduced or manual after the mesh")

    def named(self, mesh: Mesh, rest: dict[str, Any]) -> Sharding:
        return _named(mesh, rest)

    def whole(self, flag: Any, metadata: Any = None) -> dict[str, Any]:
        return {"whole": str(flag), "metadata": metadata[1] if metadata else None}

    def parts(self, *items: Any) -> dict[str, Any]:
        dims = tuple(i for i in items if isinstance(i, DimSharding))
        return {"dim_shardings": dims, **_unique([i for i in items if type(i) is not DimSharding and i])}

    def dim(self, *items: Any) -> DimSharding:
        *axes, priority = items
        axes = [a for a in axes if a is not None]
        if any(a == "?" for a in axes[:-1]):
            raise _wrong("'?' must stand last in a dimension")
        is_open = bool(axes) and axes[-1] == "?"
        refs = tuple(axes[:-1] if is_open else axes)
        return DimSharding(refs, is_open, int(priority[1:]) if priority else None)

    def open(self) -> str:
        return "?"

    def axes_part(self, name: Any, reduction: Any, refs: Any) -> Any:
        if reduction is not None and name != "unreduced=":
            raise _wrong(f"only unreduced axes take a reduction, not {name[:-1]}")
        return str(name)[:-1], (refs or (), str(reduction) if reduction else None)

    def axis_refs(self, *refs: Any) -> Any:
        return refs

    def axis_ref(self, name: str, pre: Any, size: Any) -> AxisRef:
        return AxisRef(name, None if pre is None else int(pre), None if size is None else int(size))

    def group(self, ids: Any) -> Any:
        return ids or ()

    def group_list(self, *groups: Any) -> ReplicaGroups:
        return ReplicaGroups(tuple(g for g in groups if g is not None))

    def group_iota(self, iota: IotaTile) -> ReplicaGroups:
        if len(iota.dims) != 2:
            raise _wrong(f"replica groups have two dimensions, groups and members, not {len(iota.dims)}")
        return ReplicaGroups(iota=iota)

    def group_mesh(self, mesh: Mesh, axes: Any) -> ReplicaGroups:
        return ReplicaGroups(mesh=mesh, axes=_resolved(mesh, axes or ()))

    def domain(self, *parts: Any) -> Domain:
        found = dict(parts)
        missing = [k for k in ("kind", "entry", "exit") if k not in found]
        if missing or len(parts) != 3:
            raise PhraseError(BAD_SHARDING, f"a domain needs kind, entry and exit, each once; missing: "
                              f"{', '.join(missing) or 'nothing'}", 0, WHOLE)
        if found["kind"] != "sharding":
            raise PhraseError(BAD_SHARDING, f"unsupported kind of domain: {found['kind']}", 0, WHOLE)
        return Domain(found["kind"], found["entry"], found["exit"])

    def domain_kind(self, token: Any) -> Any:
        return "kind", unquote(token)

    def domain_entry(self, sharding: Any) -> Any:
        return "entry", sharding

    def domain_exit(self, sharding: Any) -> Any:
        return "exit", sharding


def _iota(dims: tuple[int, ...], reshape: tuple[int, ...], permutation: tuple[int, ...] | None) -> IotaTile:
    if permutation is None:
        if len(reshape) > 1:
            raise _wrong(f"the reshape list {list(reshape)} needs an order T(...)")
        permutation = (0,)
    if sorted(permutation) != list(range(len(reshape))):
        raise _wrong(f"T{permutation} is not an order of the {len(reshape)} reshape dimensions")
    return IotaTile(dims, reshape, permutation)


def _mesh(axes: tuple[tuple[str, int], ...], ids: Any) -> Mesh:
    sizes = tuple(size for _, size in axes)
    if len({name for name, _ in axes}) != len(axes):
        raise _wrong("two axes of the mesh have the same name")
    made = Mesh(axes, _iota(sizes, ids[1], ids[2]) if ids is not None and ids[:1] == ("iota",) else ids)
    if problem := mesh_problem(made):
        raise _wrong(problem)
    return made


def _unique(items: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(items)
    if len(found) != len(items):
        raise _wrong("a part of the sharding is given twice")
    return found


def _resolved(mesh: Mesh, refs: tuple[AxisRef, ...]) -> tuple[AxisRef, ...]:
    """The axes by their names: as XLA, one may be given by its number. Raises PhraseError for what the mesh lacks."""
    numbered = {str(number): name for number, (name, _) in enumerate(mesh.axes)}
    known = {**numbered, **{name: name for name, _ in mesh.axes}}
    for ref in refs:
        if ref.name not in known:
            raise _wrong(f"the mesh has no axis '{ref.name}'")
    found = tuple(AxisRef(known[r.name], r.pre_size, r.size) for r in refs)
    if problem := mesh_problem(mesh, found):
        raise _wrong(problem)
    return found


def _named(mesh: Mesh, rest: dict[str, Any]) -> Sharding:
    whole = rest.get("whole")
    every = tuple(AxisRef(name) for name, _ in mesh.axes)
    if whole is not None:
        if whole not in ("replicated", "unreduced", "manual"):
            raise _wrong(f"expected replicated, unreduced or manual after the mesh, not {whole}")
        return Sharding("named", mesh=mesh, metadata=rest["metadata"],
                        unreduced_axes=every if whole == "unreduced" else (),
                        manual_axes=every if whole == "manual" else ())
    unreduced, reduction = rest.get("unreduced", ((), None))
    dims = tuple(DimSharding(_resolved(mesh, d.axes), d.is_open, d.priority) for d in rest["dim_shardings"])
    return Sharding("named", mesh=mesh, dim_shardings=dims, metadata=rest.get("metadata"),
                    replicated_axes=_resolved(mesh, rest.get("replicated", ((), None))[0]),
                    unreduced_axes=_resolved(mesh, unreduced),
                    manual_axes=_resolved(mesh, rest.get("manual", ((), None))[0]),
                    unreduced_kind=reduction if unreduced else None)


def _device_sharding(items: list[tuple[str, Any]]) -> Sharding:
    """Return a sharding of the first two generations. XLA: ParseSingleSharding."""
    flags = [value for name, value in items if name == "flag"]
    parts = dict(i for i in items if i[0] not in ("flag", "tile_shape"))
    kind = next((k for k in _KINDS if k in flags), "tiled")
    common: dict[str, Any] = {"shard_group": parts.get("shard_group"), "metadata": parts.get("metadata")}
    if kind == "maximal":
        if "device" not in parts:
            raise _wrong("a maximal sharding needs one device: {maximal device=0}")
        return Sharding("maximal", device=parts["device"], **common)
    if kind != "tiled":
        if "devices" in parts or "device" in parts:
            raise _wrong(f"a {kind} sharding has no devices")
        return Sharding(kind, **common)
    if "devices" not in parts:
        raise _wrong("expected replicated, maximal, manual or devices=[...]")
    dims, devices = parts["devices"]
    _check_tiles(dims, devices)
    return Sharding("tiled", tile_dims=dims, devices=devices, last_tile_dims=parts.get("last_tile_dims", ()),
                    last_tile_dim_replicate="last_tile_dim_replicate" in flags, **common)


def _check_tiles(dims: tuple[int, ...], devices: Any) -> None:
    if isinstance(devices, IotaTile):
        return
    if len(devices) < 2:
        raise _wrong("a tiled sharding needs more than one device")


SHARDINGS = PhraseReader("sharding", _ShardingBuilder)
