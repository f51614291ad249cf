"""Writes the fused attention of NVIDIA's Transformer Engine as the operations that it stands for.

    ENTRY main {                                  ENTRY main {
      q = bf16[1,8,4,16] parameter(0)               q = bf16[1,8,4,16] parameter(0)
      ...                                           ...
      ROOT a = (bf16[1,8,4,16], ...)                s = f32[1,2,8,2,8] dot(q', k'), ...
        custom-call(q, k, v, bias, seed, ...),      p = f32[1,2,8,2,8] exponential(...)
        custom_call_target=                         ...
          "te_fused_attn_forward_ffi"             }
    }

Without dropout, bias and windows, what the seed and the numbers of offsets and segments do is nothing. What the library
leaves in rows behind the end of a sequence is its own business; here they are zero. Source: Transformer Engine,
jax/cpp_extensions/attention.py and common/fused_attn (the layouts and masks by number: fused_attn.h); cuDNN, scaled
dot product attention.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hlotool.ir import HloInstruction, HloModule, Shape, SliceDimension
from hlotool.passes.edit import PRED
from hlotool.passes.lift.library_calls import Call, on_target, wide_type
from hlotool.passes.lift.lift_library_calls import lift_targets

#: qkv_layout -> how many operands hold queries, keys and values: all packed, keys and values packed, each on its own
_PACKED = {5: 1, 7: 2, 9: 3}
#: mask_type -> (whether keys after a query are hidden, whether sequences have lengths)
_MASKS = {0: (False, False), 1: (False, True), 2: (True, False), 3: (True, True)}


def lift_library_attention(module: HloModule) -> HloModule:
    """The same module, changed in place, without calls of attention that say what they compute."""
    return lift_targets(module, __name__)


@on_target("te_fused_attn_forward_ffi")
def forward(call: Call) -> tuple[HloInstruction, ...]:
    """softmax(scale * q k^T, masked) v, and the logarithms of the sums of the softmax, which its gradient needs."""
    plan = _plan(call)
    scores, mask = plan.scores(), plan.mask()
    if mask is not None:
        scores = call.add("select", [mask, scores, call.splat(float("-inf"), scores.shape)])
    most = call.folded(scores, 4, "maximum")
    # A row that sees nothing has no largest element; it shall not make NaN of its neighbours.
    most = call.where("EQ", most, float("-inf"), call.splat(0, most.shape), most)
    powers = call.add("exponential", [call.add("subtract", [scores, call.spread(most, scores.shape, (0, 1, 2, 3))])])
    total = call.folded(powers, 4, "add")
    total = call.where("EQ", total, 0, call.splat(1, total.shape), total)
    share = call.add("divide", [powers, call.spread(total, powers.shape, (0, 1, 2, 3))])
    value = call.add("dot", [share, plan.v], lhs_batch_dims=(0, 1), rhs_batch_dims=(0, 2), lhs_contracting_dims=(4,),
                     rhs_contracting_dims=(1,))
    logarithm = call.add("add", [most, call.add("log", [total])])
    out, sums, *others = call.results
    return (plan.by_head(value, out),
            call.cast(call.add("reshape", [_moved(call, logarithm, (0, 1, 3, 2))],
                               sums.with_element_type(logarithm.shape.element_type)), sums.element_type),
            *map(call.filler, others))


@on_target("te_fused_attn_backward_ffi")
def backward(call: Call) -> tuple[HloInstruction, ...]:
    """The gradients of forward's q, k and v, from its result, its sums and the result's gradient."""
    plan = _plan(call)
    call.expect(len(call.operands) >= 8, f"it has {len(call.operands)} operands")
    sums, _, result, gradient = call.operands[4:8]
    result, gradient = plan.by_group(result), plan.by_group(gradient)
    b, s, g, r = gradient.shape.dims[:4]
    sums = call.cast(sums, gradient.shape.element_type)
    sums = _moved(call, call.add("reshape", [sums], sums.shape.with_dims((b, g, r, s))), (0, 1, 3, 2))
    scores, mask = plan.scores(), plan.mask()
    share = call.add("exponential", [call.add("subtract", [scores, call.spread(sums, scores.shape, (0, 1, 2, 3))])])
    if mask is not None:
        share = call.add("select", [mask, share, call.splat(0, share.shape)])
    wanted = call.add("dot", [gradient, plan.v], lhs_batch_dims=(0, 2), rhs_batch_dims=(0, 2),
                      lhs_contracting_dims=(4,), rhs_contracting_dims=(3,))
    mean = _moved(call, call.folded(call.add("multiply", [gradient, result]), 4, "add"), (0, 2, 1, 3))
    slope = call.add("subtract", [wanted, call.spread(mean, wanted.shape, (0, 1, 2, 3))])
    slope = call.scaled(call.add("multiply", [share, slope]), plan.scale)
    to_keys = {"lhs_batch_dims": (0, 1), "rhs_batch_dims": (0, 2), "lhs_contracting_dims": (2, 3),
               "rhs_contracting_dims": (1, 3)}
    dq = call.add("dot", [slope, plan.k], lhs_batch_dims=(0, 1), rhs_batch_dims=(0, 2), lhs_contracting_dims=(4,),
                  rhs_contracting_dims=(1,))
    dk, dv = (_moved(call, call.add("dot", [one, other], **to_keys), (0, 2, 1, 3))
              for one, other in ((slope, plan.q), (share, gradient)))
    of_q = Shape.array(call.results[0].element_type, (b, s, g * r, plan.q.shape.dims[4]))
    return plan.packed([plan.by_head(dq, of_q), dk, dv])


@dataclass(slots=True)
class _Attention:
    """q as [batch, position, group, head, feature], k and v as [batch, position, group, feature], and what masks."""

    call: Call
    q: HloInstruction
    k: HloInstruction
    v: HloInstruction
    scale: float
    is_causal: bool
    #: the ends of the sequences of queries and of keys, as sums; () where all are whole
    ends: tuple[HloInstruction, ...]
    arrays: int

    def scores(self) -> HloInstruction:
        """scale * q k^T as [batch, group, query, head, key]."""
        found = self.call.add("dot", [self.q, self.k], lhs_batch_dims=(0, 2), rhs_batch_dims=(0, 2),
                              lhs_contracting_dims=(4,), rhs_contracting_dims=(3,))
        return self.call.scaled(found, self.scale)

    def mask(self) -> HloInstruction | None:
        """Return the keys that a query sees; None for all."""
        call, (b, s, g, r, _), t = self.call, self.q.shape.dims, self.k.shape.dims[1]
        shape = Shape.array("s32", (b, g, s, r, t))
        query, key = (call.add("iota", [], shape, iota_dimension=d) for d in (2, 4))
        parts = [call.add("compare", [key, query], PRED.with_dims(shape.dims), direction="LE")] * self.is_causal
        for place, end in zip((query, key), self.ends, strict=False):
            length = call.add("subtract", [_part(call, end, 1, b + 1), _part(call, end, 0, b)])
            parts.append(call.add("compare", [place, call.spread(length, shape, (0,))], PRED.with_dims(shape.dims),
                                  direction="LT"))
        found = None
        for part in parts:
            found = part if found is None else call.add("and", [found, part])
        return found

    def by_group(self, value: HloInstruction) -> HloInstruction:
        """[batch, position, head, feature] by groups of heads, in the type that is computed in."""
        b, s, g, r, _ = self.q.shape.dims
        made = self.call.cast(value, self.q.shape.element_type)
        return self.call.add("reshape", [made], made.shape.with_dims((b, s, g, r, made.shape.dims[3])))

    def by_head(self, value: HloInstruction, shape: Shape) -> HloInstruction:
        """[batch, group, position, head, feature] as an array of the library."""
        moved = _moved(self.call, value, (0, 2, 1, 3, 4))
        flat = self.call.add("reshape", [moved], shape.with_element_type(moved.shape.element_type))
        return self.call.cast(flat, shape.element_type)

    def packed(self, gradients: list[HloInstruction]) -> tuple[HloInstruction, ...]:
        """Gradients as the operands were packed, then fillers for results that hold nothing."""
        call, kind = self.call, self.call.results[0].element_type
        parts = [call.cast(g, kind) for g in gradients]
        alone, rest = parts[:self.arrays - 1], parts[self.arrays - 1:]
        if len(rest) > 1:
            rows = [call.add("reshape", [p], p.shape.with_dims((*p.shape.dims[:2], 1, *p.shape.dims[2:])))
                    for p in rest]
            rest = [call.add("concatenate", rows, dimensions=(2,))]
        others = call.results[self.arrays:]
        call.expect(all(0 in s.dims or s.element_type in ("u8", "s8") for s in others),
                    "it gives the gradient of a bias")
        return (*alone, *rest, *map(call.filler, others))


def _plan(call: Call) -> _Attention:
    """Return the plan in a configuration. Raises Unclear for dropout, biases, windows and other layouts and masks."""
    config = call.config()
    arrays, mask = _PACKED.get(int(config["qkv_layout"])), _MASKS.get(int(config["mask_type"]))
    call.expect(arrays is not None, f"its qkv_layout is {config['qkv_layout']}")
    call.expect(mask is not None, f"its mask_type is {config['mask_type']}")
    call.expect(float(config["dropout_probability"]) == 0, f"it drops {config['dropout_probability']} of its weights")
    call.expect(int(config["bias_type"]) == 0, f"its bias_type is {config['bias_type']}")
    call.expect(int(config.get("softmax_type", 0)) == 0, f"its softmax_type is {config.get('softmax_type')}")
    call.expect(int(config["window_size_left"]) == -1 and int(config["window_size_right"]) in (-1, 0),
                "it sees a window only")
    call.expect(int(config["max_segments_per_seq"]) == 1, "it has several segments in a sequence")
    assert arrays is not None and mask is not None
    q, k, v = _unpacked(call, arrays)
    heads, groups = int(config["attn_heads"]), int(config["num_gqa_groups"])
    b, s, h, d = q.shape.dims
    call.expect(h == heads and heads % groups == 0 and k.shape.dims[2] == v.shape.dims[2] == groups,
                f"its queries are {q.shape.text(False)}, its keys {k.shape.text(False)}")
    wide = [call.cast(x, wide_type(x.shape)) for x in (q, k, v)]
    by_group = call.add("reshape", [wide[0]], wide[0].shape.with_dims((b, s, groups, heads // groups, d)))
    is_causal, is_padded = mask
    call.expect(not is_causal or s == k.shape.dims[1], "queries and keys are not as many")
    ends = tuple(o for o in call.operands if o.shape.element_type == "s32" and o.shape.dims == (b + 1,))[:2]
    call.expect(not is_padded or len(ends) == 2, "the lengths of its sequences are not among its operands")
    return _Attention(call, by_group, wide[1], wide[2], float(config["scaling_factor"]), is_causal,
                      ends if is_padded else (), arrays)


def _unpacked(call: Call, arrays: int) -> list[HloInstruction]:
    """Queries, keys and values, each [batch, position, head, feature]."""
    found = list(call.operands[:arrays])
    last, count = found[-1], 4 - arrays
    call.expect(all(o.shape.rank == 4 for o in found[:-1]) and last.shape.rank == (4 if count == 1 else 5)
                and (count == 1 or last.shape.dims[2] == count),
                f"its operands are {', '.join(o.shape.text(False) for o in found)}")
    if count == 1:
        return found
    found.pop()
    for i in range(count):
        rows = tuple(SliceDimension(i, i + 1, 1) if d == 2 else SliceDimension(0, n, 1)
                     for d, n in enumerate(last.shape.dims))
        row = call.add("slice", [last], slice_=rows)
        found.append(call.add("reshape", [row], row.shape.with_dims((*row.shape.dims[:2], *row.shape.dims[3:]))))
    return found


def _part(call: Call, value: HloInstruction, start: int, end: int) -> HloInstruction:
    return call.add("slice", [value], slice_=(SliceDimension(start, end, 1),))


def _moved(call: Call, value: HloInstruction, order: Sequence[int]) -> HloInstruction:
    return call.add("transpose", [value], dimensions=tuple(order))
