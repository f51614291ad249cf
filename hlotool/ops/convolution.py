"""convolution: windows, strides, dilations, reversal and both kinds of groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from hlotool.ir import (
    UNBOUNDED,
    ConvolutionDimensions,
    DType,
    HloInstruction,
    Shape,
    Sparsity,
    Window,
    WindowDimension,
    lazy_dataclass,
)
from hlotool.ir.arrays import Array, np
from hlotool.ops import window_maps
from hlotool.ops.agreement import features
from hlotool.ops.contraction import precision_config, precision_words, result_type
from hlotool.ops.costs import extent, flops
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.freedom import Freedom
from hlotool.ops.groups import lifted_table
from hlotool.ops.long_loops import in_time
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value, i64, i64_array, i64_tensor
from hlotool.ops.numbers import converted, narrow, product_dtype, wide_dtype
from hlotool.ops.random_programs import ORDERLESS, Draw
from hlotool.ops.registry import op, require
from hlotool.ops.relation_files import relation_folds
from hlotool.ops.rules import NUMERIC, require_array, same_dims, same_size
from hlotool.ops.sparsity import dense_operands, dense_size, require_sparsity
from hlotool.ops.values import EvaluationError

NO_WINDOW = Window()
Ints = tuple[int, ...]
#: kinds whose labels and window are those of the forward convolution, in XLA since 2026; before, only a name
GRADIENTS = ("dgrad", "wgrad")


@lazy_dataclass(frozen=True, slots=True)
class Roles:
    """Where one array's dimensions stand: its two named ones and the spatial ones in order."""

    first: int
    second: int
    spatial: tuple[int, ...]

    @staticmethod
    def of(labels: str, first: str, second: str) -> Roles | None:
        """None where the labels are not a permutation of the two letters and 0, 1, ..., n-1."""
        spatial = sorted(c for c in labels if c.isdigit())
        if sorted(labels) != sorted([first, second, *map(str, range(len(spatial)))]):
            return None
        return Roles(labels.index(first), labels.index(second),
                     tuple(labels.index(str(i)) for i in range(len(spatial))))


def dilated(size: int, factor: int) -> int:
    """The extent of `size` elements with factor - 1 holes between neighbours."""
    return 0 if size == 0 else (size - 1) * factor + 1


def window_output(size: int, d: WindowDimension) -> int:
    """How many places the window takes along a dimension. Source: XLA, ShapeInference::InferWindowOutputShape."""
    if size == UNBOUNDED:
        return UNBOUNDED
    padded = dilated(size, d.base_dilation) + d.pad_low + d.pad_high
    extent = dilated(d.size, d.window_dilation)
    return 0 if padded == 0 or extent > padded else (padded - extent) // d.stride + 1


def convolution_shape(lhs: Shape, rhs: Shape, *sparsity: Shape, window: Window | None = None,
                      dim_labels: ConvolutionDimensions, feature_group_count: int = 1, batch_group_count: int = 1,
                      sparsity_config: Sparsity | None = None, convolution_kind: str = "fprop",
                      declared: Shape | None = None) -> Shape:
    """Constraints 1 to 21 of convolution."""
    require_array(lhs, "convolution-c1", "lhs")
    require_array(rhs, "convolution-c1", "rhs")
    require(_mix(lhs.dtype, rhs.dtype), "convolution-c14",
            f"lhs is {lhs.text(False)}, rhs is {rhs.text(False)}: {lhs.element_type} and {rhs.element_type} do not mix")
    require(not sparsity or sparsity_config is not None, "convolution-c2",
            f"{2 + len(sparsity)} operands are given; more than two need sparsity_config")
    require(feature_group_count > 0, "convolution-c3", f"feature_group_count is {feature_group_count}",
            attribute="feature_group_count")
    require(batch_group_count > 0, "convolution-c4", f"batch_group_count is {batch_group_count}",
            attribute="batch_group_count")
    require(min(feature_group_count, batch_group_count) == 1, "convolution-c5",
            f"feature_group_count is {feature_group_count} and batch_group_count {batch_group_count}: one must be 1",
            attribute="feature_group_count")
    require_sparsity(sparsity_config, (lhs, rhs, *sparsity))
    rows = (window or NO_WINDOW).dimensions
    roles = _require_labels(lhs, rhs, dim_labels, rows)
    groups = feature_group_count, batch_group_count
    if convolution_kind in GRADIENTS and declared is not None and not _is_forward(lhs, rhs, declared, roles, rows):
        _require_gradient(lhs, rhs, roles, rows, groups, convolution_kind)
        return declared
    _require_window(rhs, roles[1], rows)
    _require_groups(lhs, rhs, roles, groups, sparsity_config)
    return _output(lhs, rhs, roles, rows, batch_group_count).with_element_type(result_type(lhs, rhs, declared))


