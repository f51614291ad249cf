"""The bodies of computations: statement after statement, and what is wrong between them.

Reading goes on after an error, at the next statement.
"""

from __future__ import annotations

import itertools
import weakref

from hlotool.diagnostics import define
from hlotool.grammars import beginning
from hlotool.ir import HloComputation, HloInstruction, deferred, unique_name
from hlotool.text.definitions import MOST_NESTED, Body, Definitions
from hlotool.text.fast_lines import QuickLines
from hlotool.text.phrase_cache import RememberedPhrases
from hlotool.text.phrases import PhraseError
from hlotool.text.reports import Reports
from hlotool.text.scan import HEADER, LINE
from hlotool.text.statements import StatementReader
from hlotool.text.syntax_errors import BAD_STATEMENT, MISSING_CLOSE, NESTED_TOO_DEEP, SYNTAX, TRUNCATED, CutError
from hlotool.text.tokens import STATEMENT, next_statement, skip_blank

UNDEFINED = define("P011", "undefined-operand", "an operand that the computation does not define", SYNTAX)
USED_BEFORE = define("P012", "used-before-defined", "an operand that is defined only after its use", SYNTAX)

#: a statement's name, also where it is not one
_ANY_STATEMENT = deferred(lambda: rf"{beginning('hlo', 'instruction', before=('WORD',), is_one_line=True)}([\w.\-]+)")
_INDENT = deferred(lambda: r"[ \t]*")
_STRAY_BRACE = deferred(
    lambda: rf"\}}[^\n]*\n[ \t]+{beginning('hlo', 'instruction', through=('EQUALS',), spaced=('EQUALS',))}")


