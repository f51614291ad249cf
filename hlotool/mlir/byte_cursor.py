"""A place in bytes, and what MLIR bytecode makes of the bytes there.

Every count and size is checked against the bytes that are left before anything of that size is made.
"""

from __future__ import annotations

from hlotool.grammars import BYTECODE_MAGIC
from hlotool.mlir import codes

#: the byte that fills up to an alignment
PADDING = 0xCB


def is_bytecode(data: bytes) -> bool:
    """Return True if bytes begin as MLIR bytecode does."""
    return data[:4] == BYTECODE_MAGIC


class DamagedError(Exception):
    """Bytes that are no bytecode: the code, the offset in the file, and the fault."""

    def __init__(self, code: str, offset: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.offset = offset
        self.message = message


def varint_at(data: bytes, place: int) -> tuple[int, int]:
    """Return a number and the place after it. Raises IndexError where the bytes end, or a long one does.

    The lowest set bit of the first byte tells by its place how many bytes follow; the rest are the number's bits.
    """
    first = data[place]
    if first & 1:
        return first >> 1, place + 1
    if first & 2:
        return (first | data[place + 1] << 8) >> 2, place + 2
    size = 9 if not first else (first & -first).bit_length()
    whole = data[place:place + size]
    if len(whole) < size:
        raise IndexError
    return (int.from_bytes(whole, "little") >> size) if first else int.from_bytes(whole[1:], "little"), place + size


class ByteCursor:
    """Reads from `place` up to `end`."""

    __slots__ = ("data", "end", "place")

    def __init__(self, data: bytes, place: int = 0, end: int | None = None) -> None:
        self.data = data
        self.place = place
        self.end = len(data) if end is None else end

    @property
    def left(self) -> int:
        """The number of bytes not yet read."""
        return self.end - self.place

    def error(self, message: str, code: str = codes.DAMAGED) -> DamagedError:
        """Return the error of a fault at this place."""
        return DamagedError(code, self.place, message)

    def byte(self) -> int:
        """Read one byte."""
        return self.take(1)[0]

    def varint(self) -> int:
        """Read a number without a sign, of up to 64 bits."""
        place = self.place
        if place < self.end:
            first = self.data[place]
            if first & 1:
                self.place = place + 1
                return first >> 1
            if first & 2 and place + 1 < self.end:
                self.place = place + 2
                return (first | self.data[place + 1] << 8) >> 2
            if place + (9 if not first else (first & -first).bit_length()) <= self.end:
                value, self.place = varint_at(self.data, place)
                return value
        raise self.error("the bytes end in the middle of a number", codes.TRUNCATED)

    def signed(self) -> int:
        """Read a number whose sign is in its lowest bit."""
        value = self.varint()
        return value >> 1 if not value & 1 else -(value + 1 >> 1)

    def flagged(self) -> tuple[int, bool]:
        """Read a number and the flag in its lowest bit."""
        value = self.varint()
        return value >> 1, bool(value & 1)

    def count(self, what: str, bytes_each: int = 1) -> int:
        """Read how many of something follow, each of which takes at least so many bytes."""
        start = self.place
        return self.checked(self.varint(), what, bytes_each, start)

    def checked(self, count: int, what: str, bytes_each: int = 1, start: int | None = None) -> int:
        """Return a count. Raises DamagedError if the bytes that are left cannot hold so many."""
        if count * bytes_each > self.left:
            raise DamagedError(codes.DAMAGED, self.place if start is None else start,
                               f"{count} {what} are announced, and {self.left} bytes are left")
        return count

    def take(self, size: int) -> bytes:
        """Read so many bytes."""
        if size > self.left:
            raise self.error(f"{size} bytes are announced, and {self.left} are left", codes.TRUNCATED)
        found = self.data[self.place:self.place + size]
        self.place += size
        return found

    def slice(self, size: int) -> ByteCursor:
        """Return a cursor over the next so many bytes, and go on after them."""
        start = self.place
        if size > self.left:
            raise self.error(f"{size} bytes are announced, and {self.left} are left", codes.TRUNCATED)
        self.place += size
        return ByteCursor(self.data, start, start + size)

    def terminated(self) -> bytes:
        """Read up to a zero byte, which is not returned."""
        found = self.data.find(b"\0", self.place, self.end)
        if found < 0:
            raise self.error("a text has no end", codes.TRUNCATED)
        start, self.place = self.place, found + 1
        return self.data[start:found]

    def align(self, alignment: int) -> None:
        """Skip what fills up to a multiple of a power of two."""
        if alignment <= 0 or alignment & (alignment - 1):
            raise self.error(f"an alignment is {alignment}, which is no power of two")
        filling = -self.place % alignment
        if filling > self.left:
            raise self.error(f"the bytes end before an alignment of {alignment}", codes.TRUNCATED)
        if self.take(filling).strip(bytes([PADDING])):
            raise self.error("other bytes than padding stand before an alignment")

    def section(self) -> tuple[int, ByteCursor]:
        """Read a section: its number, and a cursor over its bytes."""
        number, size = self.byte(), self.varint()
        if number & 0x80:
            self.align(self.varint())
        return number & 0x7F, self.slice(size)

    def finish(self, what: str) -> None:
        """Raise DamagedError unless all bytes are read."""
        if self.left:
            raise self.error(f"{self.left} bytes are left over after {what}")
