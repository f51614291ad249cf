"""Send, recv, infeed and outfeed of 2017 to mid-2018, which had no tokens, put on token chains.

    x = f32[2] infeed()                 token = token[] after-all()
    o = () outfeed(x)            ->     x.infeed = (f32[2], token[]) infeed(token)
                                        x = f32[2] get-tuple-element(x.infeed), index=0
                                        x.token = token[] get-tuple-element(x.infeed), index=1
                                        o.outfeed = token[] outfeed(x, x.token)

Infeeds and outfeeds of a computation are one chain, in the order of the text. Each channel has a chain of its own:
a send may never have to wait for a recv of another channel, for its partner may wait for the send. Loops, branches
and calls whose computations have such operations join all chains, and hand the token in and out through copies of
those computations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hlotool.diagnostics import Diagnostic, define
from hlotool.ir import Attributes, HloComputation, HloInstruction, HloModule, Shape, Sharding, called_by, callees_first
from hlotool.ops import OPS, AsyncStep, Effect, opcodes
from hlotool.passes.edit import PRED, ComputationEditor, Editing, clone_computation
from hlotool.passes.instruction_findings import report
from hlotool.passes.legalize.legacy_rules import HISTORY, MISFIT

NO_WAY_FOR_TOKEN = define("L101", "no-way-for-token", "an operation without a token, in a computation whose caller "
                          "can hand none in or out", HISTORY)

TOKEN = Shape.token()
_HOST = opcodes(lambda flow: bool(flow.effect & Effect.HOST))
_DONES = _HOST & opcodes(lambda flow: flow.step is AsyncStep.DONE)
#: operations that take a token, the last of their operands
TOKEN_TAKERS = _HOST - _DONES
_CARRIERS = opcodes(lambda flow: flow.branches_off and flow.step is None)
_BRANCHES = ("true_computation", "false_computation", "branch_computations")


def lacks_token(instruction: HloInstruction) -> bool:
    """Return True if the instruction takes a token today, and is in the form without a token."""
    opcode = instruction.opcode
    return opcode in TOKEN_TAKERS and len(instruction.operands) == len(OPS[opcode].operands) - 1


def thread_tokens(editor: Editing) -> Iterator[Diagnostic]:
    """Put every such operation of the module on a chain of its computation; reports what cannot be."""
    module = editor.module
    if not any(map(lacks_token, module.instructions())):
        return
    problems = list(_misfits(module))
    if problems:
        yield from problems
        return
    threader = _Threader(editor)
    called = {c for computation in module.computations for c in called_by(computation)}
    before = list(module.computations)
    for computation in before:
        if computation in threader.bearers and (computation is module.entry or computation not in called):
            threader.thread(computation, None)
    threader.drop_originals(before)


def _misfits(module: HloModule) -> Iterator[Diagnostic]:
    """Return the obstacles: shapes that are not those of then, and callers that know no tokens."""
    bearers = _bearers(module)
    for instruction in module.instructions():
        if (message := _shape_problem(instruction)) is not None:
            yield report(module, instruction, MISFIT, message)
        carried = [c for c in instruction.called_computations() if c in bearers]
        if carried and instruction.opcode not in _CARRIERS:
            yield report(module, instruction, NO_WAY_FOR_TOKEN, f"{carried[0].name} sends or receives without a token, "
                         f"and {instruction.opcode} can hand it none")
        elif carried and any(len(c.parameters()) != 1 for c in instruction.called_computations()
                             if instruction.opcode != "call"):
            yield report(module, instruction, MISFIT, f"the computations of {instruction.opcode} take one parameter")


def _shape_problem(instruction: HloInstruction) -> str | None:
    """Return the fault of an instruction without a token, or of one that uses it."""
    opcode, shape = instruction.opcode, instruction.shape
    begun = [o for o in instruction.operands if o.opcode in ("send", "recv") and lacks_token(o)]
    if begun and opcode != f"{begun[0].opcode}-done":
        return f"{opcode} uses a {begun[0].opcode}, which only its done may"
    if begun and opcode == "recv-done":
        value = begun[0].shape.elements[0] if begun[0].shape.elements else None
        return None if value is None or shape.compatible(value) else (
            f"recv-done gives {value.text(False)}, not {shape.text(False)}")
    if begun or (opcode == "outfeed" and lacks_token(instruction)):
        return None if shape is Shape.tuple() or shape.is_token else f"{opcode} gives (), not {shape.text(False)}"
    if opcode in ("send", "recv") and lacks_token(instruction):
        fits = shape.is_tuple and len(shape.elements) == 2
        return None if fits else f"{opcode} without a token gives (value, u32[]), not {shape.text(False)}"
    return None


def _bearers(module: HloModule) -> set[HloComputation]:
    """The computations with such an operation, in themselves or in what they call."""
    found: set[HloComputation] = set()
    for computation in callees_first(module):
        if any(map(lacks_token, computation.instructions)) or any(c in found for c in called_by(computation)):
            found.add(computation)
    return found


class _Threader:
    """Threads computations, making the copies that loops, branches and calls need."""

    def __init__(self, editor: Editing) -> None:
        self.editor = editor
        self.bearers = _bearers(editor.module)
        self._copies: dict[tuple[Any, ...], HloComputation] = {}

    def thread(self, computation: HloComputation, token: HloInstruction | None) -> _Chain:
        """Put a computation's operations on chains that begin with the token (None: with one of their own)."""
        chain = _Chain(ComputationEditor(self.editor, computation), token)
        for instruction in chain.edit.lines():
            if instruction.opcode in _DONES and not chain.begun.isdisjoint(instruction.operands):
                chain.done(instruction)
            elif lacks_token(instruction):
                getattr(chain, instruction.opcode)(instruction)
            elif instruction.opcode in _CARRIERS and any(c in self.bearers
                                                         for c in instruction.called_computations()):
                getattr(self, f"_{instruction.opcode}")(chain, instruction)
        return chain

    def drop_originals(self, originals: list[HloComputation]) -> None:
        """Remove what copies stand for and nothing calls any more; the copies take the names over."""
        module = self.editor.module
        while True:
            used = {c for computation in module.computations for c in called_by(computation)}
            copied = {original for original, *_ in self._copies}
            gone = [c for c in originals if c in copied and c in module.computations and c not in used
                    and c is not module.entry]
            if not gone:
                break
            module.computations = [c for c in module.computations if c not in gone]
        taken = {c.name for c in module.computations}
        for (original, *_), copy in self._copies.items():
            if original.name not in taken:
                taken.add(original.name)
                copy.name = original.name

    def carried(self, computation: HloComputation, *, wrapped: bool, gives_token: bool = True) -> HloComputation:
        """A copy that takes the token and, with `gives_token`, gives (result, token).

        `wrapped`: its one parameter p becomes (p, token); otherwise the token is one parameter more.
        """
        key = (computation, wrapped, gives_token)
        if key not in self._copies:
            copy = self.editor.add(clone_computation(computation, computation.name))
            self._copies[key] = copy
            edit = ComputationEditor(self.editor, copy)
            token = _wrapped_parameter(edit) if wrapped else _further_parameter(edit)
            if gives_token:
                chain = self.thread(copy, token)
                root, last = copy.root, chain.take()
                copy.root = chain.edit.add("tuple", Shape.tuple(root.shape, TOKEN), (root, last), name="result")
        return self._copies[key]

    def _while(self, chain: _Chain, loop: HloInstruction) -> None:
        attributes = loop.attributes
        if attributes["condition"] in self.bearers:
            self._while_with_busy_condition(chain, loop)
            return
        body = self.carried(attributes["body"], wrapped=True)
        condition = self.carried(attributes["condition"], wrapped=True, gives_token=False)
        state = chain.pair(loop.operands[0], loop)
        self._replace(chain, loop, (state,), {"condition": condition, "body": body})

    def _while_with_busy_condition(self, chain: _Chain, loop: HloInstruction) -> None:
        """The condition receives or sends: it is called before the loop and at the end of the body.

        The state is ((state, token), pred), and the condition reads the pred.
        """
        edit, attributes = chain.edit, loop.attributes
        condition = self.carried(attributes["condition"], wrapped=True)
        body = self.carried(attributes["body"], wrapped=True)
        pair = Shape.tuple(loop.shape, TOKEN)
        state = Shape.tuple(pair, PRED)
        begin = _asked(edit, chain.pair(loop.operands[0], loop), condition, loop)
        reads = self.editor.add(HloComputation(f"{attributes['condition'].name}.said", [_parameter("state", state)]))
        _extend(ComputationEditor(self.editor, reads), "get-tuple-element", PRED, {"index": 1})
        step = self.editor.add(HloComputation(f"{attributes['body'].name}.step", [_parameter("state", state)]))
        inner = ComputationEditor(self.editor, step)
        given = inner.add("get-tuple-element", pair, (step.root,), {"index": 0}, name="given")
        done = inner.add("call", pair, (given,), {"to_apply": body}, name="done")
        step.root = _asked(inner, done, condition, loop)
        whole = edit.add("while", state, (begin,), {
            **attributes.without("sharding"), "condition": reads, "body": step}, name=loop.name, like=loop)
        chain.unpack(loop, edit.element(whole, 0, like=loop), whole)

    def _call(self, chain: _Chain, call: HloInstruction) -> None:
        to_apply = self.carried(call.attributes["to_apply"], wrapped=False)
        self._replace(chain, call, (*call.operands, chain.take()), {"to_apply": to_apply})

    def _conditional(self, chain: _Chain, conditional: HloInstruction) -> None:
        branches: dict[str, Any] = {}
        for name in _BRANCHES:
            value = conditional.attributes.get(name)
            if isinstance(value, tuple):
                branches[name] = tuple(self.carried(c, wrapped=True) for c in value)
            elif value is not None:
                branches[name] = self.carried(value, wrapped=True)
        selector, *arguments = conditional.operands
        pairs = [chain.pair(argument, conditional) for argument in arguments]
        self._replace(chain, conditional, (selector, *pairs), branches)

    def _replace(self, chain: _Chain, old: HloInstruction, operands: tuple[HloInstruction, ...],
                 computations: Mapping[str, Any]) -> None:
        """The same operation with a token in and out, and the old one as the first part of it."""
        made = chain.edit.add(old.opcode, Shape.tuple(old.shape, TOKEN), operands,
                              _with_token(old.attributes, old.shape) | computations, name=old.name, like=old)
        chain.unpack(old, made, made)