def _is_forward(lhs: Shape, rhs: Shape, declared: Shape, roles: tuple[Roles, Roles, Roles],
                rows: Sequence[WindowDimension]) -> bool:
    """Return True if a gradient is written as the convolution that computes it, as by XLA's releases up to 2026."""
    image, kernel, _ = roles
    if lhs.dims[image.second] != rhs.dims[kernel.first] or min((d.stride for d in rows), default=1) < 1:
        return False
    return same_dims(_output(lhs, rhs, roles, rows, 1), declared)


def _require_gradient(lhs: Shape, rhs: Shape, roles: tuple[Roles, Roles, Roles], rows: Sequence[WindowDimension],
                      groups: tuple[int, int], kind: str) -> None:
    """Labels are those of the forward convolution: dgrad goes from its result and kernel to its image, wgrad from
    image and result to the kernel. Source: XLA, ShapeInference::InferConvolveShape of 2026."""
    image, kernel, _ = roles
    if kind == "dgrad":
        _require_window(rhs, kernel, rows)
        features, outer = lhs.dims[image.second], rhs.dims[kernel.second]
        require(UNBOUNDED in (features, outer) or features == groups[0] * outer, "convolution-c20",
                f"lhs {lhs.text(False)} has {features} features, the kernel {rhs.text(False)} gives {outer} "
                f"in each group; feature_group_count is {groups[0]}", attribute="feature_group_count")
    else:
        # Which of rhs's two named dimensions holds the batch differs between versions.
        batch, right = lhs.dims[image.first], (rhs.dims[kernel.first], rhs.dims[kernel.second])
        require(any(same_size(batch, size) for size in right), "convolution-c21",
                f"lhs {lhs.text(False)} has the batch size {batch}, rhs {rhs.text(False)} has {right[0]} or {right[1]}")


def _size(size: int) -> str:
    return "?" if size == UNBOUNDED else str(size)


def _mix(a: DType, b: DType) -> bool:
    """Return True if one product holds both: integers and floats do where the float holds each integer exactly."""
    if a.is_integral and b.is_floating:
        return a.bits - (a.family == "signed") <= b.mantissa_bits + 1
    if a.is_floating and b.is_integral:
        return _mix(b, a)
    return a.family == b.family or (a.is_integral and b.is_integral)


def _require_labels(lhs: Shape, rhs: Shape, labels: ConvolutionDimensions,
                    rows: Sequence[WindowDimension]) -> tuple[Roles, Roles, Roles]:
    sides = ((labels.lhs, "b", "f", "lhs"), (labels.rhs, "i", "o", "rhs"), (labels.output, "b", "f", "output"))
    found = []
    for text, first, second, name in sides:
        # `?` marks a dimension without a role.
        roles = Roles.of(text, first, second)
        require(roles is not None, "convolution-c6",
                f"the {name} labels {text} are no permutation of {first}, {second} and the spatial 0, 1, ...",
                attribute="dim_labels")
        assert roles is not None
        found.append(roles)
    n = len(found[0].spatial)
    require(all(len(r.spatial) == n for r in found), "convolution-c6",
            f"{labels.lhs}_{labels.rhs}->{labels.output}: the numbers of spatial dimensions differ",
            attribute="dim_labels")
    require(len(rows) == n, "convolution-c7",
            f"the window has {len(rows)} dimensions, the labels name {n} spatial ones", attribute="window")
    for shape, name in ((lhs, "lhs"), (rhs, "rhs")):
        require(shape.rank == n + 2, "convolution-c8",
                f"{name} is {shape.text(False)}; with {n} spatial dimensions it must have {n + 2} dimensions")
    return found[0], found[1], found[2]


