"""What the short forms of operations leave out: dialects of names, and what regions may see."""

from __future__ import annotations

#: names that stand in functions and at the outside without their dialect
FULL_NAMES = {"return": "func.return", "call": "func.call", "call_indirect": "func.call_indirect",
              "module": "builtin.module"}
#: operations whose regions see no value from outside
ISOLATED = frozenset({"builtin.module", "func.func", "sdy.named_computation", "vhlo.func_v1"})
