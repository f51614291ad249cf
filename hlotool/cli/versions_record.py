"""The report of `hlotool versions`: types alone, which only --schema needs at run time."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypeAlias, TypedDict


class FeatureRecord(TypedDict):
    """A feature of a program that StableHLO 0.9.0 lacks."""

    version: Annotated[str, "the first one that has it"]
    kind: Annotated[str, "operation, attribute, type, use or location"]
    feature: str
    operations: Annotated[int, "how many have it"]
    places: Annotated[list[str], "locations of the first ones, as the program has them"]


class VersionsRecord(TypedDict):
    """A program, and the StableHLO version that it needs."""

    file: str
    needs: Annotated[str, "the oldest version that has all of its features"]
    artifact: Annotated[str | None, "the version that an artifact is written for; null: no artifact"]
    features: list[FeatureRecord]
    target: NotRequired[str]
    readable: NotRequired[Annotated[bool, "true if a consumer of the target reads the file as it is"]]


VersionsReport: TypeAlias = list[VersionsRecord]