def _require_window(rhs: Shape, kernel: Roles, rows: Sequence[WindowDimension]) -> None:
    for i, row in enumerate(rows):
        require(min(row.size, row.stride, row.base_dilation, row.window_dilation) > 0, "convolution-c9",
                f"window dimension {i} has size {row.size}, stride {row.stride}, dilations {row.base_dilation} and "
                f"{row.window_dilation}; all must be positive", attribute="window")
        size = rhs.dims[kernel.spatial[i]]
        require(row.size == size, "convolution-c10",
                f"window dimension {i} has size {row.size}, the kernel {rhs.text(False)} has {_size(size)} there",
                attribute="window")


def _require_groups(lhs: Shape, rhs: Shape, roles: tuple[Roles, Roles, Roles], groups: tuple[int, int],
                    sparsity: Sparsity | None) -> None:
    feature_groups, batch_groups = groups
    batch, outer = lhs.dims[roles[0].first], rhs.dims[roles[1].second]
    features, inner = lhs.dims[roles[0].second], rhs.dims[roles[1].first]
    if sparsity is not None:
        features = dense_size(features, roles[0].second, sparsity.lhs)
        inner = dense_size(inner, roles[1].first, sparsity.rhs)
    # XLA compares what is written: of two unbounded sizes it believes that they fit, of one it does not.
    fits = features == inner and feature_groups == 1 if UNBOUNDED in (features, inner) \
        else features == inner * feature_groups
    require(fits, "convolution-c11",
            f"lhs {lhs.text(False)} has {_size(features)} features, the kernel {rhs.text(False)} takes {_size(inner)} "
            f"in each group; feature_group_count is {feature_groups}", attribute="feature_group_count")
    require(not rhs.is_dynamic_dim(roles[1].second), "convolution-c15",
            f"the kernel is {rhs.text(False)}: its output features are dynamic")
    for count, name in ((feature_groups, "feature_group_count"), (batch_groups, "batch_group_count")):
        require(outer == UNBOUNDED or outer % count == 0, "convolution-c12",
                f"the kernel {rhs.text(False)} gives {outer} features, which {name} {count} does not divide",
                attribute=name)
    require(batch == UNBOUNDED or batch % batch_groups == 0, "convolution-c13",
            f"lhs {lhs.text(False)} has batch size {batch}, which batch_group_count {batch_groups} does not divide",
            attribute="batch_group_count")


def _output(lhs: Shape, rhs: Shape, roles: tuple[Roles, Roles, Roles], rows: Sequence[WindowDimension],
            batch_groups: int) -> Shape:
    image, kernel, out = roles
    dims, flags = [0] * lhs.rank, [False] * lhs.rank
    batch = lhs.dims[image.first]
    dims[out.first] = UNBOUNDED if batch == UNBOUNDED else batch // batch_groups
    flags[out.first] = lhs.is_dynamic_dim(image.first)
    dims[out.second] = rhs.dims[kernel.second]
    for i, row in enumerate(rows):
        dims[out.spatial[i]] = window_output(lhs.dims[image.spatial[i]], row)
        flags[out.spatial[i]] = lhs.is_dynamic_dim(image.spatial[i]) or rhs.is_bounded_dim(kernel.spatial[i])
    return lhs.with_dims(tuple(dims), tuple(flags))


def _letters(labels: str) -> str:
    return "[" + ", ".join(labels) + "]"


def _product_type(instruction: HloInstruction) -> str:
    """The element type that operands of several types are multiplied in: floats stay floats."""
    widest = max((o.shape.dtype for o in instruction.operands), key=lambda d: (d.is_complex, d.is_floating, d.bits))
    real = instruction.shape.dtype
    return widest.name if real.is_integral and not widest.is_integral else real.name


