"""The grades of suggestions, which say how close a suggestion is to the expected text. Only some tasks have graders."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval.core.base.errors import CiEvalError
from ci_eval.core.catalogs import graders, languages
from ci_eval.core.contracts import WORD, Edit, Grader, Pairing, RunSettings, Surroundings, Task
from ci_eval.core.grammar.parsing import count_errors
from ci_eval.core.grammar.syntax import choose_grammar
from ci_eval.core.import_syntax import Import, ImportSyntax, Project
from ci_eval.core.interpret.assignments import record_of_lookup
from ci_eval.core.interpret.pack import Pack
from ci_eval.core.model import ELSEWHERE, REMOVED, EndpointConfig, Lookup, Offer, Record, Session, Suggestion, UseImport
from ci_eval.core.scoring import COMPILES, SAME_MODULE, SAME_OBJECT
from ci_eval.core.workspace import Workspace

EDGE_OF_IMPORT = re.compile(r"(?:from|import)\b|\}\s*from\b")
"""The beginning of the first or the last line of an import, whose names may be on other lines."""
ADDED_IMPORT = re.compile(r"\s*(?:from|import|use|using|require|#\s*include)\b")
"""The beginning of a line with an import, in any language."""
READ_TEXTS = 8
"""The number of texts whose imports are cached."""
Scores = Mapping[str, float]


class Grading:
    def __init__(
        self,
        task: Task,
        language: str,
        cache: Path,
        judge: EndpointConfig | None = None,
        run: RunSettings | None = None,
    ) -> None:
        """Load the task's graders. `language`: for records without a language. Raises ConfigError, PreparationError."""
        self._task = task
        self._graders = [
            _Known.of(grader) for grader in graders.ready(list_graders(task, judge, run), cache, judge, run)
        ]
        self._language = language

    def session(self, session: Session, text: str) -> Session:
        """Grade a session again, without its existing grades. `text`: the text of the session's file on disk."""
        lookups = (
            self.grade(
                session.expected_text,
                record_of_lookup(self._task, session.record, number),
                replace(
                    lookup,
                    suggestions=tuple(replace(item, grades=None, remark="") for item in lookup.suggestions),
                    grades=None,
                ),
                (text, session.offset),
                at_caret=session.at_caret,
                language=session.properties.language,
            )
            for number, lookup in enumerate(session.lookups)
        )
        return replace(session, lookups=tuple(lookups))

    def grade(
        self,
        expected: str,
        record: Record | None,
        lookup: Lookup,
        place: tuple[str, int] = ("", 0),
        *,
        at_caret: bool = False,
        language: str | None = None,
    ) -> Lookup:
        """Return the lookup with its grades, or unchanged if no grader can grade it. `place`: the text of the file, and
        the offset of the expected text. `at_caret`: as in SessionScore. `language`: the file's language, if known."""
        if record and self._task.splitting:
            splitting = self._task.splitting
            grade = (splitting.ranked if at_caret else None) or splitting.grade
            return replace(lookup, grades=dict(grade(lookup.suggestions, record)))
        references = record.references if record else (expected,)
        # Only a judge can grade without a reference.
        able = self._graders if references else [grader for grader in self._graders if grader.judges]
        if not able:
            return lookup
        references = references or ("",)
        language = (record.language if record else language) or self._language
        code, offset = place
        against = _Against(references, language, (code, offset, offset + len(expected)), record)
        shown, grades = lookup.suggestions[: self._task.graded], dict[str, float]()
        suggested = [suggestion.text for suggestion in shown]
        for grader in able:
            read = self._task.readers.get(grader.name)
            texts = [*read(lookup.answer, record)] if record and read else suggested
            # If there is no suggestion, the judge is not asked, and the other graders grade an empty text.
            closest = against.closest(grader, texts if grader.judges else texts or [""])
            if self._task.summed and not grader.judges:
                grades |= _rename_taken(grader.name, self._task.summed([values for values, _ in closest]), grades)
                continue
            scores = [_rename_taken(grader.name, values, grades) for values, _ in closest]
            costs = [cost for text in texts if (cost := against.cost(grader, text)) is not None]
            if costs:
                grades["judgeCost"] = sum(costs)
            if grader.judges:
                grades |= _summarise_verdicts(scores)
            elif self._task.best:
                grades |= {name: max(values[name] for values in scores) for name in scores[0]}
            else:
                grades |= scores[0]
            if not read:
                shown = tuple(
                    replace(item, grades={**(item.grades or {}), **values} or None, remark=remark or item.remark)
                    for item, values, (_, remark) in zip(shown, scores, closest, strict=False)
                )
        return replace(lookup, suggestions=(*shown, *lookup.suggestions[self._task.graded :]), grades=grades)