class _Chain:
    """The tokens of a computation."""

    def __init__(self, edit: ComputationEditor, token: HloInstruction | None) -> None:
        self.edit = edit
        #: the start of all chains, and the end of each so far: by channel, or for the feeds
        self._base = token
        self._last: dict[Any, HloInstruction] = {}
        #: sends and recvs that are not done
        self.begun: set[HloInstruction] = set()

    def take(self) -> HloInstruction:
        """The one token that everything so far is before, and everything later is after."""
        tokens = tuple(dict.fromkeys(self._last.values()))
        if len(tokens) == 1:
            self._base = tokens[0]
        elif tokens or self._base is None:
            self._base = self.edit.add("after-all", TOKEN, tokens, name="chain")
        self._last.clear()
        return self._base

    def _next(self, chain: Any) -> HloInstruction:
        """The last token of one chain."""
        if chain in self._last:
            return self._last[chain]
        if self._base is None:
            self._base = self.edit.add("after-all", TOKEN, name="chain")
        return self._base

    def pair(self, value: HloInstruction, like: HloInstruction) -> HloInstruction:
        """(value, token)"""
        token = self.take()
        return self.edit.add("tuple", Shape.tuple(value.shape, TOKEN), (value, token), name=f"{like.name}.operand",
                             like=like)

    def unpack(self, old: HloInstruction, pair: HloInstruction, effect: HloInstruction) -> None:
        """Let the old instruction be the first part of (value, token), and all chains go on from the second."""
        self._base = self._parts(old, pair, effect)
        self._last.clear()

    def _parts(self, old: HloInstruction, pair: HloInstruction, effect: HloInstruction) -> HloInstruction:
        """Let the old instruction be the first part of (value, token); gives the second."""
        token = self.edit.add("get-tuple-element", TOKEN, (pair,), {"index": 1}, name=f"{old.name}.token", like=old)
        self.edit.become(old, "get-tuple-element", (pair,), {"index": 0})
        self.edit.loosen(old, effect)
        return token

    def send(self, send: HloInstruction) -> None:
        self._begin(send)

    def recv(self, recv: HloInstruction) -> None:
        self._begin(recv)

    def _begin(self, instruction: HloInstruction) -> None:
        token = self._next(_channel(instruction))
        self.begun.add(instruction)
        instruction.attributes = _with_token(instruction.attributes, instruction.shape)
        instruction.shape = Shape.tuple(*instruction.shape.elements, TOKEN)
        instruction.operands = (*instruction.operands, token)

    def done(self, done: HloInstruction) -> None:
        """send-done gave (), recv-done the value alone."""
        chain = _channel(done.operands[0])
        if done.opcode == "send-done":
            self._last[chain] = self._emptied(done, done.operands)
            return
        made = self._effect(done, Shape.tuple(done.shape, TOKEN), done.operands,
                            _with_token(done.attributes, done.shape))
        self._last[chain] = self._parts(done, made, made)

    def infeed(self, infeed: HloInstruction) -> None:
        made = self._effect(infeed, Shape.tuple(infeed.shape, TOKEN), (self._next(_FEEDS),),
                            _with_token(infeed.attributes, infeed.shape))
        self._last[_FEEDS] = self._parts(infeed, made, made)

    def outfeed(self, outfeed: HloInstruction) -> None:
        self._last[_FEEDS] = self._emptied(outfeed, (*outfeed.operands, self._next(_FEEDS)))

    def _effect(self, old: HloInstruction, shape: Shape, operands: tuple[HloInstruction, ...],
                attributes: Attributes) -> HloInstruction:
        return self.edit.add(old.opcode, shape, operands, attributes, name=f"{old.name}.{old.opcode}", like=old)

    def _emptied(self, old: HloInstruction, operands: tuple[HloInstruction, ...]) -> HloInstruction:
        """The operation with a token as its result; the old instruction gave the empty tuple."""
        made = self._effect(old, TOKEN, operands, old.attributes)
        old.attributes = old.attributes.without("sharding")
        self.edit.become(old, "tuple")
        old.shape = Shape.tuple()
        self.edit.loosen(old, made)
        return made


