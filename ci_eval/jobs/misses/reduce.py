"""The job that shrinks the project around one miss, while the engine still shows it."""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from operator import le
from pathlib import Path
from tempfile import TemporaryDirectory

from ci_eval import __version__
from ci_eval.ci import Screen
from ci_eval.core import machine
from ci_eval.core.base import atomic
from ci_eval.core.base.errors import NothingToEvaluate, WorkspaceError
from ci_eval.core.config import patch
from ci_eval.core.grammar.document import NotText, checksum, read_text
from ci_eval.core.grammar.shrinking import Cut, Excerpt, minimise
from ci_eval.core.interpret import Setup
from ci_eval.core.model import Session
from ci_eval.core.scoring import rank_of
from ci_eval.core.workspace import Workspace, read_actions
from ci_eval.jobs import runs
from ci_eval.jobs import trust as trusting
from ci_eval.jobs.misses.issue import Report, write_case
from ci_eval.jobs.misses.oracle import Asked, Folder, Oracle, Project, Question
from ci_eval.jobs.preparation import Prepared, prepare

FRESH = 3
"""The number of fresh engines that must show the miss in the result."""


class TimeUp(Exception):
    """The time for the search is over."""


@dataclass
class Search:
    """The search for a smaller project. `best`: the smallest so far."""

    oracle: Oracle
    best: Project
    deadline: float
    advance: Callable[[Search], None]
    ended: str = "nothing more could be taken away"
    stages: list[Project] = field(default_factory=list)
    """The best after each stage: the last one that fresh engines show as well is the result."""
    _failed: set[int] = field(default_factory=set)
    _errors: dict[str, tuple[int, int]] = field(default_factory=dict)

    def run(self) -> None:
        """Shrink until nothing changes, the time is up, or the user interrupts."""
        self.stages.append(self.best)
        path = self.oracle.question.path
        try:
            others = sorted(self.best.files - {path})
            minimise(others, lambda kept: self._holds(replace(self.best, files=frozenset({path, *kept}))))
            size = -1
            while size != (size := self.size):
                for stage in (self._cut_statements, self._unwrap, self._cut_nodes, self._cut_blank_lines):
                    for name in (path, *sorted(self.best.files - {path})):
                        stage(name)
                    self.stages.append(self.best)
        except TimeUp:
            self.ended = "the time was up (--for)"
        except KeyboardInterrupt:
            self.ended = "interrupted"
        self.stages.append(self.best)

    @property
    def size(self) -> int:
        return len(self.best.files) + sum(len(self.best.excerpts[path].text) for path in self.texts)

    @property
    def texts(self) -> list[str]:
        return sorted(self.best.excerpts.keys() & self.best.files)

    def _holds(self, candidate: Project) -> bool:
        if time.monotonic() > self.deadline:
            raise TimeUp
        texts = {path: candidate.excerpts[path].text for path in candidate.excerpts.keys() & candidate.files}
        key = hash((candidate.files, frozenset(texts.items())))
        if key in self._failed:
            return False
        if self.oracle.holds(candidate):
            self.best = candidate
            self.advance(self)
            return True
        self._failed.add(key)
        return False

    def _holds_without(self, path: str, excerpt: Excerpt, ways: Sequence[list[Cut]]) -> bool:
        """Return whether the miss is there without these cuts, in the first way that leaves a file that parses."""
        for cuts in ways:
            smaller = excerpt.cut(cuts)
            if len(smaller.text) < len(excerpt.text) and self._parses(path, smaller.text):
                return self._holds(self.best.with_excerpt(path, smaller))
        return False

    def _parses(self, path: str, text: str) -> bool:
        return all(map(le, self.oracle.count_errors(path, text), self._errors[path]))

    def _excerpt(self, path: str) -> Excerpt | None:
        """Return what is left of a file; None if it is not in the language."""
        if path not in self.best.excerpts:
            try:
                text = read_text(self.oracle.folder.root, path)
            except (NotText, OSError):
                return None
            if not path.endswith(tuple(filter(None, self.oracle.language.suffixes))):
                return None
            self.best = self.best.with_excerpt(path, Excerpt.whole(text))
        excerpt = self.best.excerpts[path]
        self._errors.setdefault(path, self.oracle.count_errors(path, excerpt.text))
        return excerpt

    def _cut_statements(self, path: str) -> None:
        self._cut_levels(path, statements=True)

    def _cut_nodes(self, path: str) -> None:
        self._cut_levels(path, statements=False)

    def _cut_levels(self, path: str, *, statements: bool) -> None:
        depth = 0
        while excerpt := self._excerpt(path):
            shrinker = self.oracle.shrinker(path, excerpt)
            units = (shrinker.statements if statements else shrinker.nodes)(depth)
            if not units:
                break
            self._cut_units(path, excerpt, units)
            depth += 1

    def _cut_units(self, path: str, excerpt: Excerpt, units: Sequence[list[list[Cut]]]) -> None:
        ways = max(map(len, units))

        def holds(kept: list[int]) -> bool:
            gone = [units[index] for index in range(len(units)) if index not in kept]
            return self._holds_without(
                path, excerpt, [[cut for unit in gone for cut in unit[min(way, len(unit) - 1)]] for way in range(ways)]
            )

        minimise(range(len(units)), holds)

    def _unwrap(self, path: str) -> None:
        if path == self.oracle.question.path:
            while (excerpt := self._excerpt(path)) and any(
                self._holds_without(path, excerpt, [cuts]) for cuts in self.oracle.shrinker(path, excerpt).unwrapped()
            ):
                pass

    def _cut_blank_lines(self, path: str) -> None:
        if excerpt := self._excerpt(path):
            self._holds_without(path, excerpt, [self.oracle.shrinker(path, excerpt).blank_lines()])


