"""The rows of the history of HLO's text form, each as a whole text to read."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path

SHARED = Path(__file__).parents[2] / "shared"
HISTORY = SHARED / "spec" / "text_syntax_history.md"

_COMPUTATIONS = """
add_f { ax = f32[] parameter(0) ay = f32[] parameter(1) ROOT as = f32[] add(ax, ay) }
lt_f { lx = f32[] parameter(0) ly = f32[] parameter(1) ROOT ls = pred[] compare(lx, ly), direction=LT }
pair_f { pa = f32[] parameter(0) pb = f32[] parameter(1) pc = f32[] parameter(2) pd = f32[] parameter(3)
  ROOT pt = (f32[], f32[]) tuple(pa, pb) }
step_f { sa = f32[] parameter(0) sb = f32[] parameter(1) ROOT st = (f32[], f32[]) tuple(sa, sb) }
id_f { ix = f32[] parameter(0) ROOT ic = f32[] copy(ix) }
neg_f { nx = f32[] parameter(0) ROOT nn = f32[] negate(nx) }
cnd { cx = s32[] parameter(0) ROOT ct = pred[] constant(true) }
bdy { bx = s32[] parameter(0) ROOT bc = s32[] copy(bx) }
"""
_NAMES = list("xkcitvzuwabgm")
#: one instruction of each name that the example lines use; reading does not look at shapes
_OPERANDS = "\n".join(f"  {name} = f32[2] parameter({n})" for n, name in enumerate(_NAMES)) \
    .replace("t = f32[2]", "t = (f32[], f32[])") + "\n  s = ((f32[]), f32[], u32[]) async-start(x), calls=neg_f"


@dataclass(frozen=True)
class Row:
    number: int
    section: str
    feature: str
    example: str
    now: str
    reader: str

    @property
    def is_read_today(self) -> bool:
        return self.now.startswith("yes")


@functools.cache
def rows() -> list[Row]:
    """Every row of the tables; empty where the document is not there."""
    found, section = [], ""
    for line in HISTORY.read_text().splitlines() if HISTORY.exists() else ():
        if line.startswith("## "):
            section = line[3:4]
        cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 7 and cells[0].isdigit():
            example = re.search(r"`(.*)`", cells[4])
            found.append(Row(int(cells[0]), section, cells[1], example[1] if example else cells[4], cells[5], cells[6]))
    return found


#: rows whose example is a sketch rather than text: what stands for them
TEXTS = {
    27: "HloModule r ENTRY e { v = f32[2] parameter(0) z = f32[] constant(0)\n ROOT r = f32[] reduce(v, z), "
        "dimensions={0}, to_apply={ x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) } }",
    28: "HloModule r\nENTRY main { p = f32[] parameter(0) ROOT r = f32[] call(p), to_apply=later }\n"
        "later { q = f32[] parameter(0) ROOT n = f32[] negate(q) }",
    18: 'HloModule r\n\nFileNames 1 "m.py" FunctionNames 1 "main" FileLocations 1 {file_name_id=1 function_name_id=1 '
        "line=3 end_line=3 column=2 end_column=9} StackFrames 1 {file_location_id=1 parent_frame_id=1}\n\n"
        "ENTRY e { p = f32[2] parameter(0) }",
    34: "HloModule r ENTRY e { c-1.x = f32[] constant(1) get-tuple-element.12.clone = f32[] negate(c-1.x) }",
    215: "HloModule r ENTRY e { a = f32[6] parameter(0)\n"
         "f16[6,2]{1,0} %b = f16[6,2]{1,0} bitcast-convert(f32[6]{0} %a) }",
    216: "HloModule r ENTRY e { a = f32[6] parameter(0)\n %b = f16[6,2]{1,0} bitcast-convert(f32[6]{0} %a) }",
    141: "HloModule r\nf { p = f32[] parameter(0) }\nENTRY e { c = pred[] parameter(0)\n x = f32[] parameter(1)\n"
         " ROOT r = f32[] conditional(c, x, x), branch_computations={f, f} }",
    20: "HloModule r\nENTRY %main (p: f32[2], q: s32[]) -> f32[2] {\n %p = f32[2] parameter(0)\n"
        " %q = s32[] parameter(1)\n"
        " ROOT %r = f32[2] negate(%p)\n}",
    21: "HloModule r\nmain {\n p = f32[2] parameter(0)\n}",
    24: "HloModule r\nENTRY %main (p: f32[2,3]) -> f32[2,3]{0,1} {\n %p = f32[2,3]{0,1} parameter(0)\n}",
    25: "HloModule r\nhost { p = f32[2] parameter(0) }, execution_thread=\"host\"\nENTRY m { q = f32[2] parameter(0) }",
    26: "HloModule r\nENTRY main {\n p = f32[2] parameter(0)\n} // main",
    30: "HloModule r\nouter { outer_value = f32[] constant(1) }\nENTRY m { ROOT i = f32[] negate(outer_value) }",
    31: "HloModule r\nfused_computation { p = f32[4] parameter(0) ROOT n = f32[4] negate(p) }\n"
        "ENTRY m { a = f32[4]{0} parameter(0)\n"
        " %fusion = f32[4]{0} fusion:kLoop(f32[4]{0} %a), calls=fused_computation }",
    66: "HloModule r ENTRY m { p = f32[2,3]{1,0:D(D,C)} parameter(0) }",
    80: "HloModule r ENTRY m { c = f32[10,100] constant({...}) }",
    223: "HloModule r\r\nENTRY m {\r\n\r\n ROOT c = f32[] constant(1) \r\n}\r\n",
    224: "HloModule r ENTRY m { ROOT c = f32[] constant(1); }",
    225: "HloModule r ENTRY m { ROOT c = f32[] constant(1) }\0",
    226: "HloModule a ENTRY e { c = f32[] constant(1) }\nHloModule b ENTRY e { c = f32[] constant(1) }",
    227: "HloModule r\nENTRY a { c = f32[] constant(1) }\nENTRY b { c = f32[] constant(1) }",
}


def text_of(row: Row) -> str:
    """The row's example as a whole text."""
    if row.number in TEXTS:
        return TEXTS[row.number]
    if row.section == "A":
        return _header_text(row)
    if row.section == "B":
        return f"HloModule r\n{row.example.replace('...', '').strip()}"
    return f"HloModule r\n{_COMPUTATIONS}\nENTRY main {{\n{_OPERANDS}\n{_instruction(row)}\n}}\n"


def _instruction(row: Row) -> str:
    """The example line, its new names kept apart from the operands'."""
    line = row.example
    for name in [*_NAMES, "s"]:
        line = re.sub(rf"^(%?){name}(?=\s*=)", rf"\1new_{name}", line)
    return line


def _header_text(row: Row) -> str:
    if row.number in (3, 4, 5):
        return row.example
    return f"{row.example}\nENTRY e {{ p = f32[2] parameter(0) }}\n"
