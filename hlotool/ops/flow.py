"""How values flow through an operation: the facts that lints, costs, searches and blame ask of its record.

    elements   how the elements of the result follow from those of the operands, and of which operands
    calls      how a called computation gets the operands
    effect     what an operation reads or does besides its operands and its result
    step       the part of an asynchronous operation that it is
    is_free    the value has a place already when the program runs
    updates    the operands in whose place the result may be

`flow_of(instruction)` answers for one instruction, `opcodes(question)` names all operations of which something holds,
`has_effect(instruction)` tells whether more than its users may notice an instruction.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Sequence

from hlotool.ir import HloComputation, HloInstruction, lazy_dataclass
from hlotool.ops.table import OPS


class Elements(enum.Enum):
    """How the elements of a result follow from those of the operands in `Flow.sources`."""

    #: new numbers
    COMPUTED = "computed"
    #: the operand as it is, later or behind a boundary
    FORWARDED = "forwarded"
    #: every element of the operand once, elsewhere
    REARRANGED = "rearranged"
    #: every element of the operand, some several times
    REPEATED = "repeated"
    #: some elements of the operand
    PICKED = "picked"
    #: each an element of one of several operands, or of other devices
    ASSEMBLED = "assembled"
    #: the operand's numbers in another type or at another precision
    CONVERTED = "converted"
    #: the operand's bits as numbers of another type
    RECAST = "recast"
    #: the operands, in one tuple
    PACKED = "packed"
    #: one of the values in the operand
    UNPACKED = "unpacked"
    #: from no operand: parameters, constants, what is read from outside
    GIVEN = "given"


class Calls(enum.Enum):
    """How a called computation gets an operation's operands."""

    #: it calls nothing
    NONE = "none"
    #: once in place: operands become the parameters, the root the result
    INLINE = "inline"
    #: the same, as one kernel
    FUSED = "fused"
    #: again and again: one state becomes the parameter, the root the next state
    LOOP = "loop"
    #: one of several, each with an operand of its own
    BRANCHES = "branches"
    #: on scalars, for each element
    EACH = "each"
    #: on scalars, to make one of two values until one is left; the order is open
    REDUCER = "reducer"
    #: on scalars, to make one of an element and an update
    UPDATER = "updater"
    #: on slices, one after the other, with carried values
    SCAN = "scan"
    #: on pairs of scalars, to order them
    COMPARATOR = "comparator"
    #: as a library's function sees fit
    OPAQUE = "opaque"


class Effect(enum.Flag):
    """Effects of an operation besides its operands and its result."""

    NONE = 0
    #: exchanges data with the host or another program
    HOST = enum.auto()
    #: draws from a state that outlives the instruction
    STATE = enum.auto()
    #: exchanges data with other devices, all of which must take part
    EXCHANGE = enum.auto()
    #: asks which device it runs on
    DEVICE = enum.auto()
    #: keeps others in order, or apart
    ORDER = enum.auto()
    #: not known, as the operation is not
    UNKNOWN = enum.auto()
    #: effects that others than the users of the result may notice
    ACTS = HOST | STATE | UNKNOWN


class AsyncStep(enum.Enum):
    """The part of an asynchronous operation; the result of a start is a tuple with the state of what is in flight."""

    START = "start"
    UPDATE = "update"
    DONE = "done"


