"""Names and metadata of instructions from MLIR locations; locations.py writes them, and says how."""

from __future__ import annotations

import re

from hlotool import mlir
from hlotool.ir import Kind, Metadata
from hlotool.text import PhraseError, quote, read_value

_NAME = re.compile(r"[A-Za-z_][\w.\-]*")


class LocationReader:
    """Reads locations, the metadata of each once."""

    def __init__(self) -> None:
        self._metadata: dict[tuple[str, str, int], Metadata | None] = {}
        self._beneath: dict[mlir.AnyAttribute, tuple[bool, Metadata | None]] = {}

    def read(self, location: mlir.AnyAttribute) -> tuple[str, Metadata | None]:
        """Return the name ('' for none) and the metadata that a location stands for."""
        while isinstance(location, mlir.FusedLocation) and (places := _places(location)):
            location = next((x for x in places if isinstance(x, mlir.NameLocation)), places[0])
        if not isinstance(location, mlir.NameLocation):
            return "", self._metadata_of("", location)
        name, child = location.name, location.place
        found = self._beneath.get(child)
        if found is None:
            found = self._beneath[child] = self._read_beneath(child)
        is_told, metadata = found
        if is_told or _NAME.fullmatch(name):
            return name, metadata
        return "", self._metadata_of(name, child)

    def _read_beneath(self, location: mlir.AnyAttribute) -> tuple[bool, Metadata | None]:
        """Return the metadata of what stands below a name, and True if it tells the name of the operation."""
        if (whole := self._whole(location)) is not None:
            return True, whole
        if isinstance(location, mlir.NameLocation):
            return True, self._metadata_of(location.name, location.place)
        return False, self._metadata_of("", location)

    def _metadata_of(self, op_name: str, location: mlir.AnyAttribute) -> Metadata | None:
        key = op_name, *_place(location)
        if key not in self._metadata:
            self._metadata[key] = _metadata(*key)
        return self._metadata[key]

    def _whole(self, location: mlir.AnyAttribute) -> Metadata | None:
        """Return the metadata that travels beside a location, as HLO text."""
        match location:
            case mlir.FusedLocation(metadata=mlir.StringAttribute(text=text)):
                if not (text.startswith("{") and text.endswith("}")):
                    return None
            case _:
                return None
        key = text, "", 0
        if key not in self._metadata:
            try:
                self._metadata[key] = read_value(Kind.METADATA, text, "metadata")
            except PhraseError:
                self._metadata[key] = None
        return self._metadata[key]


def name_in(location: mlir.AnyAttribute) -> str | None:
    """Return the instruction's name in a location that was written for it."""
    return location.name if isinstance(location, mlir.NameLocation) else None


def _places(location: mlir.FusedLocation) -> list[mlir.AnyAttribute]:
    """Return what is fused, as MLIR keeps it: what is not known, is left out where something is known."""
    return [x for x in location.places if x is not mlir.UNKNOWN]


def _place(location: mlir.AnyAttribute) -> tuple[str, int]:
    """Return the file and line that a location leads to: of calls the callee's, of several the first one's."""
    for _ in range(1000):
        match location:
            case mlir.FileLocation(file=file, line=line):
                return ("", 0) if file == mlir.NO_FILE else (file, line)
            case mlir.CallLocation(callee=inner) | mlir.NameLocation(place=inner):
                location = inner
            case mlir.FusedLocation() if places := _places(location):
                location = places[0]
            case _:
                break
    return "", 0


def _metadata(op_name: str, file: str, line: int) -> Metadata | None:
    fields = [f"op_name={quote(op_name)}"] if op_name else []
    if file:
        fields += [f"source_file={quote(file)}", f"source_line={line}"]
    found: Metadata | None = read_value(Kind.METADATA, "{" + " ".join(fields) + "}", "metadata") if fields else None
    return found
