"""Writes the convolutions of GPU and CPU libraries as convolutions.

    ENTRY main {                                  ENTRY main {
      x = f32[1,4,2] parameter(0)                   x = f32[1,4,2] parameter(0)
      w = f32[3,2,8] parameter(1)                   w = f32[3,2,8] parameter(1)
      ROOT c = (f32[1,2,8], u8[0]) custom-call(     convolution = f32[1,2,8] convolution(x, w),
        x, w), custom_call_target=                    window={size=3}, dim_labels=b0f_0io->b0f
        "__cudnn$convForward", window={size=3},     workspace = u8[0] ...
        dim_labels=b0f_0io->b0f                     ROOT c = (f32[1,2,8], u8[0]) tuple(convolution, workspace)
    }                                             }

Biases, side inputs and activations become what they compute. Gradients become convolutions of the gradient with the
filter turned around, or of the input with the gradient: their labels and window are those of the convolution that they
are the gradient of. Source: XLA, conv_rewriter.cc and cudnn_fused_conv_rewriter.cc.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from hlotool.ir import ConvolutionDimensions, HloInstruction, HloModule, Shape, Window, WindowDimension
from hlotool.passes.lift.library_calls import (
    Call,
    Unclear,
    elu,
    gelu_erf,
    numbers,
    on_target,
    relu,
    relu6,
    sigmoid,
    tanh,
    wide_type,
)
from hlotool.passes.lift.lift_library_calls import lift_targets
from hlotool.passes.lift.lift_library_matmul import post_operations

#: by name and by number. Source: XLA, dnn.proto, ActivationMode
_ACTIVATIONS: dict[str, Callable[[Call, HloInstruction], HloInstruction] | None] = {
    "none": None, "sigmoid": sigmoid, "relu": relu, "relu6": relu6, "tanh": tanh, "elu": elu, "geluexact": gelu_erf}
_NUMBERED = ("none", "sigmoid", "relu", "relu6", "relux", "tanh", "bandpass", "elu", "leakyrelu", "geluexact")


def lift_library_convolution(module: HloModule) -> HloModule:
    """The same module, changed in place, without calls of convolutions that say what they compute."""
    return lift_targets(module, __name__)


@dataclasses.dataclass(slots=True)
class _Conv:
    """The attributes of a call: labels, window, groups."""

    labels: ConvolutionDimensions
    window: tuple[WindowDimension, ...]
    groups: int
    precision: dict[str, Any]


def _plan(call: Call, vectors: bool = False) -> _Conv:
    given = call.instruction.attributes
    labels = given.get("dim_labels")
    if not isinstance(labels, ConvolutionDimensions):
        raise Unclear("it has no dim_labels")
    call.expect(vectors or "?" not in f"{labels.lhs}{labels.rhs}{labels.output}", "its features are stored as vectors")
    labels = ConvolutionDimensions(*(side.replace("?", "") for side in (labels.lhs, labels.rhs, labels.output)))
    call.expect(given.get("batch_group_count", 1) == 1, "it has batch groups")
    window = (given.get("window") or Window()).dimensions
    call.expect(len(window) == labels.spatial_rank, f"its window has {len(window)} dimensions, not "
                                                    f"{labels.spatial_rank}")
    precision = {n: given[n] for n in ("operand_precision",) if n in given}
    return _Conv(labels, window, given.get("feature_group_count", 1), precision)


@on_target("__cudnn$convForward", "__cudnn$convBiasActivationForward")
def forward(call: Call) -> tuple[HloInstruction, ...]:
    """scale * convolution + side_scale * side + bias, then an activation."""
    config, plan, out = call.config("cudnn_conv_backend_config"), _plan(call, True), call.results[0]
    call.expect(not config.get("reordered_int8_nchw_vect"), "its filter is stored in another order")
    places = _vector_places(call, plan)
    lhs, rhs = (_joined(call, o, side, place, letter) for o, side, place, letter in zip(
        call.operands[:2], (plan.labels.lhs, plan.labels.rhs), places, "fi", strict=False))
    vector = out.dims[places[2]] if places[2] is not None else 0
    if vector:
        out = _without(out, places[2] or 0, plan.labels.output.index("f"))
    scale, side_scale = float(config.get("conv_result_scale", 1)), float(config.get("side_input_scale", 0))
    activation = _activation(call, config)
    has_bias = call.target.endswith("BiasActivationForward")
    call.expect(len(call.operands) >= 2 + has_bias, f"it has {len(call.operands)} operands")
    rest = list(call.operands[2 + has_bias:])
    call.expect(len(rest) <= 1 and (not side_scale or bool(rest)), f"it has {len(call.operands)} operands")
    rest = [_joined(call, o, plan.labels.output, places[2], "f") for o in rest]
    is_plain = scale == 1 and not has_bias and not side_scale and activation is None
    wide = wide_type(lhs.shape)
    if is_plain and out.dtype.is_floating == lhs.shape.dtype.is_floating:
        value = _convolution(call, lhs, rhs, plan, out if out.dtype.is_floating else out.with_element_type(wide))
        return call.with_workspaces(_cut(call, call.saturated(value, out), plan.labels.output, places[2], vector))
    value = _convolution(call, lhs, rhs, plan, out.with_element_type(wide))
    value = call.scaled(call.cast(value, "f32" if wide == "s32" else wide), scale)
    kind = value.shape.element_type
    if side_scale:
        value = call.add("add", [value, call.scaled(call.cast(rest[0], kind), side_scale)])
    if has_bias:
        value = call.add("add", [value, _feature_bias(call, call.operands[2], value.shape, plan.labels.output)])
    value = activation(call, value) if activation is not None else value
    return call.with_workspaces(_cut(call, call.saturated(value, out), plan.labels.output, places[2], vector))


def _vector_places(call: Call, plan: _Conv) -> tuple[int | None, int | None, int | None]:
    """Where lhs, filter and result hold a few features side by side, as cuDNN has small integers; None where nowhere.

    The labels mark the dimension with `?`, or leave out the last one. Source: XLA, cudnn_vectorize_convolutions.cc.
    """
    given = call.instruction.attributes["dim_labels"]
    found = []
    for shape, side in zip((call.operands[0].shape, call.operands[1].shape, call.results[0]),
                           (given.lhs, given.rhs, given.output), strict=True):
        call.expect(side.count("?") <= 1, "several of its dimensions hold features side by side")
        extra = shape.rank - len(side.replace("?", ""))
        call.expect(extra in (0, 1), f"its labels {side} are not those of {shape.text(False)}")
        found.append((side.index("?") if "?" in side else shape.rank - 1) if extra else None)
    call.expect((found[0] is None) == (found[1] is None), "features are stored as vectors on one side only")
    return found[0], found[1], found[2]


def _feature(labels: str, place: int, letter: str) -> int:
    """The dimension of the features in an array that has another one, of vectors, at a place."""
    at = labels.index(letter)
    return at + (at >= place)


def _joined(call: Call, value: HloInstruction, labels: str, place: int | None, letter: str) -> HloInstruction:
    """The array with its features in one dimension again: the vectors one after the other."""
    if place is None:
        return value
    at = _feature(labels, place, letter)
    order = [d for d in range(value.shape.rank) if d != place]
    order.insert(order.index(at) + 1, place)
    moved = call.add("transpose", [value], dimensions=tuple(order))
    return call.add("reshape", [moved], _without(value.shape, place, labels.index(letter)))


def _without(shape: Shape, place: int, feature: int) -> Shape:
    """The shape whose vectors are among its features."""
    dims = list(shape.dims)
    width = dims.pop(place)
    dims[feature] *= width
    return shape.without_layout().with_dims(tuple(dims))


def _cut(call: Call, value: HloInstruction, labels: str, place: int | None, width: int) -> HloInstruction:
    """The reverse of `_joined` for the result."""
    if place is None:
        return value
    at, dims = labels.index("f"), list(value.shape.dims)
    dims[at:at + 1] = [dims[at] // width, width]
    split = call.add("reshape", [value], value.shape.with_dims(tuple(dims)))
    order = [d for d in range(len(dims)) if d != at + 1]
    order.insert(place, at + 1)
    return call.add("transpose", [split], dimensions=tuple(order))


def _activation(call: Call, config: dict[str, Any]) -> Callable[[Call, HloInstruction], HloInstruction] | None:
    mode = str(config.get("activation_mode", "kNone"))
    name = _NUMBERED[int(mode)] if mode.isdigit() and int(mode) < len(_NUMBERED) else mode.removeprefix("k").lower()
    if name == "leakyrelu":
        slope = float(config.get("leakyrelu_alpha", 0))
        return lambda c, x: c.where("GT", x, 0, x, c.scaled(x, slope))
    call.expect(name in _ACTIVATIONS, f"its activation {mode} is not known")
    return _ACTIVATIONS[name]


def _feature_bias(call: Call, bias: HloInstruction, shape: Shape, labels: str) -> HloInstruction:
    at = labels.index("f")
    call.expect(bias.shape.size == shape.dims[at], f"the bias is {bias.shape.text(False)}, there are "
                                                   f"{shape.dims[at]} features")
    wide = call.cast(bias, shape.element_type)
    if wide.shape.rank != 1:
        wide = call.add("reshape", [wide], wide.shape.with_dims((shape.dims[at],)))
    return call.spread(wide, shape, (at,))


def _convolution(call: Call, lhs: HloInstruction, rhs: HloInstruction, plan: _Conv, out: Shape, *,
                 groups: str = "feature_group_count") -> HloInstruction:
    """The convolution of two operands, of the result's type."""
    attributes: dict[str, Any] = {"window": Window(plan.window), "dim_labels": plan.labels, **plan.precision}
    if plan.groups != 1:
        attributes[groups] = plan.groups
    value = call.add("convolution", [lhs, rhs], **attributes)
    call.expect(value.shape.dims == out.dims,
                f"the convolution is {value.shape.text(False)}, the result {out.text(False)}")
    value.shape = value.shape.with_element_type(out.element_type)
    return value