@lazy_dataclass(frozen=True)
class Flow:
    """How values flow through one operation; what follows from its fields is computed once, as rules ask it often."""

    elements: Elements = Elements.COMPUTED
    #: the first operand whose elements the result holds, and the one behind the last (None: all that follow)
    sources: tuple[int, int | None] = (0, None)
    calls: Calls = Calls.NONE
    effect: Effect = Effect.NONE
    step: AsyncStep | None = None
    #: True if the value has a place already when the program runs
    is_free: bool = False
    #: the operands over which the result may be written though other elements stay: the first, and the one behind the
    #: last
    updates: tuple[int, int | None] | None = None

    @functools.cached_property
    def words(self) -> tuple[str, ...]:
        """The facts in words, for people."""
        effects = (e.name.lower() for e in Effect if e in self.effect and e.name and e is not Effect.ACTS)
        return (self.elements.value, *([f"calls {self.calls.value}"] if self.calls is not Calls.NONE else []),
                *effects, *([self.step.value] if self.step is not None else []), *(["free"] if self.is_free else []))

    @functools.cached_property
    def forwards(self) -> bool:
        """True if the result is the first operand unchanged."""
        return self.elements is Elements.FORWARDED and self.step is None

    @functools.cached_property
    def rearranges(self) -> bool:
        """True if the result holds every element of the first operand once, and no other."""
        return self.elements in _REARRANGING and self.step is None

    @functools.cached_property
    def repeats(self) -> bool:
        """True if the result holds every element of the first operand, and no other."""
        return self.elements in _REPEATING and self.step is None

    @functools.cached_property
    def moves(self) -> bool:
        """True if every element of the result is an element of an operand, bit by bit."""
        return self.elements in _MOVING and self.step is None

    @functools.cached_property
    def packs(self) -> bool:
        """True if it puts values into a tuple, or takes one out."""
        return self.elements in _PACKING

    @functools.cached_property
    def keeps(self) -> bool:
        """True if the result holds every element of the first operand, maybe in another type or precision, or
        (steps of asynchronous operations) in a tuple with a state."""
        return self.elements in _KEEPING

    @functools.cached_property
    def keeps_numbers(self) -> bool:
        """True if the result holds the numbers of the first operand, maybe rounded, and no other; at once."""
        return self.repeats or (self.elements is Elements.CONVERTED and self.step is None)

    @functools.cached_property
    def enters(self) -> bool:
        """True if called computations get whole operands as their parameters, and the result is a root's."""
        return self.calls in _ENTERING

    @functools.cached_property
    def branches_off(self) -> bool:
        """True if control flows to another computation that runs its instructions one by one."""
        return self.enters and self.calls is not Calls.FUSED

    @functools.cached_property
    def in_place(self) -> bool:
        """True if the operands are the parameters of one called computation, and its root the result."""
        return self.calls in _IN_PLACE and self.step is None

    @functools.cached_property
    def folds(self) -> bool:
        """True if a called computation makes one number of many."""
        return self.calls in _FOLDING

    @functools.cached_property
    def on_pairs(self) -> bool:
        """True if a called computation gets pairs of elements, which it makes one or compares."""
        return self.calls in _ON_PAIRS

    @functools.cached_property
    def is_trivial(self) -> bool:
        """True if it only names a value: a parameter, a constant, a tuple of others, an element of one."""
        return self.is_free and (self.packs or self.elements is Elements.GIVEN)

    @functools.cached_property
    def acts(self) -> bool:
        """True if others than the users of the result may notice the operation, called computations aside."""
        return bool(self.effect & Effect.ACTS)

    @functools.cached_property
    def exchanges(self) -> bool:
        """True if other devices have to take part."""
        return bool(self.effect & Effect.EXCHANGE)

    @functools.cached_property
    def is_tied(self) -> bool:
        """True if the operation has any effect, or is a part of an asynchronous one."""
        return bool(self.effect) or self.step is not None

    @functools.cached_property
    def varies(self) -> bool:
        """True if the value may differ between devices or from run to run, whatever the operands are."""
        return self.elements is Elements.GIVEN and bool(self.effect)

    def data(self, operands: Sequence[HloInstruction]) -> Sequence[HloInstruction]:
        """Return those of an instruction's operands whose elements the result holds, or is computed from."""
        return operands[self.sources[0]:self.sources[1]]


_REARRANGING = frozenset({Elements.FORWARDED, Elements.REARRANGED})
_REPEATING = _REARRANGING | {Elements.REPEATED}
_PACKING = frozenset({Elements.PACKED, Elements.UNPACKED})
_MOVING = _REPEATING | _PACKING | {Elements.PICKED, Elements.ASSEMBLED}
_KEEPING = _REPEATING | {Elements.CONVERTED, Elements.RECAST}
_ENTERING = frozenset({Calls.INLINE, Calls.FUSED, Calls.LOOP, Calls.BRANCHES})
_IN_PLACE = frozenset({Calls.INLINE, Calls.FUSED})
_FOLDING = frozenset({Calls.REDUCER, Calls.SCAN})
_ON_PAIRS = frozenset({Calls.REDUCER, Calls.UPDATER, Calls.COMPARATOR})

#: operations that make new numbers of all their operands
COMPUTES = Flow()
FORWARDS = Flow(Elements.FORWARDED, (0, 1))
REARRANGES = Flow(Elements.REARRANGED, (0, 1))
REPEATS = Flow(Elements.REPEATED, (0, 1))
PICKS = Flow(Elements.PICKED, (0, 1))
ASSEMBLES = Flow(Elements.ASSEMBLED)
CONVERTS = Flow(Elements.CONVERTED, (0, 1))
#: the operand as it is, kept in order with others
ORDERS = Flow(Elements.FORWARDED, (0, 1), effect=Effect.ORDER, is_free=True)
#: what another instruction started
AWAITS = Flow(Elements.FORWARDED, (0, 1), step=AsyncStep.DONE)
#: one number of many, in any order
REDUCES = Flow(calls=Calls.REDUCER)
#: elements of other devices' operands
EXCHANGES = Flow(Elements.ASSEMBLED, effect=Effect.EXCHANGE)
#: operations that nothing is known of
UNKNOWN = Flow(effect=Effect.UNKNOWN)


def flow_of_opcode(opcode: str) -> Flow:
    """Return the flow of an operation; of an unknown one, which may do anything, UNKNOWN."""
    record = OPS.get(opcode)
    return UNKNOWN if record is None else record.flow


