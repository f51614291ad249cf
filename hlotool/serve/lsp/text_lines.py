"""Lines of a text as the language server protocol has them, and changes without a walk over all of them."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from hlotool.ir import line_starts, moved_starts


@dataclass(frozen=True, slots=True)
class TextChange:
    """`text` stands for what stood from one offset of a text to another."""

    start: int
    end: int
    text: str


class Lines(Sequence[str]):
    """The lines of a text with their ends, as the protocol has them: a form feed or a U+2028 ends none."""

    def __init__(self, text: str, starts: list[int] | None = None) -> None:
        self.text = text
        #: where each line begins; an empty text has one line
        self.starts = _starts(text) if starts is None else starts

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, number: int) -> str: ...
    @overload
    def __getitem__(self, number: slice) -> list[str]: ...
    def __getitem__(self, number: int | slice) -> str | list[str]:
        if isinstance(number, slice):
            return [self[n] for n in range(*number.indices(len(self)))]
        starts = self.starts
        number += len(starts) if number < 0 else 0
        if not 0 <= number < len(starts):
            raise IndexError(number)
        return self.text[starts[number]:starts[number + 1] if number + 1 < len(starts) else None]

    def __iter__(self) -> Iterator[str]:
        text = self.text
        return (text[start:end] for start, end in itertools.pairwise([*self.starts, len(text)]))

    def changed(self, change: TextChange) -> Lines:
        """Return the lines after a change, which tells of no line that it leaves alone."""
        start, end, text = change.start, change.end, change.text
        whole = self.text[:start] + text + self.text[end:]
        if "\r" in text or "\r" in self.text[max(0, start - 1):end + 1]:
            return Lines(whole)
        # The last line of a text has no entry when it is empty, so what is next to the end is looked at again.
        if end == len(self.text) or start == 0:
            return Lines(whole)
        return Lines(whole, moved_starts(self.starts, start, end, text))


def _starts(text: str) -> list[int]:
    if "\r" in text:
        lengths = map(len, io.StringIO(text, newline=""))
        *starts, _ = itertools.accumulate(lengths, initial=0)
    else:
        starts = line_starts(text)
    while len(starts) > 1 and starts[-1] >= len(text):
        starts.pop()
    return starts or [0]
