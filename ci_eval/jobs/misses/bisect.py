"""The job that finds the versions of an engine in which results changed, and the cluster of changes of each version."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core.base import atomic
from ci_eval.core.base.errors import ConfigError, InstallError, PreparationError, WorkspaceError
from ci_eval.core.catalogs import engines
from ci_eval.core.config import Config, patch
from ci_eval.core.grammar.document import NotText
from ci_eval.core.interpret import ask_sessions
from ci_eval.core.model import FAILED, FORMAT, SessionScore
from ci_eval.core.model.comparison import Bisection, ChangeCluster
from ci_eval.core.scoring import evaluated, rank_of
from ci_eval.core.workspace import Workspace
from ci_eval.fetch.clients import last_words
from ci_eval.fetch.git import TIMEOUT, run_git
from ci_eval.jobs import pipeline, runs
from ci_eval.jobs.preparation import prepare
from ci_eval.plugins.adapters.recipes import Releasing


class Versions(msgspec.Struct, frozen=True, kw_only=True):
    """Releases of a named engine, or first-parent commits between two revisions, each built once below `builds`."""

    given: Config
    names: Sequence[str]
    """Versions in order, the good one first and the bad one last."""
    engine: str
    """The engine's name; "" if the versions are commits."""
    repository: Path
    build: str
    builds: Path

    def title(self, name: str) -> str:
        if self.engine:
            return f"{self.engine} {name}"
        return _git(self.repository, "log", "-1", "--format=%h %s", name)

    def config(self, name: str) -> Config:
        """Build the version unless that is done, and return its configuration. Words of the command that begin with
        `./` are files of the version's checkout. Raises PreparationError if the version does not build."""
        if self.engine:
            return patch(self.given, engine=f"{self.engine}@{name}")
        folder, log = self.builds / name, self.builds / f"{name}.log"
        if not log.exists():
            # An interrupted build may have left a folder.
            shutil.rmtree(folder, ignore_errors=True)
            atomic.make_folder(self.builds)
            _git(self.repository, "clone", "--quiet", "--shared", "--no-checkout", str(self.repository), str(folder))
            _git(folder, "checkout", "--quiet", "--detach", name)
            output, failed = b"", False
            if self.build:
                # The build is not confined, since both the command and the repository are the user's own.
                command = ["/bin/sh", "-c", self.build]
                done = subprocess.run(
                    command, cwd=folder, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
                )
                output, failed = done.stdout, done.returncode != 0
            atomic.write(log, (b"failed\n" if failed else b"built\n") + output)
        result, _, output = log.read_bytes().partition(b"\n")
        if result == b"failed":
            raise PreparationError(f"{name} does not build: {last_words(output.decode(errors='replace'))}")
        words = self.given.engine.command or ()
        own = tuple(str(folder.resolve() / word) if word.startswith("./") else word for word in words)
        return replace(self.given, engine=replace(self.given.engine, command=own))


def _git(folder: Path, *arguments: str) -> str:
    return run_git(folder, "file", TIMEOUT, "-c", "safe.directory=*", *arguments).decode(errors="replace").strip()


def find_versions(good: str, bad: str, config: Config, build: str, repository: Path, builds: Path) -> Versions:
    """Return the versions from `good` to `bad`: NAME@VERSION of a named engine, or revisions. Raises ConfigError."""
    name, at, first = good.rpartition("@")
    if at and name in engines.names():
        other, _, last = bad.rpartition("@")
        engine = engines.CATALOG.load(name)
        if other != name or not isinstance(engine, Releasing):
            raise ConfigError(f"give two releases of one engine from PyPI or npm, such as {name}@1.0 {name}@1.1")
        listed = list(engine.releases())
        for version in (first, last):
            if version not in listed:
                raise ConfigError(f"{name} has no release {version}; the newest are {', '.join(listed[-5:])}")
        names = listed[listed.index(first) : listed.index(last) + 1]
    else:
        if not config.engine.command:
            raise ConfigError("the command that starts a revision is missing: add --engine-command './server --stdio'")
        try:
            first, last = (_git(repository, "rev-parse", "--verify", f"{one}^{{commit}}") for one in (good, bad))
            listed = _git(repository, "rev-list", "--first-parent", "--reverse", f"{first}..{last}").splitlines()
            _git(repository, "merge-base", "--is-ancestor", first, last)
        except InstallError as error:
            raise ConfigError(f"{good} is not a revision before {bad} in {repository}: {error}") from error
        names = [first, *listed] if listed else []
    if len(names) < 2:
        raise ConfigError(f"{good} does not come before {bad}: give the good version first")
    return Versions(
        given=config,
        names=names,
        engine=name if at and name in engines.names() else "",
        repository=repository.resolve(),
        build=build,
        builds=builds.resolve(),
    )