#: the chain of infeeds and outfeeds
_FEEDS = "feeds"


def _channel(instruction: HloInstruction) -> Any:
    """The chain of a send or recv: that of its channel."""
    return instruction.attributes.get("channel_id")


def _parameter(name: str, shape: Shape) -> HloInstruction:
    return HloInstruction(name, "parameter", shape, (), Attributes({"parameter_number": 0}))


def _further_parameter(edit: ComputationEditor) -> HloInstruction:
    """A token after the computation's parameters."""
    token = edit.add("parameter", TOKEN, (), {"parameter_number": len(edit.computation.parameters())}, name="chain")
    _to_front(edit.computation, token)
    return token


def _wrapped_parameter(edit: ComputationEditor) -> HloInstruction:
    """Let the one parameter be the first part of (parameter, token); gives the token."""
    old = edit.computation.parameters()[0]
    whole = edit.add("parameter", Shape.tuple(old.shape, TOKEN), (),
                     _with_token(old.attributes.without("parameter_replication"), old.shape), name=old.name, like=old)
    token = edit.add("get-tuple-element", TOKEN, (whole,), {"index": 1}, name="chain")
    edit.become(old, "get-tuple-element", (whole,), {"index": 0})
    _to_front(edit.computation, whole, token, old)
    return token