def flow_of(instruction: HloInstruction) -> Flow:
    """Return the flow of an instruction's operation."""
    record = OPS.get(instruction.opcode)  # as flow_of_opcode: rules ask this of every instruction
    return UNKNOWN if record is None else record.flow


def keeps_order(instruction: HloInstruction) -> bool:
    """Return True if the result has the elements of the first operand in the same order, in whatever dimensions."""
    return flow_of(instruction).forwards or instruction.opcode in ("reshape", "bitcast")


def operand_for(call: HloInstruction, which: int, number: int) -> int | None:
    """Return the number of the operand that a called computation, the `which`th, gets as a parameter; or None."""
    count = len(call.operands)
    if call.opcode == "while":
        return 0
    if call.opcode == "conditional":
        return which + 1 if which + 1 < count else None
    if call.opcode in ("reduce", "reduce-window"):
        return (number + count // 2) % count
    if call.opcode == "sort":
        return number // 2 if number // 2 < count else None
    return number if number < count else None


#: operations in a row that are looked through; a module that is not valid may have circles
_LONGEST_CHAIN = 1_000


def source_of(instruction: HloInstruction, through: Callable[[Flow], bool]) -> HloInstruction:
    """Return the first operand's first operand, and so on, as long as something holds of an operation's flow."""
    for _ in range(_LONGEST_CHAIN):
        if not instruction.operands or not through(flow_of(instruction)):
            break
        instruction = instruction.operands[0]
    return instruction


def opcodes(holds: Callable[[Flow], bool]) -> frozenset[str]:
    """Return the operations of whose flow something holds, among those that are declared by now."""
    return frozenset(opcode for opcode, record in OPS.items() if holds(record.flow))


def with_flag(*flags: str) -> frozenset[str]:
    """Return the operations whose records carry all of these flags."""
    return frozenset(opcode for opcode, record in OPS.items() if record.flags.issuperset(flags))


def is_a(instruction: HloInstruction, flag: str) -> bool:
    """Return True if the record of an instruction's operation carries a flag; unknown ones carry none."""
    record = OPS.get(instruction.opcode)
    return record is not None and flag in record.flags


def acts(instruction: HloInstruction) -> bool:
    """Return True if others than the users of its result may notice the instruction, called computations aside."""
    return flow_of(instruction).acts or _says_so(instruction)


def _says_so(instruction: HloInstruction) -> bool:
    """Return True if an attribute says that the instruction acts."""
    return bool(instruction.attributes) and bool(instruction.attributes.get("custom_call_has_side_effect"))


def gives_to_host(instruction: HloInstruction) -> bool:
    """Return True if an instruction hands a value to the host: an outfeed, or a send that is none to a device."""
    flow, attributes = flow_of(instruction), instruction.attributes
    return (bool(flow.effect & Effect.HOST) and flow.step is not AsyncStep.DONE
            and any(o.shape is not None and not o.shape.is_token for o in instruction.operands)
            and bool(attributes.get("is_host_transfer", "channel_id" not in attributes)))


def is_tied(instruction: HloInstruction) -> bool:
    """Return True if an instruction by itself may not be dropped, moved or merged with its like.

    It acts, asks for its device, is part of an exchange between devices or of an asynchronous operation, keeps others
    in order, or is part of a signature. Called computations are not looked into.
    """
    flow = flow_of(instruction)
    return flow.is_tied or instruction.opcode == "parameter" or flow.acts or _says_so(instruction)


class Effects:
    """Answers whether instructions have an effect, what they call included; remembers the computations.

    `among` is what counts as an effect of one instruction.
    """

    def __init__(self, among: Callable[[HloInstruction], bool] = acts) -> None:
        self._among = among
        self._known: dict[HloComputation, bool] = {}

    def of(self, instruction: HloInstruction) -> bool:
        """Return True if more than the users of its result may notice the instruction.

        It acts on the host, draws from a state, is a custom call that says so, is unknown, or calls a computation in
        which one of those is. Exchanges between devices are none: where nobody uses the result, all may leave them out.
        Source: XLA, HloInstruction::HasSideEffect.
        """
        return self._among(instruction) or any(map(self.inside, instruction.called_computations()))

    def inside(self, computation: HloComputation) -> bool:
        """Return True if an instruction of a computation has an effect."""
        # Loops are nested deeper than Python's calls may be.
        waiting, begun = [computation], set[HloComputation]()
        while waiting:
            here = waiting[-1]
            if here in self._known:
                waiting.pop()
            elif here not in begun:
                begun.add(here)
                waiting += [c for i in here.instructions for c in i.called_computations() if c not in begun]
            else:  # a computation that calls itself is the verifier's to report
                self._known[waiting.pop()] = any(
                    self._among(i) or any(self._known.get(c, False) for c in i.called_computations())
                    for i in here.instructions if i.opcode != "parameter")
        return self._known[computation]


def has_effect(instruction: HloInstruction) -> bool:
    """Return True if more than the users of its result may notice an instruction; see Effects.of."""
    return Effects().of(instruction)