def _emit_convolution(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    attributes = instruction.attributes
    if len(operands) > 2:
        e.refuse(instruction, "convolution with sparse operands has no StableHLO form")
    if attributes.get("convolution_kind") in GRADIENTS:
        e.refuse(instruction, "a convolution of kind dgrad or wgrad has no StableHLO form")
    rows = (attributes.get("window") or NO_WINDOW).dimensions
    labels = attributes["dim_labels"]
    reversal = ", ".join("true" if d.reversal else "false" for d in rows)
    padding = i64_tensor([(d.pad_low, d.pad_high) for d in rows]) if rows else "dense<> : tensor<0x2xi64>"
    if len({o.shape.element_type for o in instruction.operands}) > 1:
        # HLO multiplies as wide as the result is; StableHLO wants operands of one type.
        wide = _product_type(instruction)
        operands = [e.op("stablehlo.convert", [v], Shape.array(wide, o.shape.dims, None, o.shape.dynamic))
                    for o, v in zip(instruction.operands, operands, strict=True)]
    return e.op("stablehlo.convolution", operands, instruction.shape, {
        "window_strides": i64_array([d.stride for d in rows]), "padding": padding,
        "lhs_dilation": i64_array([d.base_dilation for d in rows]),
        "rhs_dilation": i64_array([d.window_dilation for d in rows]),
        "window_reversal": f"array<i1: {reversal}>" if rows else "array<i1>",
        "dimension_numbers":
            f"#stablehlo.conv<{_letters(labels.lhs)}x{_letters(labels.rhs)}->{_letters(labels.output)}>",
        "feature_group_count": i64(attributes.get("feature_group_count", 1)),
        "batch_group_count": i64(attributes.get("batch_group_count", 1)),
        "precision_config": precision_config(attributes)})


def _are_all_known(labels: ConvolutionDimensions, _: HloInstruction) -> bool:
    """Return True if every dimension has a role: StableHLO has no word for one that has none."""
    return "?" not in f"{labels.lhs}{labels.rhs}{labels.output}"


def _is_kernels(window: Window, instruction: HloInstruction) -> bool:
    """Return True if the sizes of a window are those of the kernel, where an import finds them."""
    kernel, rhs = instruction.operands[1].shape, instruction.attributes["dim_labels"].rhs
    return bool(window.dimensions) and len(rhs) == kernel.rank and all(
        str(i) in rhs and kernel.dims[rhs.index(str(i))] == row.size
        for i, row in enumerate(window.dimensions))


def lifted_padding(r: Reader, count: int) -> tuple[tuple[int, int], ...]:
    """The low and the high padding of each dimension of a window; none where the attribute is missing."""
    rows = lifted_table(r, "padding") if r.has("padding") else ((0, 0),) * count
    if len(rows) != count or any(len(row) != 2 for row in rows):
        r.refuse(f"its padding is {[list(row) for row in rows]}; it has two numbers for each of {count} dimensions")
    return tuple((low, high) for low, high in rows)


def lifted_row(r: Reader, attribute: str, count: int, default: int = 1) -> tuple[int, ...]:
    """The numbers of an attribute, one for each dimension of a window; the default's where it is missing or empty."""
    found = r.ints(attribute) or (default,) * count
    if len(found) != count:
        r.refuse(f"its {attribute} has {len(found)} numbers; it has one for each of {count} dimensions")
    return found


def _labels_of(r: Reader) -> ConvolutionDimensions:
    """Return the labels of the fields of #stablehlo.conv."""
    try:
        return ConvolutionDimensions.of_numbers(r.struct("dimension_numbers"))
    except KeyError as error:
        r.refuse(f"its dimension_numbers say nothing of {error}")


def _lift_convolution(r: Reader) -> HloInstruction:
    operands = r.operands()
    if (kinds := {o.shape.element_type for o in operands}) and len(kinds) > 1 and all(
            o.shape.dtype.is_integral for o in operands):
        r.refuse(f"its operands are of {' and '.join(sorted(kinds))}; StableHLO convolves integers of one type")
    labels = r.once("dimension_numbers", lambda: _labels_of(r))
    n, kernel = labels.spatial_rank, operands[1].shape
    strides, base = lifted_row(r, "window_strides", n), lifted_row(r, "lhs_dilation", n)
    holes, padding = lifted_row(r, "rhs_dilation", n), lifted_padding(r, n)
    reversal = lifted_row(r, "window_reversal", n, 0)
    rows = tuple(WindowDimension(kernel.dims[labels.rhs.index(str(i))], strides[i], *padding[i], base[i], holes[i],
                                 bool(reversal[i])) for i in range(n))
    attributes: dict[str, Any] = {"window": Window(rows)} if rows else {}
    attributes["dim_labels"] = labels
    for name in ("feature_group_count", "batch_group_count"):
        if r.int(name, 1) != 1:
            attributes[name] = r.int(name, 1)
    return r.add("convolution", r.shape(), operands, {**attributes, **precision_words(r)})


def _draw_convolution(d: Draw) -> None:
    n = 0 if d.edge("no spatial dimension") else d.between(1, 2)
    groups = (d.pick((2, 3)) if d.edge("feature groups") else 1), (2 if d.edge("batch groups") else 1)
    is_dilated, least = d.edge("dilated"), -1 if d.edge("negative padding") else 0
    rows, image, kernel = [], [], []
    for _ in range(n):
        size, dilation = d.between(1, 3), d.between(1, 2) if is_dilated else 1
        own = d.between(0 if d.edge("empty") else (size - 1) * dilation + 2, 6)
        rows.append((size, d.between(1, 2), f"{d.between(least, 2)}_{d.between(least, 2)}",
                     d.between(1, 2) if is_dilated else 1, dilation, int(d.edge("reversal"))))
        image.append(own)
        kernel.append(size)
    columns = zip(("size", "stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal"), zip(*rows, strict=True),
                  strict=False)
    window = " ".join(f"{name}={'x'.join(map(str, column))}" for name, column in columns)
    inner = d.between(1, 3)
    sizes = ({"b": d.between(1, 2) * groups[1], "f": inner * groups[0]} | dict(zip("0123", image, strict=False)),
             {"i": inner, "o": d.between(1, 2) * groups[0] * groups[1]} | dict(zip("0123", kernel, strict=False)))
    labels = ["".join(d.shuffled(roles)) for roles in ([*sizes[0]], [*sizes[1]], [*sizes[0]])]
    operands = [d.argument(tuple(side[role] for role in label), edges=ORDERLESS)
                for side, label in zip(sizes, labels, strict=False)]
    d.add("convolution", *operands, window=f"{{{window}}}" if n else None,
          dim_labels=f"{labels[0]}_{labels[1]}->{labels[2]}",
          feature_group_count=groups[0] if groups[0] > 1 else None,
          batch_group_count=groups[1] if groups[1] > 1 else None)


@flops
def _cost_of_convolution(instruction: HloInstruction) -> int:
    """A multiplication and an addition for each element of the image that a kernel's element meets.

    Padding and the holes of dilation are not computed. Source: XLA, HloCostAnalysis::GetConvolutionFlops.
    """
    attributes, labels = instruction.attributes, instruction.attributes["dim_labels"]
    roles = (Roles.of(labels.lhs, "b", "f"), Roles.of(labels.rhs, "i", "o"), Roles.of(labels.output, "b", "f"))
    image, kernel, out = roles
    if image is None or kernel is None or out is None:
        return 0
    rows = attributes.get("window", NO_WINDOW).dimensions
    lhs, rhs, result = _forward_shapes(instruction, (image, kernel, out), rows)
    met = math.prod(_met(lhs.dims[image.spatial[i]], result.dims[out.spatial[i]], row) for i, row in enumerate(rows))
    others = lhs.dims[image.first], rhs.dims[kernel.first], rhs.dims[kernel.second]
    pairs = math.prod(map(extent, others)) * met
    return 2 * pairs // max(int(attributes.get("batch_group_count", 1)), 1)


def _forward_shapes(instruction: HloInstruction, roles: tuple[Roles, Roles, Roles],
                    rows: Sequence[WindowDimension]) -> tuple[Shape, Shape, Shape]:
    """Image, kernel and result of the convolution whose products these are: of a gradient, the forward one."""
    (lhs, rhs), result = (o.shape for o in instruction.operands[:2]), instruction.shape
    kind = instruction.attributes.get("convolution_kind", "fprop")
    if kind not in GRADIENTS or _is_forward(lhs, rhs, result, roles, rows):
        return lhs, rhs, result
    return (result, rhs, lhs) if kind == "dgrad" else (lhs, result, rhs)


#: windows with more elements and places than this are counted as if each element met data
_MANY_POSITIONS = 1 << 16


def _met(size: int, places: int, row: WindowDimension) -> int:
    """Pairs of a place of the window and an element of it that lie on an element of the array, in one dimension."""
    if row.size > _MANY_POSITIONS:
        return places * row.size
    # Place p and window element k meet position p * stride + k * window_dilation - pad_low of the dilated array,
    # which is an element where base_dilation divides it.
    step = math.gcd(row.stride, row.base_dilation)
    period = row.base_dilation // step
    last, found = dilated(size, row.base_dilation) - 1, 0
    for k in range(row.size):
        shift = k * row.window_dilation - row.pad_low
        if shift % step:
            continue
        first = -(shift // step) * pow(row.stride // step, -1, period) % period
        low = max(0, -(shift // row.stride))
        low += (first - low) % period
        high = min(places - 1, (last - shift) // row.stride)
        found += max(0, (high - low) // period + 1)
    return found


@op(convolution_shape, element_types=NUMERIC, ulps=16, flags=("relayouts",), freedom=Freedom.SUMS, source=SPECIFICATION,
    lowering=Lowering(_emit_convolution, _lift_convolution, ("stablehlo.convolution",),
                      ("feature_group_count", "batch_group_count"),
                      {"window": _is_kernels, "dim_labels": _are_all_known}), draw=_draw_convolution,
    agreement=features, cost=_cost_of_convolution,
    index_map=window_maps.of_convolution, sharding=relation_folds.convolution)
def convolution(lhs: Array, rhs: Array, *sparsity: Array, window: Window | None = None,
                dim_labels: ConvolutionDimensions, feature_group_count: int = 1, batch_group_count: int = 1,
                operand_precision: tuple[str, ...] = (), sparsity_config: Sparsity | None = None,
                convolution_kind: str = "fprop", shape: Shape) -> Array:
    """Slide the kernel over the image and sum the products at each place.

    Padding may be negative: it cuts off elements after lhs dilation. Holes of padding and dilation are zero. Sums of
    floats are converted to an integral result at the end.

    C1   lhs and rhs are arrays.
    C2   Further operands, which describe sparsity, need sparsity_config.
    C3   feature_group_count is positive.
    C4   batch_group_count is positive.
    C5   One of the two group counts is 1.
    C6   dim_labels names each role once in each array, and as many spatial dimensions in all three.
    C7   The window has that many dimensions.
    C8   lhs and rhs have two dimensions more.
    C9   Window sizes, strides and dilations are positive.
    C10  Window sizes are those of the kernel.
    C11  lhs has feature_group_count times the kernel's input features.
    C12  Both group counts divide the kernel's output features.
    C13  batch_group_count divides the batch size.
    C14  Both hold integers, both floats or both complex numbers; or floats that hold the other's integers exactly.
    C15  The kernel's output features are not dynamic.
    C16  sparsity_config names, for the indices of lhs and rhs, an operand after these two.
    C17  The operands with the indices are arrays.
    C18  lhs and rhs do not share one.
    C19  A sparsity counts stored elements and block size, both positive; of rhs one element is stored in a block.
    C20  The data gradient (dgrad): lhs has feature_group_count times the kernel's output features.
    C21  The weight gradient (wgrad): a named dimension of rhs has the batch size of lhs.

    convolution_kind says that the operation is a gradient; without one, or as fprop, it is what is written here.
    A sparse operand holds a few elements of each block along its feature dimension, the others being zero.
    """
    if convolution_kind in GRADIENTS:
        raise EvaluationError(f"a convolution of kind {convolution_kind} has no reference: what its labels and window "
                              "mean differs between versions of XLA")
    lhs, rhs = dense_operands((lhs, rhs, *sparsity), sparsity_config)
    rows = (window or NO_WINDOW).dimensions
    target = shape.dtype.numpy
    kind = product_dtype(target, lhs, rhs)
    wide = wide_dtype(kind, precise=True)
    image, kernel, out = (Roles.of(text, *letters) for text, letters in (
        (dim_labels.lhs, "bf"), (dim_labels.rhs, "io"), (dim_labels.output, "bf")))
    assert image and kernel and out
    base = converted(converted(lhs, kind), wide).transpose(image.first, image.second, *image.spatial)
    taps = converted(converted(rhs, kind), wide).transpose(kernel.second, kernel.first, *kernel.spatial)
    for i, row in enumerate(rows):
        base = _spread(base, i + 2, row)
        taps = np.flip(taps, i + 2) if row.reversal else taps
    groups = (feature_group_count, batch_group_count)
    parts = _slide(base, taps, rows, _places(shape, out.spatial, base, taps, rows), groups)
    places = (out.first, out.second, *out.spatial)
    found = converted(narrow(parts, kind), np.dtype(target))
    return np.asarray(found.transpose(np.argsort(places)), order="C")


def _places(shape: Shape, spatial: Ints, base: Array, taps: Array, rows: Sequence[WindowDimension]) -> list[int]:
    """How many places the window has along each dimension: of a bounded one as many as its size of now allows."""
    found = []
    for at, (d, row) in enumerate(zip(spatial, rows, strict=True), 2):
        room = base.shape[at] - dilated(taps.shape[at], row.window_dilation)
        now = room // row.stride + 1 if room >= 0 else 0
        found.append(now if shape.is_dynamic_dim(d) else shape.dims[d])
    return found


def _spread(array: Array, axis: int, row: WindowDimension) -> Array:
    """Dilate and pad one dimension."""
    size = array.shape[axis]
    dims = list(array.shape)
    dims[axis] = dilated(size, row.base_dilation)
    wide = np.zeros(dims, array.dtype)
    wide[(np.s_[:],) * axis + (np.s_[::row.base_dilation],)] = array
    edges = [(0, 0)] * array.ndim
    edges[axis] = (max(row.pad_low, 0), max(row.pad_high, 0))
    wide = np.pad(wide, edges)
    cut = np.s_[max(-row.pad_low, 0):wide.shape[axis] - max(-row.pad_high, 0)]
    return wide[(np.s_[:],) * axis + (cut,)]


def _slide(base: Array, taps: Array, rows: Sequence[WindowDimension], places: list[int],
           group_counts: tuple[int, int]) -> Array:
    """[batch, feature, spatial...] of the result; base is [batch, feature, ...], taps [output, input, ...]."""
    feature_groups, batch_groups = group_counts
    groups = max(group_counts)
    batch, outputs = base.shape[0] // batch_groups, taps.shape[0]
    result = np.zeros([batch, outputs, *places], base.dtype)
    if result.size == 0:
        return result
    for g in range(groups):
        share = np.s_[g * (outputs // groups):(g + 1) * (outputs // groups)]
        some = base[g * batch:(g + 1) * batch] if batch_groups > 1 else base
        width = taps.shape[1]
        some = some[:, g * width:(g + 1) * width] if feature_groups > 1 else some
        for tap in in_time(np.ndindex(*taps.shape[2:])):
            cut = tuple(np.s_[t * r.window_dilation:t * r.window_dilation + (p - 1) * r.stride + 1:r.stride]
                        for t, r, p in zip(tap, rows, places, strict=True))
            here = some[(np.s_[:], np.s_[:], *cut)]
            with np.errstate(all="ignore"):
                # Not np.tensordot: of one number and a vector it makes 0 x inf = 0.
                product = np.matmul(taps[(share, np.s_[:], *tap)], here.reshape(batch, width, math.prod(places)))
                result[:, share] += product.reshape(batch, product.shape[1], *places)
    return result
