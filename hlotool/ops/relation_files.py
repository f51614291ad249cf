"""The files of rules that carry relations to whole values (relation_rules.py), imported when a rule is first called.

Records of operations name the rules, and most commands never ask for one.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any


def _call(file: str, rule: str, *given: Any) -> Any:
    return getattr(importlib.import_module(file), rule)(*given)


class _Later:
    """A file whose functions import it when they are called."""

    def __init__(self, name: str) -> None:
        self._file = f"hlotool.ops.{name}"

    def __getattr__(self, name: str) -> Any:
        return functools.partial(_call, self._file, name)


collective_relations = _Later("collective_relations")
relation_folds = _Later("relation_folds")
relation_lookups = _Later("relation_lookups")
relation_moves = _Later("relation_moves")
relation_rules = _Later("relation_rules")
relation_values = _Later("relation_values")