class _Known(msgspec.Struct, frozen=True):
    name: str
    grade: Callable[[Pairing], Scores]
    judges: bool
    remark: Callable[[Pairing], str]
    cost: Callable[[Pairing], float | None] | None
    """None if the grader asks no language model."""
    grade_texts: Callable[[str, str], Scores] | None
    """None if the grader needs more than the reference and the suggested text."""

    @classmethod
    def of(cls, grader: Grader) -> _Known:
        return cls(
            name=grader.name,
            grade=grader.grade,
            judges=isinstance(grader, graders.Judging),
            remark=grader.remark if isinstance(grader, graders.Remarking) else lambda _: "",
            cost=grader.cost if isinstance(grader, graders.Priced) else None,
            grade_texts=grader.grade_texts if isinstance(grader, graders.OfTexts) else None,
        )


class _Against:
    """The references for the suggested texts of a lookup, with the lookup's file and record."""

    def __init__(
        self, references: Sequence[str], language: str, span: tuple[str, int, int], record: Record | None
    ) -> None:
        self._references, self._language, self._span, self._record = references, language, span, record
        self._pairings: dict[str, list[Pairing]] = {}

    def closest(self, grader: _Known, texts: Sequence[str]) -> list[tuple[Scores, str]]:
        """Return scores and remark for each text, from the reference whose first score is the highest."""
        grade = grader.grade_texts
        if grade and len(self._references) == 1:
            (reference,) = self._references
            return [(grade(reference, text), "") for text in texts]
        return [self._closest(grader, text) for text in texts]

    def _closest(self, grader: _Known, text: str) -> tuple[Scores, str]:
        # All graders share the pairings, since making them takes longer than some grades.
        pairings = self._pairings.get(text)
        if pairings is None:
            code, start, end = self._span
            pairings = self._pairings[text] = [
                Pairing(
                    reference=reference,
                    hypothesis=text,
                    language=self._language,
                    before=code[:start],
                    after=code[end:],
                    record=self._record,
                )
                for reference in self._references
            ]
        if len(pairings) == 1:
            (decisive,) = pairings
            scores = grader.grade(decisive)
        else:
            graded = [(grader.grade(pairing), pairing) for pairing in pairings]
            scores, decisive = max(graded, key=lambda pair: next(iter(pair[0].values()), 0.0))
        if "score" in scores:
            # A plain `score` is a percentage, and is stored under the grader's name.
            scores = {grader.name: scores["score"] / 100}
        return scores, grader.remark(decisive)

    def cost(self, grader: _Known, text: str) -> float | None:
        """Return the cost of grading a text, summed over all references; None if no cost is known."""
        if grader.cost is None:
            return None
        costs = [grader.cost(pairing) for pairing in self._pairings.get(text, ())]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if known else None


def list_graders(task: Task, judge: EndpointConfig | None, run: RunSettings | None) -> list[str]:
    """Return the names of the task's graders, including the judge if there is one, and the runner if tests are run."""
    return [*task.graders, *filter(None, (task.judge if judge else "", task.runner if run else ""))]


