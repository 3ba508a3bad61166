"""Cases: carets in source files, marked in comments, with rules about the list at the caret."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval.core import model
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.contracts import Task
from ci_eval.core.grammar.document import Document, checksum
from ci_eval.core.interpret.assignments import Assignment, Setup
from ci_eval.core.interpret.engines import KeptEngine
from ci_eval.core.interpret.grading import apply_edits
from ci_eval.core.interpret.player import Player
from ci_eval.core.scoring import begins

DIRECTIVES = "expect: NAME, …; rank <= N; not: NAME, …; silent; module: NAME; leaves: LINE; text: TEXT"
FIRST = 3
EVERYTHING = 1_000_000
"""The limit of stored suggestions: practically none, since a forbidden name must not be anywhere in the list."""

_COMMENT = re.compile(r"(\s*(#|//)\s*)(.*)")
_CARET = re.compile(r"\^(?!\S)")
_CURSOR = re.compile(r"<CURSOR(?::\s*(?:([\w.]+)\.)?(\w+)\s*)?>")
"""The caret in the files of ty's own evaluation, with the expected name and its module."""
_DIRECTIVE = re.compile(
    r"(?:(leaves|text):\s*(\S.*)|(expect|not|module):\s*([^\s;][^;]*)|(rank)\s*<=\s*([1-9]\d*)|(silent)())\s*(?:;\s*|$)"
)


class Case(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    line: int
    text: str
    """The text of the file without marks. It has as many lines as the file."""
    offset: int
    directives: str
    expect: tuple[str, ...] = ()
    rank: int | None = None
    barred: tuple[str, ...] = ()
    silent: bool = False
    module: str = ""
    leaves: str = ""

    def around(self) -> tuple[str, str]:
        begin, end = self.text.rfind("\n", 0, self.offset) + 1, self.text.find("\n", self.offset)
        return self.text[begin : self.offset], self.text[self.offset : end if end >= 0 else None]

    def word(self, pattern: re.Pattern[str]) -> tuple[int, str]:
        """Return the offset and text of the word that contains or touches the caret; the text is "" without a word."""
        before, after = self.around()
        for match in pattern.finditer(before + after):
            if match.start() <= len(before) <= match.end():
                return self.offset - len(before) + match.start(), match[0]
        return self.offset, ""


# ------------------------------------------------------------------------------------------------------- reading


class _Mark(msgspec.Struct):
    line: int
    column: int
    comment: str = ""
    """The sign that begins the comment with the mark, such as `#`; "" if the mark is in the code."""
    directives: list[tuple[int, str]] = msgspec.field(default_factory=list)
    """Pairs of a line number (from 0) and the directives in that line."""


def read_cases(text: str, path: str, language: str) -> list[Case]:
    """Read the cases in the comments of a file. Raises ConfigError, with file and line, for a bad directive."""
    lines, marks, source, mark = text.split("\n"), list[_Mark](), -1, None
    for number, line in enumerate(lines):
        comment = _COMMENT.fullmatch(line)
        words = comment[3] if comment else ""
        # clangd's tests mark the caret by `^` in the code. `^` may be an operator, so directives must be below it.
        clangd = language == "cpp" and not mark and source >= 0 and lines[source].count("^") == 1
        if comment and _CARET.match(words):
            mark = _Mark(source, len(comment[1]), comment[2], [(number, words[1:])])
            marks.append(mark)
        elif comment and clangd and _DIRECTIVE.match(words):
            mark = _Mark(source, lines[source].index("^"), "", [(number, words)])
            marks.append(mark)
            lines[source] = lines[source].replace("^", "")
        elif comment and mark and (_DIRECTIVE.match(words) or mark.comment == comment[2]):
            mark.directives.append((number, words))
        else:
            source, mark = number, None
            while cursor := _CURSOR.search(lines[number]):
                named = f"expect: {cursor[2]}" if cursor[2] else ""
                module = f"module: {cursor[1]}" if cursor[1] else ""
                mark = _Mark(number, cursor.start(), "", [(number, named), (number, module)])
                marks.append(mark)
                lines[number] = lines[number][: cursor.start()] + lines[number][cursor.end() :]
            continue
        # An empty line replaces the comment, so that line numbers stay and engines do not see the expected names.
        lines[number] = ""
    return [_read_case(lines, path, mark) for mark in marks]


def _read_case(lines: Sequence[str], path: str, mark: _Mark) -> Case:
    where = f"{path}:{mark.directives[0][0] + 1}"
    if mark.line < 0 or mark.column > len(lines[mark.line]):
        raise ConfigError(
            f"{where}: there is no code above the mark ^: put the mark below the character after the caret, at most "
            "one column after the end of the line above"
        )
    known = dict[str, str]()
    for number, words in mark.directives:
        rest = words.strip()
        while rest:
            match = _DIRECTIVE.match(rest)
            if not match:
                raise ConfigError(f"{path}:{number + 1}: {rest!r} is not a directive; the directives are {DIRECTIVES}")
            name, value = (part for part in match.groups() if part is not None)
            if name in known:
                raise ConfigError(f"{path}:{number + 1}: {name} is given twice: remove one")
            known[name] = value.strip()
            rest = rest[match.end() :]
    expect = (*_names(known.get("expect", "")), *((known["text"],) if "text" in known else ()))
    if not known or ("silent" in known and len(known) > 1):
        reason = "`silent` allows no other directive" if known else "a case needs directives"
        raise ConfigError(f"{where}: {reason}; the directives are {DIRECTIVES}")
    for name in {"rank", "module", "leaves"} & known.keys():
        if not expect or (name != "rank" and len(expect) > 1):
            raise ConfigError(f"{where}: `{name}` needs one expected name: add `expect: NAME`, or a case for each name")
    return Case(
        path=path,
        line=mark.line + 1,
        text="\n".join(lines),
        offset=sum(len(line) + 1 for line in lines[: mark.line]) + mark.column,
        directives="; ".join(words for _, words in mark.directives if words.strip()).strip(),
        expect=expect,
        rank=int(known["rank"]) if "rank" in known else None,
        barred=_names(known.get("not", "")),
        silent="silent" in known,
        module=known.get("module", ""),
        leaves=known.get("leaves", ""),
    )


def _names(value: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, value.split(","))))