def _spatial(labels: str) -> tuple[int, ...]:
    """Where the spatial dimensions are, in order."""
    return tuple(labels.index(str(n)) for n in range(sum(c.isdigit() for c in labels)))


def _extent(size: int, dilation: int) -> int:
    return (size - 1) * dilation + 1 if size else 0


@on_target("__cudnn$convBackwardInput")
def backward_input(call: Call) -> tuple[HloInstruction, ...]:
    """The gradient of the input: the result's gradient, dilated by the stride, with the filter turned around."""
    plan, out = _plan(call), call.results[0]
    _expect_scale_of_one(call)
    call.expect(len(call.operands) == 2, f"it has {len(call.operands)} operands")
    gradient, filter_ = call.operands
    labels, window = plan.labels, []
    sizes = zip(plan.window, _spatial(labels.lhs), _spatial(labels.output), strict=True)
    for dim, at, there in sizes:
        reach, extent = _extent(dim.size, dim.window_dilation), _extent(out.dims[at], dim.base_dilation)
        low = reach - 1 - dim.pad_low
        high = extent - _extent(gradient.shape.dims[there], dim.stride) - low + reach - 1
        window.append(WindowDimension(dim.size, dim.base_dilation, low, high, dim.stride, dim.window_dilation,
                                      not dim.reversal))
    turned = ConvolutionDimensions(labels.output, labels.rhs.translate(_SWAP_IO), labels.lhs)
    if plan.groups != 1:
        filter_ = _regrouped(call, filter_, labels.rhs, plan.groups)
    value = _convolution(call, gradient, filter_, _Conv(turned, tuple(window), plan.groups, plan.precision), out)
    return call.with_workspaces(value)


