"""Draws which rooms import which, by floor, into CONTRIBUTING.md: `python tests/draw_floors.py`.

Arrows that follow from others are left out. The picture is Mermaid's text, which code hosts draw.
"""

import pathlib
import re

from test_floors import FILES, FLOORS, ROOT, imports_of, room_of

CONTRIBUTING = ROOT / "CONTRIBUTING.md"
_PICTURE = re.compile(r"(<!-- picture of floors -->\n).*?(<!-- end of picture -->)", re.S)


def room_imports() -> dict[str, set[str]]:
    """Room -> the rooms that its files import."""
    found: dict[str, set[str]] = {}
    for room, path in FILES:
        others = {room_of(module) for _, module in imports_of(path)} - {room, ""}
        found.setdefault(room, set()).update(o for o in others if o in FLOORS)
    return found


def without_what_follows(imports: dict[str, set[str]]) -> dict[str, set[str]]:
    """The arrows that no path of other arrows gives."""
    def below(room: str) -> set[str]:
        return set().union(*({o} | below(o) for o in imports.get(room, ())))
    return {room: {o for o in others if not any(o in below(p) for p in others - {o})}
            for room, others in imports.items()}


def picture() -> str:
    arrows = without_what_follows(room_imports())
    floors: dict[int, list[str]] = {}
    for room in arrows:
        floors.setdefault(FLOORS[room], []).append(room)
    lines = ["```mermaid", "flowchart TB"]
    for floor in sorted(floors, reverse=True):
        rooms = [f"    {room}" for room in sorted(floors[floor])]
        lines += [f"  subgraph floor{floor}[floor {floor}]", *rooms, "  end"]
    lines += [f"  {room} --> {other}" for room in sorted(arrows) for other in sorted(arrows[room])]
    return "\n".join([*lines, "```", ""])


def drawn(text: str) -> str:
    return _PICTURE.sub(lambda m: f"{m[1]}{picture()}{m[2]}", text)


if __name__ == "__main__":
    CONTRIBUTING.write_text(drawn(CONTRIBUTING.read_text("utf-8")), "utf-8")
    print(pathlib.Path(CONTRIBUTING).name)
