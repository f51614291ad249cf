"""Writes the library calls of AWS Neuron's compiler as the operations that they stand for.

    ENTRY main {                                  ENTRY main {
      x = f32[4,8] parameter(0)                     x = f32[4,8] parameter(0)
      ROOT s = f32[4,8] custom-call(x),             ROOT s = f32[4,8] copy(x)
        custom_call_target=                       }
          "AwsNeuronTransferWithStaticRing"
    }

The configuration of those that work along a dimension is its number in decimal. Source: torch_neuronx,
xla_impl/ops.py, whose documentation gives the operations.
"""

from __future__ import annotations

from hlotool.ir import HloInstruction, HloModule
from hlotool.passes.lift.library_calls import Call, Proof, gelu_erf, gelu_tanh, on_target, wide_type
from hlotool.passes.lift.lift_library_calls import lift_targets
from hlotool.passes.lift.lift_library_other import operands_as_they_are


def lift_library_neuron(module: HloModule) -> HloModule:
    """Return the same module, changed in place, without Neuron's calls that say what they compute."""
    return lift_targets(module, __name__)


def _proof(target: str, expression: str, operands: str = "x", rest: str = "", scalars: str = "") -> Proof:
    """A proof of a call on arrays f32[3,5] (and scalars); the expression is NumPy's, over the operands' names."""
    names = operands.split()
    shapes = {n: "f32[]" if n in scalars.split() else "f32[5]" if n == "w" else "f32[3,5]" for n in names}
    lines = "".join(f"  {n} = {shapes[n]} parameter({i})\n" for i, n in enumerate(names))
    return Proof(f"ENTRY e {{\n{lines}  ROOT r = f32[3,5] custom-call({', '.join(names)}), "
                 f'custom_call_target="{target}"{rest}\n}}', expression, tuple(names))


_CURVE = "0.5 * (1 + vectorize(math.erf)(x / sqrt(2)))"


@on_target("AwsNeuronTransferWithStaticRing", proof=_proof("AwsNeuronTransferWithStaticRing", "x"))
def transfer(call: Call) -> tuple[HloInstruction, ...]:
    """The operands as they are, by another way."""
    return operands_as_they_are(call)


@on_target("AwsNeuronGelu", proof=_proof("AwsNeuronGelu", f"x * {_CURVE}"))
def gelu(call: Call) -> HloInstruction:
    """x/2 * (1 + erf(x / sqrt(2)))."""
    return _wide(call, gelu_erf(call, _operand(call)))


@on_target("AwsNeuronGeluApprxTanh", proof=_proof(
    "AwsNeuronGeluApprxTanh", "x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))"))
def gelu_by_tanh(call: Call) -> HloInstruction:
    """x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))."""
    return _wide(call, gelu_tanh(call, _operand(call)))


@on_target("AwsNeuronGeluBackward", proof=_proof(
    "AwsNeuronGeluBackward", f"{_CURVE} + x * exp(-x * x / 2) / sqrt(2 * pi)"))
def gelu_gradient(call: Call) -> HloInstruction:
    """The derivative of gelu: the normal distribution's function, and x times its density."""
    x = _operand(call)
    curve = call.add("erf", [call.scaled(x, 0.7071067811865476)])
    share = call.scaled(call.add("add", [curve, call.splat(1, x.shape)]), 0.5)
    power = call.scaled(call.add("multiply", [x, x]), -0.5)
    density = call.scaled(call.add("exponential", [power]), 0.3989422804014327)
    return _wide(call, call.add("add", [share, call.add("multiply", [x, density])]))


@on_target("AwsNeuronSoftmax", proof=_proof(
    "AwsNeuronSoftmax", "exp(x - x.max(0)) / exp(x - x.max(0)).sum(0)", rest=', backend_config="0"'))
def softmax(call: Call) -> HloInstruction:
    """e to the elements less the largest one, divided by their sum, along one dimension."""
    return _wide(call, call.softmax(_operand(call), _dimension(call))[0])


@on_target("AwsNeuronSoftmaxBackward", proof=_proof(
    "AwsNeuronSoftmaxBackward", "y * (g - (g * y).sum(1, keepdims=True))", "g y", ', backend_config="1"'))
def softmax_gradient(call: Call) -> HloInstruction:
    """The result times what the gradient is above its mean, weighted by the result, along one dimension."""
    call.expect(len(call.operands) == 2, f"it has {len(call.operands)} operands")
    gradient, result = (call.cast(o, wide_type(o.shape)) for o in call.operands)
    mean = call.folded_and_spread(call.add("multiply", [gradient, result]), _dimension(call), "add")
    return _wide(call, call.add("multiply", [result, call.add("subtract", [gradient, mean])]))


@on_target("AwsNeuronRmsNorm", proof=_proof(
    "AwsNeuronRmsNorm", "x / sqrt((x * x).mean(1, keepdims=True) + abs(e)) * w", "x w e", ', backend_config="1"', "e"))
def rms_norm(call: Call) -> HloInstruction:
    """The elements divided by the root of their mean square along the last dimension, and scaled."""
    call.expect(len(call.operands) == 3 and call.operands[2].shape.is_scalar,
                "its operands are not x, weights, epsilon")
    x, weight, epsilon = (call.cast(o, wide_type(o.shape)) for o in call.operands)
    axis = _dimension(call)
    call.expect(axis == x.shape.rank - 1 and weight.shape.dims == x.shape.dims[axis:],
                f"it works along dimension {axis} of {x.shape.text(False)}, its weights are {weight.shape.text(False)}")
    square = call.scaled(call.folded_and_spread(call.add("multiply", [x, x]), axis, "add"), 1 / x.shape.dims[axis])
    least = call.spread(call.cast(epsilon, x.shape.element_type), x.shape, ())
    scale = call.add("rsqrt", [call.add("add", [square, least])])
    wide = call.spread(call.cast(weight, x.shape.element_type), x.shape, (axis,))
    return _wide(call, call.add("multiply", [call.add("multiply", [x, scale]), wide]))


def _operand(call: Call) -> HloInstruction:
    call.expect(len(call.operands) == 1, f"it has {len(call.operands)} operands")
    (x,) = call.operands
    call.expect(x.shape.dims == call.results[0].dims, f"its operand is {x.shape.text(False)}, its result another shape")
    return call.cast(x, wide_type(x.shape))


def _wide(call: Call, value: HloInstruction) -> HloInstruction:
    return call.cast(value, call.results[0].element_type)


def _dimension(call: Call) -> int:
    text = call.config_text().strip().strip('"')
    call.expect(text.isdecimal() and int(text) < call.results[0].rank, f"its configuration is {text!r}, no dimension")
    return int(text)
