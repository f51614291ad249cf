"""Shape rules for called computations, which several operations share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hlotool.ir import HloComputation, HloInstruction, Shape
from hlotool.ops.registry import ConstraintError, require


def same_up_to_precision(a: Shape, b: Shape) -> bool:
    """Equal dimensions and element types, any float being as good as any other. XLA: allow_mixed_precision."""
    if not (a.is_array and b.is_array) or a.dims != b.dims:
        return a.compatible(b)
    return a.element_type == b.element_type or (a.dtype.is_floating and b.dtype.is_floating)


def scalar(shape: Shape) -> Shape:
    """The scalar of an array's element type."""
    return Shape.array(shape.element_type)


def parameter_shapes(computation: HloComputation) -> list[Shape]:
    """The shapes of the parameters, in order."""
    return [p.shape for p in computation.parameters()]


def binary_opcode(computation: object, root: HloInstruction | None = None) -> str:
    """Return the opcode of a computation that is one operation of its two parameters; "" for everything else.

    `root` is another instruction of it that stands for its result.
    """
    if not isinstance(computation, HloComputation):
        return ""
    root = root or computation.root
    is_binary = len(root.operands) == 2 and root.operands[0] is not root.operands[1]
    is_plain = is_binary and all(o.opcode == "parameter" for o in root.operands)
    return root.opcode if is_plain and len(computation.parameters()) == 2 else ""


def odd_one(votes: Sequence[tuple[HloInstruction | None, Shape]],
            agree: Callable[[Shape, Shape], bool]) -> HloInstruction | None:
    """The one instruction whose shape differs from all others, which agree; None where more than one could be wrong.

    Votes of None are those of the caller. Two votes of one instruction count as one.
    """
    merged = [*{id(i): (i, s) for i, s in votes if i is not None}.values(), *(v for v in votes if v[0] is None)]
    if len(merged) < 3:
        return None
    for n, (instruction, shape) in enumerate(merged):
        others = [s for m, (_, s) in enumerate(merged) if m != n]
        if not any(agree(shape, o) for o in others) and all(agree(others[0], o) for o in others[1:]):
            return instruction
    return None


def giver(computation: HloComputation, index: int) -> HloInstruction:
    """The instruction that gives result `index`: a member of the root's tuple, or the root."""
    results = computation.results()
    return results[index] if index < len(results) else computation.root


def require_parameters(computation: HloComputation, expected: Sequence[Shape], label: str, role: str,
                       culprit: HloInstruction | None = None, *, attribute: str) -> None:
    """The computation that `attribute` names takes exactly those shapes; `role` is what messages call it."""
    found = parameter_shapes(computation)
    require(len(found) == len(expected), label,
            f"{role} {computation.name} takes {len(found)} parameter{'s' * (len(found) != 1)}, "
            f"{len(expected)} {'is' if len(expected) == 1 else 'are'} given", attribute=attribute)
    for i, (parameter, given) in enumerate(zip(found, expected, strict=True)):
        require(parameter.compatible(given), label,
                f"parameter {i} of {role} {computation.name} is {parameter.text(False)}, "
                f"what it is given is {given.text(False)}",
                culprit if culprit is not None and culprit in computation.parameters() else None, attribute=attribute)


def require_reducer(computation: HloComputation, inputs: Sequence[Shape], inits: Sequence[Shape], label: str,
                    attribute: str) -> tuple[Shape, ...]:
    """A computation that folds N arrays into N accumulators; returns its result scalars.

    It takes N accumulators, then N elements, and gives N scalars. Source: XLA, VerifyReducerShape.
    """
    found, n = parameter_shapes(computation), len(inputs)
    name = f"{attribute} {computation.name}"
    require(len(found) == 2 * n, label, f"{name} takes {len(found)} parameters, folding {n} "
            f"array{'s' * (n != 1)} needs {2 * n}", attribute=attribute)
    root, results = computation.root.shape, computation.root.shape.members
    require(root.is_tuple == (n > 1) or (root.is_tuple and len(results) == n), label,
            f"{name} gives {root.text(False)}, folding {n} array{'s' * (n != 1)} needs {n} scalars",
            attribute=attribute)
    require(len(results) == n, label, f"{name} gives {len(results)} results, {n} needed",
            attribute=attribute)
    for i, result in enumerate(results):
        require(result.is_scalar, label, f"result {i} of {name} is {result.text(False)}, which is no scalar",
                attribute=attribute)
        _require_agreement(computation, i, (scalar(inits[i]), scalar(inputs[i])), label, attribute)
        require(found[n + i].is_scalar, label, f"parameter {n + i} of {name} is {found[n + i].text(False)}, no scalar",
                attribute=attribute)
    return results


def _odd_reducer_part(computation: HloComputation, index: int, given: Sequence[Shape]) -> HloInstruction | None:
    """The parameter or result of a folding computation that alone has another type than what it is given."""
    parameters = computation.parameters()
    inner = (giver(computation, index), parameters[index], parameters[len(parameters) // 2 + index])
    votes = [*((i, i.shape) for i in inner), *((None, s) for s in given)]
    return odd_one(votes, same_up_to_precision)


def _require_agreement(computation: HloComputation, index: int, given: Sequence[Shape], label: str,
                       attribute: str) -> None:
    """A result is what its accumulator is, and up to precision what the array, its start and its parameter are."""
    found = parameter_shapes(computation)
    element = len(found) // 2 + index
    result, accumulator = computation.root.shape.members[index], found[index]
    pairs = ((given[0], "the initial value"), (given[1], "the element type of the operand"),
             (found[element], f"parameter {element}"))
    wrong = next(((o, what) for o, what in pairs if not same_up_to_precision(result, o)), None)
    if not result.compatible(accumulator):
        wrong = accumulator, f"its accumulator parameter {index}"
    if wrong is not None:
        raise ConstraintError(label, f"result {index} of {attribute} {computation.name} is {result.text(False)}, "
                              f"{wrong[1]} is {wrong[0].text(False)}", _odd_reducer_part(computation, index, given),
                              attribute=attribute)