def _summarise_verdicts(scores: Sequence[Scores]) -> Scores:
    """Return 1 / the rank of the first accepted suggestion, the accepted share, and the number without a verdict."""
    verdicts = [verdict["judge"] for verdict in scores if verdict]
    first = next((rank for rank, verdict in enumerate(scores, 1) if verdict.get("judge")), None)
    summary = {"unscored": float(len(scores) - len(verdicts))}
    if verdicts or not scores:
        summary |= {"judge": 1 / first if first else 0.0}
    if verdicts:
        summary |= {"accepted": sum(verdicts) / len(verdicts)}
    return summary


def _rename_taken(grader: str, scores: Scores, taken: Container[str]) -> dict[str, float]:
    """Return the scores with the names under which they are stored. If an earlier grader has a score of the same name,
    the grader's name is added: codebleu-strict and codebleu-mera give `codebleu` and `codebleu-mera.codebleu`."""
    return {f"{grader}.{name}" if name in taken else name: value for name, value in scores.items()}


def grade_anew(workspace: Workspace, grading: Grading) -> int:
    """Grade all stored sessions again, and return their number. Raises CiEvalError if a session cannot be graded."""
    count = 0
    for source, sessions in workspace.sessions(Session):
        pack = Pack(source)
        for session in sessions:
            try:
                pack.add(grading.session(session, source.text))
            except CiEvalError as error:
                raise type(error)(f"{source.path}, session {session.id}: {error}") from error
            count += 1
        workspace.write_sessions(source.path, pack.close())
    return count


class Acceptances:
    def __init__(self, surroundings: Surroundings, path: str, text: str) -> None:
        language = languages.CATALOG.load(surroundings.language)
        # Preparation refuses languages without import syntax.
        assert language.import_syntax
        self._syntax = language.import_syntax
        self._modules = self._syntax.modules(Project(surroundings.root, surroundings.environment, surroundings.sources))
        self._grammar = choose_grammar(language.grammars, path)
        self._path = path
        self._imports = {item.name: item for item in self._syntax.read(text)}
        self._errors = count_errors(self._syntax, text, self._grammar)

    def grade(self, suggestions: Sequence[Suggestion], call: UseImport, text: str, caret: int) -> Sequence[Suggestion]:
        """Return the suggestions. Those of the expected name that also add an import get grades."""
        return [
            replace(suggestion, grades=self._grades(suggestion, call, text, caret))
            if suggestion.edits and suggestion.text == call.expected_text and not suggestion.tail
            else suggestion
            for suggestion in suggestions
        ]

    def _grades(self, suggestion: Suggestion, call: UseImport, text: str, caret: int) -> dict[str, float]:
        main = (caret - len(call.prefix), len(call.prefix), suggestion.text)
        after = apply_edits(text, [*(suggestion.edits or ()), main])
        imports = [item for item in self._syntax.read(after) if item.name == call.expected_text and item.runs]
        # If several imports define the name, the last one counts.
        last = max(imports, key=lambda item: item.begin, default=None)
        if last and loses_code(self._syntax, apply_edits(text, [main]), after):
            last = None
        expected = self._imports[call.expected_text]
        same_module = last is not None and self._identify(last) == self._identify(expected)
        same_object = last is not None and self._origin(last) == self._origin(expected)
        return {
            SAME_MODULE: float(same_module),
            SAME_OBJECT: float(same_object and not same_module),
            COMPILES: float(count_errors(self._syntax, after, self._grammar) <= self._errors),
        }

    def _identify(self, item: Import) -> tuple[str, str]:
        return self._modules.identify(self._path, item.module), item.original

    def _origin(self, item: Import) -> tuple[str, str]:
        return self._modules.origin(self._path, item.module, item.original)


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    ordered = sorted(enumerate(edits), key=lambda numbered: (numbered[1][0], numbered[0]), reverse=True)
    for _, (offset, deleted, inserted) in ordered:
        text = text[:offset] + inserted + text[offset + deleted :]
    return text


def loses_code(syntax: ImportSyntax, before: str, after: str) -> bool:
    """Return whether `after` lacks a line of code of `before` that is not part of an import."""
    return bool(
        _code_lines(syntax.read(before), before, EDGE_OF_IMPORT) - Counter(line.strip() for line in after.splitlines())
    )


