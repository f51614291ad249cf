"""Reads the record of what is proved of rules (verdicts.json), and writes the page of the manual about it."""

from __future__ import annotations

import functools
import importlib.resources
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hlotool.passes.rewrite_rules.rewrite_rule import DOMAINS, RewriteRule, rules, shape_rules

_NOTE = "<!-- written by `python tests/write_rewrite_rules.py --verdicts`; do not edit -->\n"
_HEAD = f"""# Rules that are proved

{_NOTE}
Rewrites of XLA's algebraic simplifier, and what is proved of each: over real numbers, over integers of 32 bits that
wrap around, and by IEEE 754, with NaN, infinities and signs of zero. `hlotool folds` prints this table, and
`hlotool folds --prove` decides it anew (`pip install 'hlotool[prove]'`). The rules are in
`passes/rewrite_rules/rules.toml` and `shape_rules.toml`, the record is `passes/rewrite_rules/verdicts.json`.

- **proved**: equal for all values, and of shapes for all sizes, at the ranks that are written. Payloads of NaN count
  for nothing. Real numbers: where both sides have a value; of powers, where the base is positive.
- **order**: equal but for the order in which sums take their terms and how exactly a dot adds, both of which HLO leaves
  open.
- **refuted**: the witness shows operands (and sizes) on which the reference gives two results.
- *unknown*: neither. A rule that was only proved of narrow types is unknown, too.
- An empty entry: a side has no meaning there.

Sizes are written as capital letters, and may be zero. The left side is taken to be valid, with what stands under
*where*; the right side is proved to be valid, and to have its shape. Sums of indices are taken not to wrap around.
The condition of a verdict is the one on values under *where*. Elements of shapes are decided by index maps: each
element of a result is a function of its indices, and a solver (z3) finds no sizes and indices at which two of them
differ. Terms of sums are paired. IEEE 754 of rules about elements is the record of [what simplifiers may
rewrite](rewrite_rules.md), for its types that are IEEE 754's.
"""
#: status -> how a page says it
_WORDS = {"proved": "**proved**", "reordered": "**order**", "refuted": "**refuted**", "unknown": "*unknown*",
          "none": ""}


@functools.cache
def known_verdicts() -> Mapping[str, Mapping[str, Any]]:
    """Return the record: a rule's key -> domain -> status, what it rests on, witness."""
    text = importlib.resources.files("hlotool.passes.rewrite_rules").joinpath("verdicts.json").read_text("utf-8")
    found: dict[str, dict[str, Any]] = json.loads(text)
    return found


def decidable_rules() -> tuple[RewriteRule, ...]:
    """Return the rules that have verdicts: about elements of any type, and about shapes of any size."""
    return (*(r for r in rules() if r.of != "matrix"), *shape_rules())


def status_counts(verdicts: Iterable[Mapping[str, Any]], domain: str) -> Counter[str]:
    """Return how many rules have each status in a domain, conditions left out."""
    return Counter(str(v[domain]["status"]) for v in verdicts)


def verdict_words(verdict: Mapping[str, Any], *, marked: bool = False) -> str:
    """Return a verdict in words: `refuted`, `refuted; under the condition proved`; `marked` as Markdown."""
    words = _WORDS if marked else {k: v.strip("*") for k, v in _WORDS.items()}
    own = words[str(verdict["status"])]
    inner = words[str(when["status"])] if (when := verdict.get("when")) else ""
    return f"{own}; under the condition {inner}" if inner else own


def witness_words(verdict: Mapping[str, Any]) -> str:
    """Return a witness: `x = -0.0: 0.0 becomes -0.0`; "" where there is none."""
    witness = dict(verdict.get("witness") or {})
    if not witness:
        return ""
    before, after = (witness.pop(side, "") for side in ("before", "after"))
    kind = witness.pop("type", "")
    given = ", ".join(f"{n} = {_listed(v)}" for n, v in witness.items())
    shown = f"{_short(before)} becomes {_short(after)}" if before else f"the right side {after}"
    return f"{given}: {shown}" + (f" ({kind})" if kind else "")


def _listed(value: Any) -> str:
    return f"[{', '.join(map(_short, value))}]" if isinstance(value, list) else _short(str(value))


def _short(number: str) -> str:
    if number.lstrip("-").isdigit() or number in ("True", "False", ""):
        return number
    return f"{float(number):.9g}"


def verdicts_page() -> str:
    """Return the page of the manual."""
    known = known_verdicts()
    parts = [_HEAD, f"\n{_summary(known)}"]
    for title, chosen in (("Elements", [r for r in decidable_rules() if not r.operands and r.of != "sizes"]),
                          ("Shapes", list(shape_rules()))):
        parts.append(f"\n## {title}\n\n| before | after | where | reals | integers | IEEE 754 | witness |\n|"
                     + "---|" * 7)
        parts += [_row(rule, known[rule.key]) for rule in chosen]
    return "\n".join(parts) + "\n"


def _summary(known: Mapping[str, Mapping[str, Any]]) -> str:
    rows = [f"| of {len(known)} rules | proved | order | refuted | unknown | no meaning |", "|" + "---|" * 6]
    names = {"reals": "reals", "integers": "integers", "floats": "IEEE 754"}
    for domain in DOMAINS:
        counts = status_counts(known.values(), domain)
        rows.append(f"| {names[domain]} | " + " | ".join(str(counts[s]) for s in _WORDS) + " |")
    return "\n".join(rows)


def _row(rule: RewriteRule, verdicts: Mapping[str, Any]) -> str:
    cells = [verdict_words(verdicts[d], marked=True) for d in DOMAINS]
    shown = next((w for d in reversed(DOMAINS) if (w := witness_words(verdicts[d]))), "")
    where = "; ".join(f"`{w}`" for w in _wheres(rule))
    return f"| `{rule.before}` | `{rule.after}` | {where} | {' | '.join(cells)} | {shown} |"


def _wheres(rule: RewriteRule) -> Iterator[str]:
    yield from filter(None, (rule.operands, rule.where, rule.when))
