"""How close suggestions are to what was expected, where the task asks for that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ci_eval import graders
from ci_eval.contracts import Grader, Pairing, Task
from ci_eval.model import Lookup, Session
from ci_eval.stages.interpret.pack import Pack
from ci_eval.workspace import Workspace


class Grading:
    """The graders of a task, and how many suggestions of each lookup they look at."""

    def __init__(self, graders: Sequence[Grader], first: int, language: str) -> None:
        self._graders = graders
        self._first = first
        self._language = language

    @classmethod
    def of(cls, task: Task, language: str) -> Grading:
        """As the task asks for it. Raises ConfigError where it names a grader that is not there."""
        return cls([graders.CATALOG.load(name) for name in task.graders], task.graded, language)

    def session(self, session: Session) -> Session:
        """With each lookup graded, whatever its grades were."""
        lookups = (self.grade(session.expected_text, _plain(lookup)) for lookup in session.lookups)
        return replace(session, lookups=tuple(lookups))

    def grade(self, expected: str, lookup: Lookup) -> Lookup:
        """The lookup with its grades; without any where there are no graders."""
        if not self._graders:
            return lookup
        graded = tuple(
            replace(each, grades=dict(self._of(expected, each.text))) for each in lookup.suggestions[: self._first]
        )
        best = graded[0].grades if graded else dict(self._of(expected, ""))
        return replace(lookup, suggestions=(*graded, *lookup.suggestions[self._first :]), grades=best)

    def _of(self, expected: str, text: str) -> Mapping[str, float]:
        pairing = Pairing(reference=expected, hypothesis=text, language=self._language)
        return {name: score for grader in self._graders for name, score in grader.grade(pairing).items()}


def grade_anew(workspace: Workspace, grading: Grading) -> int:
    """Grade all stored lookups again, and write the sessions back; how many sessions there are."""
    count = 0
    for source, sessions in workspace.sessions(Session):
        pack = Pack(source)
        for session in sessions:
            pack.add(grading.session(session))
            count += 1
        workspace.write_sessions(source.path, pack.close())
    return count


def _plain(lookup: Lookup) -> Lookup:
    suggestions = tuple(replace(each, grades=None) for each in lookup.suggestions)
    return replace(lookup, suggestions=suggestions, grades=None)
