"""The job `reduce`: it shrinks the project around a miss as long as the engine shows the miss, and writes an issue."""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from operator import le
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from msgspec.structs import replace

from ci_eval import __version__
from ci_eval.ci import Screen
from ci_eval.core import machine
from ci_eval.core.base import atomic
from ci_eval.core.base.errors import NothingToEvaluate, WorkspaceError
from ci_eval.core.config import patch
from ci_eval.core.grammar.document import NotText, checksum, read_text
from ci_eval.core.grammar.shrinking import Cut, Excerpt, minimise
from ci_eval.core.interpret import Setup
from ci_eval.core.model import EngineInfo, Session
from ci_eval.core.report.causes import MORE_TEXT, OTHER_RANGE
from ci_eval.core.scoring import rank_of
from ci_eval.core.workspace import Workspace, read_actions
from ci_eval.jobs import runs
from ci_eval.jobs.misses.oracle import Folder, Oracle, Project, Question
from ci_eval.jobs.preparation import Prepared, prepare
from ci_eval.plugins.mining.record import fence

SHOWN = 10
FRESH = 3
"""The number of engine processes that must show the miss at the end."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    oracle: Oracle
    result: Project
    after: Session
    ended: str
    lines_before: int
    files_before: int
    info: EngineInfo
    dependencies: dict[str, str]
    commands: tuple[str, ...]

    @property
    def lines(self) -> int:
        excerpts = self.result.excerpts
        return sum(len(excerpts[path].text.splitlines()) for path in excerpts.keys() & self.result.files)

    def asked_text(self) -> tuple[str, int]:
        """Return the text of the file when the question is asked, and the offset of the caret."""
        question = self.oracle.question
        excerpt = self.result.excerpts[question.path]
        begin = excerpt.find(question.call.offset)
        assert begin is not None
        text = excerpt.text[:begin] + question.call.prefix + excerpt.text[excerpt.find_from(question.gap) :]
        return text, begin + len(question.call.prefix)

    def accepted_line(self) -> str:
        (text, caret), call = self.asked_text(), self.oracle.question.call
        whole = text[:caret] + call.expected_text[len(call.prefix) :] + text[caret:]
        begin, end = whole.rfind("\n", 0, caret) + 1, whole.find("\n", caret)
        return whole[begin : end if end >= 0 else None].strip()

    @property
    def title(self) -> str:
        call, rank = self.oracle.question.call, rank_of(self.after)
        how = f"has rank {rank}" if rank else self.oracle.symptom.cause
        return f"Completion of `{call.expected_text}` after `{call.prefix}`: {how}"

    def issue(self) -> str:
        question, result = self.oracle.question, self.result
        text, caret = self.asked_text()
        line, column = text.count("\n", 0, caret) + 1, caret - text.rfind("\n", 0, caret)
        language = self.oracle.language.name
        parts = [f"# {self.title}", f"`{question.path}`, with the caret at line {line}, column {column}:"]
        parts.append(fence(text.rstrip(), language))
        for path in sorted(result.files - {question.path}):
            shown = result.excerpts.get(path)
            block = fence(shown.text.rstrip(), language) if shown else ""
            parts += [f"`{path}`:", block] if shown else [f"`{path}` (in the folder `case`)"]
        shown_list = self.after.lookups[-1].suggestions if self.after.lookups else ()
        total = self.after.lookups[-1].total if self.after.lookups else 0
        names = ", ".join(f"`{item.label or item.text}`" for item in shown_list[:SHOWN]) or "nothing"
        parts += [
            f"**Offered** ({total:,}, in this order): {names}{' …' if total > SHOWN else ''}",
            f"**Expected**: `{question.call.expected_text}`, which leaves `{self.accepted_line()}`",
        ]
        if self.after.message:
            parts.append(f"**The engine's error**: {self.after.message}")
        packages = ", ".join(f"{name} {version}" for name, version in self.info.packages.items())
        needs = ", ".join(f"{name} {version}" for name, version in self.dependencies.items())
        parts += [
            f"**Versions**: {self.info.text}{f' ({packages})' if packages else ''}; ci-eval {__version__}, "
            f"Python {machine.python()}, {machine.system()}",
            f"**Dependencies**: {needs or 'none'}",
            f"**Seen** in {FRESH} of {FRESH} fresh processes. Reduced from {self.files_before:,} files, with "
            f"{self.lines_before:,} lines in `{question.path}`, by {self.oracle.questions:,} questions, until "
            f"{self.ended}. The same in each step: {', '.join(self.oracle.kept)}.",
            fence("\n".join(self.commands), "sh"),
            "The messages to and from the engine are in `exchange.txt`.",
        ]
        return "\n\n".join(parts) + "\n"


def write_case(report: Report, file: Path) -> None:
    question = report.oracle.question
    text, caret = report.asked_text()
    sign = report.oracle.language.comment
    begin, end = text.rfind("\n", 0, caret) + 1, text.find("\n", caret)
    end = len(text) if end < 0 else end
    rules = f"expect: {question.call.expected_text}"
    if rank_of(report.after):
        rules += "; rank <= 1"
    elif report.after.lookups and report.oracle.symptom.cause in {MORE_TEXT, OTHER_RANGE}:
        rules += f"; leaves: {report.accepted_line()}"
    column = caret - begin
    if column < len(sign):
        # The caret is too far left: a `^` below it would be inside the comment sign.
        text = f"{text[:caret]}<CURSOR: {question.call.expected_text}>{text[caret:]}"
    else:
        text = f"{text[:end]}\n{sign}{' ' * (column - len(sign))}^ {rules}{text[end:]}"
    atomic.write(file, text.encode())


class TimeUp(Exception):
    """The time limit of the search was reached."""


class Search(msgspec.Struct):
    oracle: Oracle
    best: Project
    deadline: float
    advance: Callable[[Search], None]
    ended: str = "nothing more could be taken away"
    stages: list[Project] = msgspec.field(default_factory=list)
    """The best version after each stage. The result is the last one in which freshly started engines show the miss."""
    _failed: set[int] = msgspec.field(default_factory=set)
    _errors: dict[str, tuple[int, int]] = msgspec.field(default_factory=dict)

    def run(self) -> None:
        self.stages.append(self.best)
        path = self.oracle.question.path
        try:
            others = sorted(self.best.files - {path})
            minimise(others, lambda kept: self._holds(replace(self.best, files=frozenset({path, *kept}))))
            size = -1
            while size != (size := self.size):
                nodes = partial(self._cut_levels, statements=False)
                for stage in (self._cut_levels, self._unwrap, nodes, self._cut_blank_lines):
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
        """Make the first of these lists of cuts after which the file parses. Return whether the miss is still shown."""
        for cuts in ways:
            smaller = excerpt.cut(cuts)
            if len(smaller.text) < len(excerpt.text) and all(
                map(le, self.oracle.count_errors(path, smaller.text), self._errors[path])
            ):
                return self._holds(self.best.with_excerpt(path, smaller))
        return False

    def _excerpt(self, path: str) -> Excerpt | None:
        """Return what is left of a file; None if the file cannot be read or is not in the language."""
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

    def _cut_levels(self, path: str, *, statements: bool = True) -> None:
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
    case: Path | None,
    trusted: bool,
    command: Sequence[str],
    screen: Screen,
) -> Report:
    """Shrink the project around the session whose id begins with `identity`. Raises WorkspaceError, ConfigError,
    PreparationError or NothingToEvaluate."""
    Workspace.check_free(output)
    workspace = Workspace.open(folder)
    _, session = workspace.find_session(identity)
    runs.check_single_project(workspace)
    config = runs.stored_config(workspace)
    runs.refuse_foreign(workspace, config, trusted=trusted)
    prepared = prepare(config, screen)
    if prepared.records:
        raise WorkspaceError(f"session {session.id} is a sample of a dataset: only source code can be reduced")
    with (
        TemporaryDirectory(prefix="ci-eval-reduce-") as scratch,
        closing(_copy_project(workspace, prepared, session, Path(scratch))) as oracle,
    ):
        text = workspace.source(session.file).text
        project = Project(oracle.folder.files, {oracle.question.path: Excerpt.whole(text)})
        oracle.begin(project)
        needs = _drop_dependencies(oracle, prepared, project, screen)
        with screen.steps("Reducing", "questions") as steps:

            def show(search: Search) -> None:
                lines = sum(search.best.excerpts[path].text.count("\n") for path in search.texts)
                steps.show(oracle.questions, oracle.questions + 1, f"{len(search.best.files):,} files, {lines:,} lines")

            search = Search(oracle, project, time.monotonic() + seconds, show)
            search.run()
        result, session = _check_fresh(oracle, search.stages)
        own, info = config.engine.command, prepared.installation.info
        option = ["--engine-command", shlex.join(own)] if own else ["--engine", f"{info.name}@{info.version}"]
        report = Report(
            oracle=oracle,
            result=result,
            after=session,
            ended=search.ended,
            lines_before=len(text.splitlines()),
            files_before=len(project.files),
            info=info,
            dependencies=needs,
            commands=(shlex.join(command), shlex.join(["ci-eval", "cases", "case", *option])),
        )
        oracle.folder.write(result)
        for path in sorted(result.files):
            atomic.write(output / "case" / path, (oracle.folder.root / path).read_bytes())
        atomic.write(output / "issue.md", report.issue().encode())
        atomic.write(output / "exchange.txt", "\n".join((*report.after.trace, "")).encode())
        if case:
            write_case(report, case)
        return report


def _copy_project(workspace: Workspace, prepared: Prepared, session: Session, scratch: Path) -> Oracle:
    """Return an oracle that asks about a copy of the project. Raises WorkspaceError if the session's file changed."""
    # An engine may ignore hidden folders, so the name of the copy must not begin with a dot.
    root = (scratch / (prepared.project.root.name.lstrip(".") or "project")).resolve()
    shutil.copytree(prepared.project.root, root, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    source = workspace.source(session.file)
    question = Question.of_session(read_actions(workspace.actions_path(session.file)), source.text, session)
    if checksum(read_text(root, session.file)) != source.checksum:
        raise WorkspaceError(f"{session.file} changed since the evaluation, so it cannot be reduced")
    folder = Folder(root, root.parent / "aside")
    return Oracle(setup=_plain_setup(prepared, root), folder=folder, question=question, language=prepared.language)


def _plain_setup(prepared: Prepared, root: Path) -> Setup:
    setup = prepared.setup
    sources = setup.surroundings.sources
    moved = tuple(root / source.relative_to(setup.surroundings.root) for source in sources) if sources else sources
    around = replace(setup.surroundings, root=root, sources=moved)
    settings = replace(setup.settings, trace=False)
    return replace(setup, settings=settings, surroundings=around, files=None, user=None, judge=None, run=None)


def _drop_dependencies(oracle: Oracle, prepared: Prepared, project: Project, screen: Screen) -> dict[str, str]:
    """Return the packages without which the engine does not show the miss: all or none."""
    needs = prepared.environment.packages if prepared.environment else {}
    if needs:
        with_needs = oracle.setup
        oracle.close()
        bare = prepare(patch(prepared.config, dependencies=False), screen)
        oracle.use(_plain_setup(bare, oracle.folder.root))
        if oracle.holds(project):
            return {}
        oracle.close()
        oracle.use(with_needs)
    return needs


def _check_fresh(oracle: Oracle, stages: Sequence[Project]) -> tuple[Project, Session]:
    """Return the last stage in which FRESH new engine processes show the miss, and the session of the last process.
    Raises NothingToEvaluate."""
    for project in reversed(stages):
        for _ in range(FRESH):
            oracle.close()
            oracle.folder.write(project)
            oracle.use(replace(oracle.setup, settings=replace(oracle.setup.settings, trace=True)))
            if not oracle.holds(project):
                break
        else:
            assert oracle.last
            return project, oracle.last
    raise NothingToEvaluate(
        f"session {oracle.question.call.session}: fresh engines do not show the miss each time "
        f"({oracle.reason}), so the project cannot be reduced; `ci-eval show --replay` asks the engine again"
    )