# -------------------------------------------------------------------------------------------------------- asking

_PROPERTIES = model.Properties(kind=model.Kind.RECORD)


def ask_cases(setup: Setup, task: Task, cases: Sequence[Case]) -> Iterator[model.Session]:
    """Ask each case as in an evaluation, and yield its session. `task`: a task that completes whole words."""
    setup = replace(setup, settings=replace(setup.settings, max_suggestions=EVERYTHING))
    engine = KeptEngine(setup)
    try:
        for number, case in enumerate(cases):
            begin, word = case.word(setup.surroundings.word)
            # Engines return edits only for the expected name, which may differ from the word at the caret.
            name = next(iter((*case.expect, *case.barred)), word)
            of_case = replace(setup, task=replace(task, write=lambda _, name=name: name))
            call = model.UseImport(
                session=f"{number}",
                offset=begin,
                prefix=case.text[begin : case.offset],
                expected_text=word,
                properties=_PROPERTIES,
                removed=model.RemovedImport(module=case.module, offset=0, text=""),
            )
            digest = checksum(case.text)
            actions = (
                model.OpenFile(path=case.path, checksum=digest),
                model.MoveCaret(offset=case.offset),
                call,
                model.FinishSession(),
            )
            file = model.FileActions(path=case.path, checksum=digest, sessions=1, unparsable=0.0, actions=actions)
            assignment = Assignment(setup=of_case, actions=Path(), path=case.path, sessions=1, below=1.0)
            yield from Player(assignment, Document(case.text), engine).play(file.actions)
    finally:
        engine.close()


# ------------------------------------------------------------------------------------------------------ checking


def check_case(case: Case, session: model.Session, pattern: re.Pattern[str]) -> list[str]:
    """Return a message for each broken rule; [] if all rules are kept. `pattern`: the pattern of a word."""
    if session.status in model.FAILED or not session.lookups:
        return [f"no list, {session.status.value}: {session.message}"]
    shown = session.lookups[-1].suggestions
    begin, word = case.word(pattern)
    reasons = []
    for name in case.expect:
        named = [(place, item) for place, item in enumerate(shown, 1) if _fits(item, name, case)]
        if not named:
            of_module = f" with an import from {case.module}" if case.module else ""
            reasons.append(f"{name} is not offered{of_module}; {_first(shown)}")
            continue
        # A suggestion that leaves only the name is preferred to one with a tail, such as `name(arguments)` or `name=`.
        place, item = next((pair for pair in named if _leaves_only(pair[1], name)), named[0])
        if case.rank and place > case.rank:
            reasons.append(f"{name} has rank {place}; {_first(shown)}")
        tail, _, removed = item.tail.partition(model.ELSEWHERE)[0].partition(model.REMOVED)
        tail, _, before = tail.partition(model.REMOVED_BEFORE)
        first = begin - len(before)
        accepted = (first, len(before) + len(word) + len(removed), item.text + tail)
        text = apply_edits(case.text, [accepted])
        until = text.find("\n", first + len(item.text + tail))
        left = text[text.rfind("\n", 0, first) + 1 : until if until >= 0 else None].split()
        if case.leaves and left != case.leaves.split():
            reasons.append(f"acceptance leaves {' '.join(left)}")
    for name in case.barred:
        ranks = [at for at, item in enumerate(shown, 1) if item.text == name or _leaves_only(item, name)]
        reasons += [f"{name} is offered, at rank {at}" for at in ranks[:1]]
    typed = case.text[begin : case.offset]
    if case.silent and (loud := [item for item in shown if begins(item, typed)]):
        reasons.append(f"suggestions that begin as typed: {len(loud):,}; {_first(loud)}")
    return reasons


def _first(shown: Sequence[model.Suggestion]) -> str:
    named = ", ".join(item.label or item.text for item in shown[:FIRST])
    return f"first {named}" if named else "the list is empty"


def _leaves_only(item: model.Suggestion, text: str) -> bool:
    return item.text + item.tail.partition(model.ELSEWHERE)[0] == text


def _fits(item: model.Suggestion, name: str, case: Case) -> bool:
    if item.text != name and not _leaves_only(item, name):
        return False
    if not case.module:
        return True
    old = case.text.splitlines()
    added = [line for line in apply_edits(case.text, item.edits or ()).splitlines() if line not in old]
    whole = re.compile(rf"(?<![\w./]){re.escape(case.module)}(?![\w./])")
    return any(whole.search(line) for line in added)