def _to_front(computation: HloComputation, *first: HloInstruction) -> None:
    computation.instructions = [*first, *(i for i in computation.instructions if i not in first)]


def _extend(edit: ComputationEditor, opcode: str, shape: Shape, attributes: Mapping[str, Any]) -> None:
    """Give a computation a new root that is an operation on the old one."""
    edit.computation.root = edit.add(opcode, shape, (edit.computation.root,), attributes)


def _asked(edit: ComputationEditor, pair: HloInstruction, condition: HloComputation,
           like: HloInstruction) -> HloInstruction:
    """((state, later token), what the condition says) for (state, token)."""
    answer = edit.add("call", Shape.tuple(PRED, TOKEN), (pair,), {"to_apply": condition}, name="answer", like=like)
    state = edit.element(pair, 0, like=like)
    pred, token = edit.element(answer, 0, like=like), edit.element(answer, 1, like=like)
    again = edit.add("tuple", pair.shape, (state, token), like=like)
    return edit.add("tuple", Shape.tuple(pair.shape, PRED), (again, pred), like=like)


def _with_token(attributes: Attributes, shape: Shape) -> Attributes:
    """Return the attributes of an instruction that gives (shape, token) instead: a sharding gets one leaf more."""
    sharding = attributes.get("sharding")
    if not isinstance(sharding, Sharding):
        return attributes
    leaves = sum(1 for _ in shape.leaves())
    elements = sharding.elements if sharding.kind == "tuple" else (sharding,) * leaves
    device = next((e for e in elements if e.kind == "maximal"), None)
    return attributes | {"sharding": Sharding("tuple", elements=(*elements, device or Sharding("replicated")))}
