"""How close suggestions are to what was expected, where the task asks for that."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from ci_eval import graders
from ci_eval.contracts import Grader, Pairing, RunSettings, Task
from ci_eval.errors import CiEvalError
from ci_eval.model import Lookup, Record, Session, Suggestion
from ci_eval.model.endpoints import EndpointConfig
from ci_eval.stages.interpret.assignments import record_of_lookup
from ci_eval.stages.interpret.pack import Pack
from ci_eval.workspace import Workspace

Scores = Mapping[str, float]
"""Name of the score → its value."""


class Grading:
    """The graders of a task."""

    def __init__(
        self,
        task: Task,
        language: str,
        cache: Path,
        judge: EndpointConfig | None = None,
        run: RunSettings | None = None,
    ) -> None:
        """`language`: of records that do not name theirs; `cache`: where graders are installed. Raises ConfigError for
        one that is not there, or PreparationError."""
        self._task = task
        self._graders = [_Known.of(each) for each in graders.ready(names_of(task, judge, run), cache, judge, run)]
        self._language = language

    def session(self, session: Session, text: str) -> Session:
        """With each lookup graded, whatever its grades were; `text`: of its file, as that is on disk."""
        lookups = (
            self.grade(
                session.expected_text,
                record_of_lookup(self._task, session.record, number),
                _plain(lookup),
                (text, session.offset),
                at_caret=session.at_caret,
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
    ) -> Lookup:
        """The lookup with its grades; without any where there are no graders, or nothing to hold it against.

        `place`: the text of its file, and the offset there of what was expected. `at_caret`: as in SessionScore.
        """
        if record and self._task.splitting:
            splitting = self._task.splitting
            grade = (splitting.ranked if at_caret else None) or splitting.grade
            return replace(lookup, grades=dict(grade(lookup.suggestions, record)))
        references = record.references if record else (expected,)
        # What a judge can tell without a reference, no similarity can.
        able = self._graders if references else [grader for grader in self._graders if grader.judges]
        if not able:
            return lookup
        references = references or ("",)
        language = (record.language if record else "") or self._language
        code, offset = place
        against = _Against(references, language, (code, offset, offset + len(expected)), record)
        shown, found = lookup.suggestions[: self._task.graded], dict[str, float]()
        suggested = [each.text for each in shown]
        for grader in able:
            read = self._task.readers.get(grader.name)
            texts = [*read(lookup.answer, record)] if record and read else suggested
            # A judge is not asked about nothing; for the others, no suggestion is an empty one.
            closest = against.closest(grader, texts if grader.judges else texts or [""])
            if self._task.summed and not grader.judges:
                found |= _stored(grader.name, self._task.summed([each for each, _ in closest]), found)
                continue
            scores = [_stored(grader.name, each, found) for each, _ in closest]
            costs = [cost for text in texts if (cost := against.cost(grader, text)) is not None]
            if costs:
                found["judgeCost"] = sum(costs)
            found |= _judged(scores) if grader.judges else _best(scores) if self._task.best else scores[0]
            if not read:
                remarks = [said for _, said in closest]
                shown = tuple(map(_graded, shown, scores, remarks))
        return replace(lookup, suggestions=(*shown, *lookup.suggestions[self._task.graded :]), grades=found)


@dataclass(frozen=True)
class _Known:
    """What a grader is able to: asked once, since that takes longer than most grades."""

    name: str
    grade: Callable[[Pairing], Scores]
    judges: bool
    remark: Callable[[Pairing], str]
    cost: Callable[[Pairing], float | None] | None
    """None where it asks no language model."""
    grade_texts: Callable[[str, str], Scores] | None
    """None where it looks at more than two texts."""

    @classmethod
    def of(cls, grader: Grader) -> _Known:
        return cls(
            name=grader.name,
            grade=grader.grade,
            judges=isinstance(grader, graders.Judging),
            remark=grader.remark if isinstance(grader, graders.Remarking) else _nothing,
            cost=grader.cost if isinstance(grader, graders.Priced) else None,
            grade_texts=grader.grade_texts if isinstance(grader, graders.OfTexts) else None,
        )


class _Against:
    """What the texts of a lookup are held against."""

    def __init__(
        self, references: Sequence[str], language: str, span: tuple[str, int, int], record: Record | None
    ) -> None:
        """`span`: the text of the file, and from where to where the expected text stands in it."""
        self._references, self._language, self._span, self._record = references, language, span, record
        self._pairings: dict[str, list[Pairing]] = {}

    def closest(self, grader: _Known, texts: Sequence[str]) -> list[tuple[Scores, str]]:
        """Of each text: the scores against the reference that it is closest to, by the first score that the grader
        names, and the remark on that."""
        grade = grader.grade_texts
        if grade and len(self._references) == 1:
            (reference,) = self._references
            return [(grade(reference, text), "") for text in texts]
        return [self._closest(grader, text) for text in texts]

    def _closest(self, grader: _Known, text: str) -> tuple[Scores, str]:
        # All graders see the same ones: to make them takes longer than some grades.
        pairings = self._pairings.get(text)
        if pairings is None:
            pairings = self._pairings[text] = [self._pairing(reference, text) for reference in self._references]
        if len(pairings) == 1:
            (decisive,) = pairings
            scores = grader.grade(decisive)
        else:
            scores, decisive = max(((grader.grade(each), each) for each in pairings), key=_first_score)
        if "score" in scores:
            scores = {grader.name: scores["score"] / 100}
        return scores, grader.remark(decisive)

    def cost(self, grader: _Known, text: str) -> float | None:
        """Return what it cost to grade that text against all references; None where nobody says."""
        if grader.cost is None:
            return None
        costs = [grader.cost(pairing) for pairing in self._pairings.get(text, ())]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if known else None

    def _pairing(self, reference: str, text: str) -> Pairing:
        code, start, end = self._span
        return Pairing(
            reference=reference,
            hypothesis=text,
            language=self._language,
            before=code[:start],
            after=code[end:],
            record=self._record,
        )


def _first_score(graded: tuple[Scores, Pairing]) -> float:
    return next(iter(graded[0].values()), 0.0)


def _nothing(_pairing: Pairing) -> str:
    return ""


def names_of(task: Task, judge: EndpointConfig | None, run: RunSettings | None) -> list[str]:
    """Those of the task's graders, with the one that asks a judge if there is a judge, and the one that runs answers if
    that is wanted."""
    return [*task.graders, *filter(None, (task.judge if judge else "", task.runner if run else ""))]


def _judged(scores: Sequence[Scores]) -> Scores:
    """Of the verdicts on all suggestions: 1 / the rank of the first accepted one, the share that is accepted, and how
    many are none."""
    verdicts = [each["judge"] for each in scores if each]
    first = next((rank for rank, each in enumerate(scores, 1) if each.get("judge")), None)
    found = {"unscored": float(len(scores) - len(verdicts))}
    if verdicts or not scores:
        found |= {"judge": 1 / first if first else 0.0}
    if verdicts:
        found |= {"accepted": sum(verdicts) / len(verdicts)}
    return found


def _best(scores: Sequence[Scores]) -> Scores:
    """The highest of each."""
    return {name: max(each[name] for each in scores) for name in scores[0]}


def _stored(grader: str, scores: Scores, taken: Container[str]) -> dict[str, float]:
    """The scores as they are stored: a name that a grader before it has is behind this one's own.

    So of codebleu-strict and codebleu-mera: `codebleu` and `codebleu-mera.codebleu`.
    """
    return {f"{grader}.{name}" if name in taken else name: value for name, value in scores.items()}


def _graded(suggestion: Suggestion, scores: Scores, remark: str) -> Suggestion:
    """With these scores beside those it has."""
    grades = {**(suggestion.grades or {}), **scores}
    return replace(suggestion, grades=grades or None, remark=remark or suggestion.remark)


def grade_anew(workspace: Workspace, grading: Grading) -> int:
    """Grade all stored lookups again, and write the sessions back; how many sessions there are. Raises CiEvalError."""
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


def _plain(lookup: Lookup) -> Lookup:
    suggestions = tuple(replace(each, grades=None, remark="") for each in lookup.suggestions)
    return replace(lookup, suggestions=suggestions, grades=None)
