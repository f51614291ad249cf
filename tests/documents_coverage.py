"""What holds of each operation of each document: writes samples/worked/COVERAGE.md.

The numbers are those of the calls of samples/documents and of the examples of samples/worked; that each holds is what
test_documents.py and test_worked_examples.py test, every call of `builds` as text and lifted, too.
"""

from __future__ import annotations

import pathlib
import re
from collections import Counter

from documented_calls import DOCUMENTS, load

WORKED = pathlib.Path(__file__).parent.parent / "samples" / "worked"
PATH = WORKED / "COVERAGE.md"
#: documents by the prefix of an example's id
_PREFIXES = {f"{word}.": name for word, name in DOCUMENTS.items() if word != "ru"}
_HEAD = """# What is tried of the five versions of "XLA Operation Semantics"

Made by `python tests/documents_coverage.py`: do not edit. A row is an operation of a document.

- **builds**: calls as the document writes them (its order, the names of its signature and of its table, its defaults
  and optional arguments, its examples' own code), each of which builds under that document's semantics; they stand in
  `samples/documents`.
- **text**: of these, the calls whose module is printed and read back as the same module.
- **lifts**: of these, the calls whose module lifts to StableHLO and comes back as a module that verifies.
- **refused**: calls that break what the document demands, each refused with the code of that constraint.
- **examples**: worked examples of the document in `samples/worked`, whose values hold on the reference and on PJRT.

| document | operations | builds | refused | examples | lifts | text |
|---|---|---|---|---|---|---|
"""


def coverage() -> str:
    """The text of the file."""
    builds: Counter[tuple[str, str]] = Counter()
    refused: Counter[tuple[str, str]] = Counter()
    for call in load():
        (refused if call.code else builds)[call.document, call.operation] += 1
    found = _examples()
    rows = {d: sorted(o for e, o in builds if e == d) for d in DOCUMENTS.values()}
    lines = [_row(d, str(len(names)), *(sum(c[d, o] for o in names) for c in (builds, refused)),
                  sum(n for (e, _), n in found.items() if e == d)) for d, names in rows.items()]
    parts = [_HEAD + "\n".join(lines)]
    for document, names in rows.items():
        parts.append(f"\n## {document}\n\n| operation | builds | refused | examples | lifts | text |\n"
                     "|---|---|---|---|---|---|")
        parts += [_row(o, builds[document, o], refused[document, o], found[document, _plain(o)]) for o in names]
    return "\n".join(parts) + "\n"


def _row(*cells: str | int) -> str:
    """A row of the table; what builds lifts and is read back, which is what test_documents.py asks of every call."""
    builds = cells[-3]
    return f"| {' | '.join(map(str, (*cells, builds, builds)))} |"


def _examples() -> Counter[tuple[str, str]]:
    """How many worked examples there are, by document and operation."""
    found: Counter[tuple[str, str]] = Counter()
    for path in WORKED.glob("*.hlo"):
        for example in re.findall(r"^// example: (\S+)$", path.read_text("utf-8"), re.MULTILINE):
            document = next((d for p, d in _PREFIXES.items() if example.startswith(p)), "")
            name = example.split(".")[1] if document else path.stem
            found[document or DOCUMENTS["ru"], _plain(name)] += 1
    return found


def _plain(name: str) -> str:
    """An operation's name without what spellings differ in."""
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    return {"concatindim": "concatenate", "concat": "concatenate"}.get(plain, plain)


if __name__ == "__main__":
    PATH.write_text(coverage(), "utf-8")