SCOUTS = 3
"""The number of sessions of each kind of change that are asked first. The other sessions are then asked at the versions
that the first ones find."""
EXAMPLES = 3
NO_ANSWER = "no answer"
ORDER = ("first", "2 to 5", "beyond 5", "missing", NO_ANSWER)
"""The bands of ranks, the best first. Only bands are compared, since ranks far down a list change by chance."""


def band_of(session: SessionScore) -> str:
    if session.status in FAILED:
        return NO_ANSWER
    rank = rank_of(session)
    return "missing" if rank is None else "first" if rank == 1 else "2 to 5" if rank <= 5 else "beyond 5"


class Answers(msgspec.Struct):
    """The band of each session at each version. Stored bands are not asked for again."""

    versions: Versions
    workspace: Workspace
    folder: Path
    screen: Screen
    files: dict[str, str]
    bands: dict[int, dict[str, str]] = msgspec.field(default_factory=dict)
    skipped: dict[int, str] = msgspec.field(default_factory=dict)
    questions: int = 0
    found: dict[tuple[int, int], set[str]] = msgspec.field(default_factory=lambda: defaultdict(set))
    """The sessions that changed, by the indices of the last version before and the first version after the change."""

    def ask(self, index: int, sessions: Sequence[str]) -> bool:
        """Ask the sessions that were not asked at this version yet. Return whether the version builds and answers."""
        name = self.versions.names[index]
        file = self.folder / f"{name}.json"
        if index not in self.bands:
            self.bands[index] = msgspec.json.decode(file.read_bytes(), type=dict[str, str]) if file.exists() else {}
        bands = self.bands[index]
        if missing := [session for session in sessions if session not in bands]:
            self.screen.say(f"{self.versions.title(name)}: {len(missing):,} questions")
            try:
                bands |= self._ask(self.versions.config(name), missing)
            except PreparationError as error:
                self.skipped[index] = str(error)
                return False
            atomic.write(file, msgspec.json.encode(bands))
        if all(bands[session] == NO_ANSWER for session in sessions):
            self.skipped[index] = "its engine answered no question"
            return False
        return True

    def _ask(self, config: Config, sessions: Sequence[str]) -> dict[str, str]:
        config = replace(config, interpret=replace(config.interpret, trace=False))
        setup = prepare(config, self.screen).setup
        of_file = defaultdict[str, set[str]](set)
        for session in sessions:
            of_file[self.files[session]].add(session)
        assignments = [runs.assign(setup, self.workspace, path, chosen) for path, chosen in sorted(of_file.items())]
        try:
            with closing(ask_sessions(assignments)) as asked:
                bands = {session.id: band_of(session) for session in asked}
        except (NotText, OSError) as error:
            raise WorkspaceError(f"the project changed since the good version was asked: {error}") from error
        self.questions += len(bands)
        return bands

    def locate(self, low: int, high: int, sessions: Iterable[str]) -> None:
        before, after = self.bands[low], self.bands[high]
        changed = [session for session in sessions if before[session] != after[session]]
        if not changed:
            return
        # Prefer versions at which other sessions changed, then versions near the middle. Skip those that do not build.
        ends = {end for pair in self.found for end in pair}
        order = sorted(range(low + 1, high), key=lambda index: (index not in ends, abs(2 * index - low - high)))
        between = (index for index in order if index not in self.skipped and self.ask(index, changed))
        middle = None if (low, high) in self.found else next(between, None)
        if middle is None:
            self.found[low, high].update(changed)
            return
        self.locate(low, middle, changed)
        self.locate(middle, high, changed)

    def cluster(self, pair: tuple[int, int], scores: dict[str, SessionScore]) -> ChangeCluster:
        (low, high), sessions, names = pair, sorted(self.found[pair]), self.versions.names
        changes = [(self.bands[low][session], self.bands[high][session]) for session in sessions]
        shown = [scores[session] for session in sessions[:EXAMPLES]]
        return ChangeCluster(
            version=names[high],
            title=self.versions.title(names[high]),
            candidates=tuple(names[low + 1 : high + 1]),
            sessions=len(sessions),
            worse=sum(ORDER.index(before) < ORDER.index(after) for before, after in changes),
            kinds=dict(Counter(scores[session].properties.kind.value for session in sessions).most_common()),
            changes=dict(Counter(f"{before} → {after}" for before, after in changes).most_common()),
            examples=tuple(f"{score.file}: {score.expected_text} ({score.id})" for score in shown),
        )


