"""Rewrites every form of another time that the reader takes into what says the same today.

    HloModule old                                 HloModule old

    ENTRY main {                                  add_f32 {
      a = f32[4] parameter(0)                       x = f32[] parameter(0)
      b = f32[4] parameter(1)                       y = f32[] parameter(1)
      c = pred[4] less-than(a, b)                   ROOT result = f32[] add(x, y)
      ROOT s = f32[4] cross-replica-sum(a)        }
    }
                                                  ENTRY main {
                                                    a = f32[4] parameter(0)
                                                    b = f32[4] parameter(1)
                                                    c = pred[4] compare(a, b), direction=LT
                                                    ROOT s = f32[4] all-reduce(a), replica_groups={}, to_apply=add_f32
                                                  }

The rules for single instructions are in legacy_rules.py, old_dots.py, old_lapack.py and scalar_tokens.py, each with
its era; token chains are in token_chains.py. What a form meant is never guessed: where it cannot be said exactly it
stays, and is reported.
"""

from __future__ import annotations


