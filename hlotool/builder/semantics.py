"""The documents that a builder may follow: the five versions of "XLA Operation Semantics"."""

from __future__ import annotations

from dataclasses import dataclass

from hlotool.builder.codes import ARGUMENTS
from hlotool.builder.problems import Refused

#: the documents in order, as history.json names them
DOCUMENTS = ("2017-apachecn", "2017-zh", "2018-en", "2022-ko", "2025-ru")
#: a year stands for the fuller of its documents
_YEARS = {"2017": "2017-zh", "2018": "2018-en", "2022": "2022-ko", "2025": "2025-ru"}


@dataclass(frozen=True, slots=True)
class Semantics:
    """A document: its name, and its place among them."""

    name: str
    order: int

    @property
    def is_today(self) -> bool:
        return self.order == len(DOCUMENTS) - 1

    @property
    def year(self) -> str:
        return self.name[:4]


def known_semantics(name: str) -> Semantics:
    """The document of a year, or of a name."""
    found = _YEARS.get(str(name), str(name))
    if found not in DOCUMENTS:
        raise Refused(ARGUMENTS, f"semantics is {name!r}; it is one of {', '.join([*_YEARS, *DOCUMENTS])}")
    return Semantics(found, DOCUMENTS.index(found))