def _code_lines(imports: Sequence[Import], text: str, edge: re.Pattern[str] | None = None) -> Counter[str]:
    lines = text.splitlines(keepends=True)
    begins = [0, *accumulate(map(len, lines))]
    imported = {
        number
        for item in imports
        for number in range(bisect_right(begins, item.begin) - 1, bisect_left(begins, item.end))
    }
    return Counter(
        code
        for number, line in enumerate(lines)
        if number not in imported and WORD.search(code := line.strip()) and not (edge and edge.match(code))
    )


class FileChanges:
    """The changes that accepting a suggestion makes in a file outside of the token."""

    def __init__(self, language: str) -> None:
        syntax = languages.CATALOG.load(language).import_syntax
        self._joins = syntax is not None and syntax.joins
        # Imports are cached, since all lookups of a token, and often of a file, have the same original text.
        self._read = read = lru_cache(maxsize=READ_TEXTS)(syntax.read) if syntax else None
        self._code = lru_cache(maxsize=READ_TEXTS)(lambda text: dict(_code_lines(read(text) if read else (), text)))

    def mark(self, suggestions: Sequence[Suggestion], token: Edit, text: str) -> Sequence[Suggestion]:
        """Add a description of edits elsewhere in the file to the tails of suggestions. An import that the file
        already has is not a change. `token`: the edit that turns `text`, the text at the lookup, into the original."""
        return [
            replace(suggestion, tail=(tail := suggestion.tail + _describe(suggestion.edits, text)), firm=len(tail))
            if isinstance(suggestion, Offer)
            and suggestion.edits
            and (suggestion.text != token[2] or self._differ(*self._sides(suggestion.edits, token, text)))
            else suggestion
            for suggestion in suggestions
        ]

    def adds_import(self, first: Sequence[Suggestion], token: Edit, text: str) -> bool:
        """Return whether accepting the first suggestion adds an import that the file does not have."""
        if not first or not first[0].edits:
            return False
        before, after = self._sides(first[0].edits, token, text)
        known = set(before.splitlines())
        added = any(ADDED_IMPORT.match(line) for line in after.splitlines() if line not in known)
        if self._read is None or not (imports := self._read(after)):
            return added
        names = _names(imports) - _names(self._read(before))
        return bool(names) or (added and self._differ(before, after))

    def _sides(self, edits: Sequence[Edit], token: Edit, text: str) -> tuple[str, str]:
        """Return the file's text without and with the edits; if the edits only insert imports, up to their end."""
        before, after = apply_edits(text, [token]), apply_edits(text, [*edits, token])
        offset, _, lines = edits[0]
        start, remainder = before[:offset], before[offset:]
        end = start + lines
        # Parsing a whole file takes long; the remainder, which both sides have, is parsed once for all lookups.
        # It is not left out if it has an inserted line or import itself.
        if (
            self._read is None
            or not self._joins
            or not (ADDED_IMPORT.match(lines) and not lines[0].isspace() and lines.endswith("\n"))
            or end + remainder != after
            or start[-1:] not in {"", "\n"}
            or any(line in before for line in lines.splitlines())
        ):
            return before, after
        further, known = self._read(end), self._read(remainder)
        if further and known and not (_names(further) - _names(self._read(start))) & _names(known):
            return start, end
        return before, after

    def _differ(self, before: str, after: str) -> bool:
        if self._read is None or before == after:
            return before != after
        return _names(self._read(before)) != _names(self._read(after)) or self._code(before) != self._code(after)


def _names(imports: Sequence[Import]) -> set[tuple[str, str, str]]:
    return {(item.name, item.module, item.original) for item in imports}


def _describe(edits: Sequence[Edit], text: str) -> str:
    written = [
        " ".join(new.split()) + (REMOVED + " ".join(text[offset : offset + deleted].split()) if deleted else "")
        for offset, deleted, new in edits
    ]
    return ELSEWHERE + " ".join(written)
