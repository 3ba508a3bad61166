"""How close suggestions are to what was expected, where the task asks for that."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace as with_values
from pathlib import Path

from msgspec.structs import replace

from ci_eval import graders
from ci_eval.contracts import Grader, Pairing, Task
from ci_eval.errors import CiEvalError
from ci_eval.model import CallCompletion, Lookup, PlayItem, Record, Session
from ci_eval.model.endpoints import EndpointConfig
from ci_eval.stages.interpret.pack import Pack
from ci_eval.workspace import Workspace

Scores = Mapping[str, float]
"""Name of the score → its value."""


class Grading:
    """The graders of a task."""

    def __init__(self, task: Task, language: str, cache: Path, judge: EndpointConfig | None = None) -> None:
        """`language`: of records that do not name theirs; `cache`: where graders are installed. Raises ConfigError for
        one that is not there, or PreparationError."""
        self._task = task
        self._graders = graders.ready(names_of(task, judge), cache, judge)
        self._language = language

    def session(self, session: Session, text: str) -> Session:
        """With each lookup graded, whatever its grades were; `text`: of its file, as that is on disk."""
        around = around_of(session, text)
        lookups = (
            self.grade(session.expected_text, session.record, _plain(lookup), around) for lookup in session.lookups
        )
        return replace(session, lookups=tuple(lookups))

    def grade(self, expected: str, record: Record | None, lookup: Lookup, around: tuple[str, str] = ("", "")) -> Lookup:
        """The lookup with its grades; without any where there are no graders, or nothing to hold it against.

        `around`: what stands before and behind the expected text in its file.
        """
        references = record.references if record else (expected,)
        if not (self._graders and references):
            return lookup
        language = (record.language if record else "") or self._language
        task, readers = self._task, self._task.readers

        def pairings(text: str) -> list[Pairing]:
            before, after = around
            pairing = Pairing(reference="", hypothesis=text, language=language, before=before, after=after)
            return [with_values(pairing, reference=each) for each in references]

        shown, found = lookup.suggestions[: task.graded], dict[str, float]()
        of_each: list[dict[str, float]] = [{} for _ in shown]
        remarks = [""] * len(shown)
        for grader in self._graders:
            texts = [each.text for each in shown]
            if record and (read := readers.get(grader.name)):
                texts = list(read(lookup.answer, record))
            if isinstance(grader, graders.Judging):
                scores = [_closest(grader, pairings(text)) for text in texts]
                remarks = [grader.words(pairings(text)[0]) for text in texts]
                found |= _judged(scores)
            else:
                closest = [_closest(grader, pairings(text)) for text in texts or [""]]
                scores = [_stored(grader.name, each, found) for each in closest]
                found |= _best(scores) if task.best else scores[0]
            if grader.name not in readers:
                for grades, score in zip(of_each, scores, strict=False):
                    grades |= score
        graded = tuple(
            replace(each, grades=grades or None, remark=remark)
            for each, grades, remark in zip(shown, of_each, remarks, strict=True)
        )
        return replace(lookup, suggestions=(*graded, *lookup.suggestions[task.graded :]), grades=found)


def names_of(task: Task, judge: EndpointConfig | None) -> list[str]:
    """Those of the task's graders, with the one that asks a judge if there is a judge."""
    return [*task.graders, task.judge] if task.judge and judge else [*task.graders]


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


def _closest(grader: Grader, pairings: Sequence[Pairing]) -> Scores:
    """The grades against the reference that the text is closest to, by the first score that the grader names."""
    closest = max(map(grader.grade, pairings), key=lambda scores: next(iter(scores.values()), 0.0))
    return {grader.name: closest["score"] / 100} if "score" in closest else closest


def _stored(grader: str, scores: Scores, taken: Container[str]) -> dict[str, float]:
    """The scores as they are stored: a name that a grader before it has is behind this one's own.

    So of codebleu-strict and codebleu-mera: `codebleu` and `codebleu-mera.codebleu`.
    """
    return {f"{grader}.{name}" if name in taken else name: value for name, value in scores.items()}


def around_of(session: Session | CallCompletion | PlayItem, text: str) -> tuple[str, str]:
    """What stands before and behind its expected text in the file."""
    return text[: session.offset], text[session.offset + len(session.expected_text) :]


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