def reduce(
    folder: Path,
    identity: str,
    *,
    output: Path,
    seconds: float,
    against: Path | None,
    case: Path | None,
    trusted: bool,
    command: Sequence[str],
    screen: Screen,
) -> Report:
    """Shrink the project around the session whose id begins with `identity`, and write the result to `output`, and as
    a case to the file `case`. `against`: a workspace of another engine that has what is missed. Raises WorkspaceError,
    ConfigError, PreparationError or NothingToEvaluate."""
    Workspace.check_free(output)
    workspace = Workspace.open(folder)
    _, session = workspace.find_session(identity)
    with _prepared(workspace, session, trusted=trusted, screen=screen) as (prepared, root):
        source = workspace.source(session.file)
        question = Question.of_session(read_actions(workspace.actions_path(session.file)), source.text, session)
        if checksum(read_text(root, session.file)) != source.checksum:
            raise WorkspaceError(f"{session.file} is not what was evaluated, so that it cannot be reduced")
        judge = _judge(against, session, root, trusted=trusted, screen=screen) if against else None
        oracle = Oracle(
            asked=Asked(_plain_setup(prepared, root)),
            folder=Folder(root, root.parent / "aside"),
            question=question,
            language=prepared.language,
            judge=judge,
        )
        try:
            return _reduce(oracle, prepared, output, seconds, case, source.text, command, screen)
        finally:
            oracle.close()


def _reduce(
    oracle: Oracle,
    prepared: Prepared,
    output: Path,
    seconds: float,
    case: Path | None,
    text: str,
    command: Sequence[str],
    screen: Screen,
) -> Report:
    project = Project(oracle.folder.files, {oracle.question.path: Excerpt.whole(text)})
    before = oracle.begin(project)
    needs = _drop_dependencies(oracle, prepared, project, screen)
    with screen.steps("Reducing", "questions") as steps:

        def show(search: Search) -> None:
            lines = sum(search.best.excerpts[path].text.count("\n") for path in search.texts)
            asked = oracle.asked.questions
            steps.show(asked, asked + 1, f"{len(search.best.files):,} files, {lines:,} lines")

        search = Search(oracle, project, time.monotonic() + seconds, show)
        search.run()
    result, sessions = _check_fresh(oracle, search.stages)
    report = Report(
        oracle=oracle,
        result=result,
        before=before,
        after=sessions[-1],
        fresh=len(sessions),
        ended=search.ended,
        lines_before=len(text.splitlines()),
        files_before=len(project.files),
        info=prepared.installation.info,
        dependencies=needs,
        environment=f"ci-eval {__version__}, Python {machine.python()}, {machine.system()}",
        commands=(shlex.join(command), shlex.join(["ci-eval", "cases", "case", *_engine_option(prepared)])),
    )
    _write(report, output)
    if case:
        write_case(report, case)
    return report