_SWAP_IO = str.maketrans("io", "oi")
_SWAP_BF = str.maketrans("bf", "fb")


def _regrouped(call: Call, filter_: HloInstruction, labels: str, groups: int) -> HloInstruction:
    """A grouped filter [i, o] as [g * i, o / g]: each group's inputs side by side, its outputs alone."""
    i, o = labels.index("i"), labels.index("o")
    dims = list(filter_.shape.dims)
    call.expect(dims[o] % groups == 0, f"{dims[o]} output features are not divisible among {groups} groups")
    # o becomes (g, o/g); g is then moved in front of i.
    split = (*dims[:o], groups, dims[o] // groups, *dims[o + 1:])
    value = call.add("reshape", [filter_], filter_.shape.with_dims(split))
    places = [d for d in range(len(split)) if d != o]
    places.insert(places.index(i if i < o else i + 1), o)
    value = call.add("transpose", [value], filter_.shape.with_dims(tuple(split[d] for d in places)),
                     dimensions=tuple(places))
    dims[i], dims[o] = dims[i] * groups, dims[o] // groups
    return call.add("reshape", [value], filter_.shape.with_dims(tuple(dims)))


@on_target("__cudnn$convBackwardFilter")
def backward_filter(call: Call) -> tuple[HloInstruction, ...]:
    """The gradient of the filter: the input, its batch as features, with the result's gradient as filter."""
    plan, out = _plan(call), call.results[0]
    _expect_scale_of_one(call)
    call.expect(len(call.operands) == 2, f"it has {len(call.operands)} operands")
    value_in, gradient = call.operands
    labels, window = plan.labels, []
    for dim, at, there in zip(plan.window, _spatial(labels.lhs), _spatial(labels.output), strict=True):
        size = gradient.shape.dims[there]
        extent = _extent(value_in.shape.dims[at], dim.base_dilation)
        high = (dim.size - 1) * dim.window_dilation + _extent(size, dim.stride) - extent - dim.pad_low
        window.append(WindowDimension(size, dim.window_dilation, dim.pad_low, high, dim.base_dilation, dim.stride))
    turned = ConvolutionDimensions(labels.lhs.translate(_SWAP_BF), labels.output.translate(str.maketrans("bf", "io")),
                                   labels.rhs.translate(str.maketrans("io", "bf")))
    value = _convolution(call, value_in, gradient, _Conv(turned, tuple(window), plan.groups, plan.precision), out,
                         groups="batch_group_count")
    turned_back = tuple(at for at, d in zip(_spatial(labels.rhs), plan.window, strict=True) if d.reversal)
    if turned_back:
        value = call.add("reverse", [value], dimensions=turned_back)
    return call.with_workspaces(value)


def _expect_scale_of_one(call: Call) -> None:
    config = call.config("cudnn_conv_backend_config")
    call.expect(float(config.get("conv_result_scale", 1)) == 1, "it scales a gradient")
    call.expect(_activation(call, config) is None, "it applies an activation to a gradient")


@on_target("__onednn$convolution")
def onednn_convolution(call: Call) -> tuple[HloInstruction, ...]:
    """A convolution whose window and labels are in its configuration, then the fused operations."""
    config, out = call.config("onednn_conv_config"), call.results[0]
    plans = [plan for offset in (1, 0) if (plan := _configured(call, config, offset)) is not None]
    call.expect(bool(plans), "its configuration does not fit its shapes")
    lhs, rhs = call.operands[:2]
    value = _convolution(call, lhs, rhs, plans[0], out.with_element_type(wide_type(lhs.shape)))
    return call.with_workspaces(post_operations(call, value, config.get("fusions") or {}, call.operands[2:], out))


def _configured(call: Call, config: dict[str, Any], offset: int) -> _Conv | None:
    """The labels and window of a configuration whose numbers are larger by `offset`, if they fit the shapes.

    Since 2024 numbers that may be zero are stored plus one.
    """
    lhs, rhs, out = call.operands[0].shape, call.operands[1].shape, call.results[0]
    inputs, kernel, output = (config[n][m] for n, m in (("input", "data"), ("kernel", "filter"), ("output", "data")))
    letters = (_letters(lhs.rank, inputs, ("batch_dim", "feature_dim"), "bf", offset),
               _letters(rhs.rank, kernel, ("input_feature_dim", "output_feature_dim"), "io", offset),
               _letters(out.rank, output, ("batch_dim", "feature_dim"), "bf", offset))
    if None in letters:
        return None
    labels = ConvolutionDimensions(*map(str, letters))
    given = [[n - offset for n in numbers(config["window"].get(name))]
             for name in ("strides", "pad_left", "pad_right", "window_dilations")]
    rank = labels.spatial_rank
    if any(len(g) != rank for g in given) or any(s < 1 for s in (*given[0], *given[3])):
        return None
    window = tuple(WindowDimension(rhs.dims[at], stride, low, high, 1, dilation) for at, stride, low, high, dilation
                   in zip(_spatial(labels.rhs), *given, strict=True))
    groups = int(config.get("feature_groups") or 1)
    for dim, at, there in zip(window, _spatial(labels.lhs), _spatial(labels.output), strict=True):
        room = lhs.dims[at] + dim.pad_low + dim.pad_high - _extent(dim.size, dim.window_dilation)
        if room < 0 or room // dim.stride + 1 != out.dims[there]:
            return None
    return _Conv(labels, window, groups, {})


def _letters(rank: int, config: dict[str, Any], names: Sequence[str], letters: str, offset: int) -> str | None:
    """The labels of one operand; None where two dimensions share a place or one is outside."""
    found = [""] * rank
    places = [(int(config.get(n, 0)), letter) for n, letter in zip(names, letters, strict=True)]
    places += [(n - offset, str(i)) for i, n in enumerate(numbers(config.get("spatial_dims")))]
    for at, letter in places:
        if not 0 <= at < rank or found[at]:
            return None
        found[at] = letter
    return "".join(found) if all(found) else None