class BodyReader:
    """Reads bodies of one text, those inside of statements included."""

    def __init__(self, reports: Reports, phrases: RememberedPhrases, definitions: Definitions) -> None:
        self._reports = reports
        self._text = reports.text
        self._definitions = definitions
        self._last_brace = reports.text.rfind("}")
        self._quick = QuickLines(reports.text, phrases, definitions.suspects)
        #: the end of the last line that the short way refused, where statements are read one by one
        self._refused = -1
        # Weakly, for two readers that hold each other would keep the module until cyclic garbage is collected.
        reader = weakref.proxy(self)

        def read_inline(text: str, at: int) -> HloComputation:
            found: HloComputation = reader._inline_computation(text, at)
            return found

        self.statements = StatementReader(reports, phrases, definitions, read_inline)

    def read(self, body: Body, at: int, limit: int | None = None) -> int:
        """Read instructions up to the closing brace; returns its offset, or that where the body ends without one.

        A body inside of a statement ends at `limit` at the latest, whatever is wrong in it.
        """
        if limit is None:
            begin, at = at, self._quick.read(body, at)
            if at > begin and self._text.startswith("}", at) and self._text[at - 1] == "\n":
                computation = body.computation
                computation.root = body.root or computation.instructions[-1]
                return at  # all of it was read the short way, and nothing of it is wrong
        at = self._statements(body, at, limit)
        self._finish(body)
        return at

    def _statements(self, body: Body, at: int, limit: int | None) -> int:
        text, size = self._text, len(self._text) if limit is None else limit
        line_end = -1
        while True:
            if at > line_end:  # the rest of a line that the short way refused would be looked at in vain
                at = self._quick.read(body, at)
                if limit is None and text.startswith("}", at) and text[at - 1] == "\n":
                    return at
            if (after := skip_blank(text, at)) != at:
                at = after
                continue
            if at >= size:
                if limit is None:
                    self._truncated(body)
                return at
            if text[at] == "}" and (limit is not None or not self._is_stray_brace(at)):
                return at
            if at > line_end:
                line_end = text.find("\n", at) % (len(text) + 1)
            if text[at] == "}":
                at = self._stray_brace(at)
                continue
            if text[at] == "," and (begin := self._reopened(body, at)) is not None:
                at = self._statement(body, begin)
                continue
            if HEADER.match(text, at) is not None:
                self._unclosed(body, at)
                return at
            at = self._statement(body, at)

    def read_one(self, body: Body, at: int) -> int | None:
        """Read what begins at an offset, of a text that was changed there; returns the offset of what follows.

        None where the body ends, and where its end would not be told from the changed part alone.
        """
        text = self._text
        if at >= len(text) or text[at] == "," or HEADER.match(text, at) is not None or (
                text[at] == "}" and not self._is_stray_brace(at)):
            return None
        if at > self._refused and (following := self._quick.read(body, at, at + 1)) != at:
            return skip_blank(text, following)
        self._refused = max(self._refused, text.find("\n", at) % (len(text) + 1))
        return skip_blank(text, self._stray_brace(at) if text[at] == "}" else self._statement(body, at))

    def begin_at(self, at: int, is_first: bool) -> None:
        """Read on at a statement, which may be the first of its body, as if all in front of it had been read."""
        text = self._text
        line = text.rfind("\n", 0, at) + 1
        # The short way takes whole lines: of a line with several statements it refused the first.
        stands_alone = is_first or skip_blank(text, line) == at
        self._refused = -1 if stands_alone else text.find("\n", at) % (len(text) + 1)

    def finish(self, body: Body) -> None:
        """Close a body after all of it was read, and report its problems."""
        self._finish(body)

    def _stray_brace(self, at: int) -> int:
        """Report a brace that closes nothing; returns where to go on."""
        self._reports.report(BAD_STATEMENT, "this '}' closes nothing", at, at + 1, help="remove it")
        return next_statement(self._text, at)

    def _statement(self, body: Body, at: int) -> int:
        """Read one statement the long way; returns where to go on."""
        try:
            return skip_blank(self._text, self.statements.read(body, at))
        except CutError as error:
            if error.start > self._last_brace and error.code != TRUNCATED:
                error.code, error.help = TRUNCATED, "the file is truncated: get the whole dump"
            self._reports.report_cut(error)
            resume = error.resume if error.resume is not None else next_statement(self._text, at)
            self._define_failed(body, at)
            return skip_blank(self._text, max(resume, at + 1))

    def _reopened(self, body: Body, comma: int) -> int | None:
        """Take back a line of the short way that goes on with a comma on another line; returns where it begins."""
        instructions = body.computation.instructions
        line = LINE.match(self._text, instructions[-1].offset) if instructions else None
        if line is None or skip_blank(self._text, line.end()) != comma:
            return None
        last = instructions.pop()
        del body.table[last.name]
        if body.root is last:
            body.root = None
        if self._definitions.suspects[-1:] == [last]:
            self._definitions.suspects.pop()
        return last.offset

    def _is_stray_brace(self, at: int) -> bool:
        """Return True if a '}' ends a line of instructions with more of them behind it, rather than the computation."""
        if self._text[at - 1] == "\n":
            return False
        line = self._text.rfind("\n", 0, at) + 1
        begin = _INDENT.match(self._text, line)
        return begin is not None and begin.end() < at and STATEMENT.match(self._text, begin.end()) is not None \
            and _STRAY_BRACE.match(self._text, at) is not None

    def _inline_computation(self, value: str, offset: int) -> HloComputation:
        """Return a body that is written in place of a computation's name. XLA calls it `_`."""
        known = self._definitions
        if known.depth >= MOST_NESTED:
            raise PhraseError(NESTED_TOO_DEEP, f"computations are nested more than {MOST_NESTED} deep",
                              help="give the inner computations names and lines of their own")
        computation = HloComputation("_", offset=offset)
        known.depth += 1
        self.read(Body(computation), offset + 1, offset + len(value))
        known.depth -= 1
        # Computations inside of this one have taken their names by now.
        computation.name = unique_name("_", known.computations)
        known.computations[computation.name] = computation
        known.module.computations.append(computation)
        return computation

    # What is wrong with a body

    def _unclosed(self, body: Body, at: int) -> None:
        end = self._text.find("\n", at)
        name, offset = body.computation.name, body.computation.offset
        self._reports.report(MISSING_CLOSE, f"expected '}}' at the end of the computation {name}, found another", at,
                             at + len(self._text[at:end].rstrip(" {\t")), help="add '}' on a line before",
                             second=(f"{name} begins here", offset, offset + len(name)))

    def _truncated(self, body: Body) -> None:
        reports, text = self._reports, self._text
        if reports.diagnostics and reports.diagnostics[-1].code == TRUNCATED:
            return
        end = len(text.rstrip())
        comment = text.rfind("/*")
        if comment > text.rfind("*/"):
            reports.report(TRUNCATED, "the text ends inside of a comment", comment, comment + 2,
                           help="close the comment with '*/'")
            return
        name, offset = body.computation.name, body.computation.offset
        reports.report(TRUNCATED, f"the text ends inside of the computation {name}", max(0, end - 1), end,
                       second=(f"{name} begins here", offset, offset + len(name)),
                       help="the file is truncated, or a '}' is missing")

    def _define_failed(self, body: Body, at: int) -> None:
        """Define the name of a statement in error, so that its users are no errors as well."""
        body.failed.append(at)
        found = _ANY_STATEMENT.match(self._text, at)
        if found and found[1] not in body.table:
            body.table[found[1]] = HloInstruction(found[1], "", None, offset=at)  # type: ignore[arg-type]

    def _finish(self, body: Body) -> None:
        for name, offset in body.undefined:
            self._report_undefined(body, name, offset)
        computation = body.computation
        if not computation.instructions:
            if not self._reports.diagnostics:
                self._reports.report(BAD_STATEMENT, f"the computation {computation.name} has no instructions",
                                     computation.offset, computation.offset + len(computation.name))
            return
        computation.root = body.root or computation.instructions[-1]

    def _report_undefined(self, body: Body, name: str, offset: int) -> None:
        table, reports = body.table, self._reports
        if name in table:
            defined = table[name].offset
            reports.report(USED_BEFORE, f"{name} is used before it is defined", offset, offset + len(name),
                           second=(f"{name} is defined here", defined, defined + len(name)),
                           help="move the definition in front of its first use")
            return
        help, fixes = reports.suggest(name, table, offset, 0.75)
        if not help and table:
            known = list(itertools.islice((n for n in table if n.isprintable()), 9))
            help = f"it defines {', '.join(known[:8])}{', ...' if len(known) > 8 else ''}"
        reports.report(UNDEFINED, f"there is no instruction {name} in this computation", offset, offset + len(name),
                       help=help, fixes=fixes)


__all__ = ["BodyReader"]