@contextmanager
def _prepared(
    workspace: Workspace, session: Session, *, trusted: bool, screen: Screen
) -> Iterator[tuple[Prepared, Path]]:
    """Prepare the engine of a run, and yield it with a copy of the project."""
    runs.check_single_project(workspace)
    config = runs.stored_config(workspace)
    trusting.refuse_foreign(workspace, config, trusted=trusted)
    prepared = prepare(config, screen)
    if prepared.records:
        raise WorkspaceError(f"session {session.id} is a sample of a dataset: only source code can be reduced")
    with TemporaryDirectory(prefix="ci-eval-reduce-") as scratch:
        # An engine may ignore hidden folders, so the copy is in none of the project's.
        root = Path(scratch, prepared.project.root.name.lstrip(".") or "project").resolve()
        shutil.copytree(prepared.project.root, root, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        yield prepared, root


def _plain_setup(prepared: Prepared, root: Path) -> Setup:
    """Return the setup of a run, in another folder, without what only evaluations need."""
    setup = prepared.setup
    sources = setup.surroundings.sources
    moved = tuple(root / source.relative_to(setup.surroundings.root) for source in sources) if sources else sources
    around = replace(setup.surroundings, root=root, sources=moved)
    return replace(setup, surroundings=around, files=None, user=None, judge=None, run=None, logging=None, trace=False)


def _judge(against: Path, session: Session, root: Path, *, trusted: bool, screen: Screen) -> Asked:
    other = Workspace.open(against)
    _, theirs = other.find_session(session.id)
    own, rank = rank_of(session), rank_of(theirs)
    if rank is None or (own is not None and rank >= own):
        raise WorkspaceError(f"{against} does not have {session.expected_text} any better in session {session.id}")
    config = runs.stored_config(other)
    trusting.refuse_foreign(other, config, trusted=trusted)
    return Asked(_plain_setup(prepare(config, screen), root))


def _drop_dependencies(oracle: Oracle, prepared: Prepared, project: Project, screen: Screen) -> dict[str, str]:
    """Ask without the packages that the project needs. Return those that the miss needs: all or none."""
    needs = prepared.environment.packages if prepared.environment else {}
    if needs:
        with_needs = oracle.asked
        oracle.close()
        bare = prepare(patch(prepared.config, dependencies=False), screen)
        oracle.asked = Asked(_plain_setup(bare, oracle.folder.root), with_needs.questions)
        if oracle.holds(project):
            return {}
        oracle.close()
        with_needs.questions = oracle.asked.questions
        oracle.asked = with_needs
    return needs


def _engine_option(prepared: Prepared) -> list[str]:
    command, info = prepared.config.engine.command, prepared.installation.info
    return ["--engine-command", shlex.join(command)] if command else ["--engine", f"{info.name}@{info.version}"]


def _check_fresh(oracle: Oracle, stages: Sequence[Project]) -> tuple[Project, list[Session]]:
    """Return the last stage that fresh engines show the miss in, and what each of them answered. Raises
    NothingToEvaluate if there is none."""
    for project in reversed(stages):
        sessions = list[Session]()
        while len(sessions) < FRESH:
            oracle.close()
            oracle.folder.write(project)
            oracle.asked = Asked(replace(oracle.asked.setup, trace=True), oracle.asked.questions)
            if not oracle.holds(project):
                break
            assert oracle.asked.last
            sessions.append(oracle.asked.last)
        if len(sessions) == FRESH:
            return project, sessions
    raise NothingToEvaluate(
        f"session {oracle.question.call.session}: fresh engines do not show the miss each time "
        f"({oracle.reason}), so that nothing can be reduced; `ci-eval show --replay` asks once more"
    )


def _write(report: Report, output: Path) -> None:
    """Write the case, its description and the messages."""
    oracle = report.oracle
    oracle.folder.write(report.result)
    for path in sorted(report.result.files):
        atomic.write(output / "case" / path, (oracle.folder.root / path).read_bytes())
    atomic.write(output / "issue.md", report.issue().encode())
    atomic.write(output / "exchange.txt", "\n".join((*report.after.trace, "")).encode())