def bisect(
    good: str, bad: str, config: Config, *, build: str, repository: Path, output: Path, jobs: int, screen: Screen
) -> Bisection:
    """Find the versions in which results changed, and write bisect.json. An interrupted search is resumed. Raises
    ConfigError, WorkspaceError or PreparationError."""
    versions = find_versions(good, bad, config, build, repository, output / "builds")
    plan = msgspec.json.encode({"versions": versions.names, "build": build, "config": config}, order="sorted")
    if (output / "plan.json").exists() and (output / "plan.json").read_bytes() != plan:
        raise WorkspaceError(f"{output} holds another search: give a new folder as --output")
    if not (output / "plan.json").exists():
        Workspace.check_free(output)
    atomic.write(output / "plan.json", plan)
    first, last = versions.names[0], versions.names[-1]
    workspaces = [_evaluate(versions.config(first), output / "good", None, jobs, screen)]
    workspaces.append(_evaluate(versions.config(last), output / "bad", workspaces[0], jobs, screen))
    scores = [
        {
            session.id: session
            for _, sessions in workspace.sessions(SessionScore)
            for session in sessions
            if evaluated(session)
        }
        for workspace in workspaces
    ]
    both = sorted(scores[0].keys() & scores[1].keys())
    steady = [session for session in both if not any(score[session].differing for score in scores)]
    files = {session: scores[0][session].file for session in both}
    answers = Answers(versions, workspaces[0], atomic.make_folder(output / "answers"), screen, files)
    for index, score in ((0, scores[0]), (len(versions.names) - 1, scores[1])):
        answers.bands[index] = {session: band_of(score[session]) for session in steady}
    kinds = defaultdict[tuple[str, ...], list[str]](list)
    for session in steady:
        before, after = (band_of(score[session]) for score in scores)
        if before != after:
            kinds[scores[0][session].properties.kind.value, before, after].append(session)
    answers.locate(0, len(versions.names) - 1, [session for alike in kinds.values() for session in alike[:SCOUTS]])
    answers.locate(0, len(versions.names) - 1, [session for alike in kinds.values() for session in alike[SCOUTS:]])
    done = Bisection(
        good=versions.title(first),
        bad=versions.title(last),
        versions=len(versions.names),
        sessions=len(steady),
        unsteady=len(both) - len(steady),
        changed=len(set().union(*answers.found.values())),
        questions=answers.questions,
        skipped={versions.names[index]: why for index, why in sorted(answers.skipped.items())},
        clusters=tuple(answers.cluster(pair, scores[0]) for pair in sorted(answers.found)),
    )
    atomic.write_json(output / "bisect.json", {"format": FORMAT, **msgspec.to_builtins(done)})
    return done


def _evaluate(config: Config, folder: Path, source: Workspace | None, jobs: int, screen: Screen) -> Workspace:
    prepared = prepare(config, screen)
    with runs.kept(folder):
        if source is None or (folder / "manifest.json").exists():
            workspace = runs.begin(prepared, folder, jobs, resume=True)
        else:
            workspace = runs.copy_actions(source, prepared, folder, jobs)
        if not workspace.manifest().complete:
            pipeline.make_actions(workspace, prepared, jobs, screen)
            pipeline.make_sessions([(workspace, prepared)], jobs, screen)
    return workspace
