"""The reuse of an earlier run's results, if everything that they depend on is the same."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath

from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core import interpret
from ci_eval.core.base import stored
from ci_eval.core.base.chance import draw
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.base.files import below, read_own
from ci_eval.core.catalogs import rankers
from ci_eval.core.config import Config
from ci_eval.core.grammar.imports import NEAR, Name, read_module_names
from ci_eval.core.interpret import observable_content
from ci_eval.core.model import FAILED, Session, Status
from ci_eval.core.workspace import Workspace, iterate_actions, pack_sessions, read_actions
from ci_eval.jobs import pipeline, runs
from ci_eval.jobs.preparation import Prepared
from ci_eval.plugins.adapters.engine import Closure, find_closure
from ci_eval.rendering.figures import format_count

SOURCES = (".py", ".pyi")
OWN = ("__init__",)
NO_RESULT = FAILED | {Status.SKIPPED}

_COMMENT = re.compile(r"#[^\n]*")
_BRACKETS = re.compile(r"\([^()]*\)")
_STAR = re.compile(r"\bimport\s*\(?\s*\*")
_STAR_OF = re.compile(r"\bfrom\s+([.\w]+)\s+import\s*\(?\s*\*")


def closures(prepared: Prepared, paths: Iterable[str]) -> dict[str, str]:
    """Return a digest by path, over all files that the results of the file at that path depend on. Empty if these files
    are not known: results then depend on the whole project."""
    closure = find_closure(prepared.engine)
    is_ranked = prepared.ranker.name != rankers.ENGINE_ORDER
    if closure is Closure.PROJECT or is_ranked or prepared.records or prepared.around:
        # Completion types other than the engine's order use the names in the whole project.
        return {}
    root = prepared.project.root
    if closure is Closure.FILE:
        return {path: _content_digest(root, path) for path in paths}
    digests = digest_imports(root)
    return {path: digests[path] for path in paths if path in digests}


def digest_imports(root: Path) -> dict[str, str]:
    """Return a digest of each Python file by path, over the file and all files that it imports, even indirectly."""
    everything = sorted(below(root, root, ("",), ignored=()))
    contents = {path: _content_digest(root, path) for path in everything}
    sources = [path for path in everything if path.endswith(SOURCES)]
    # Every digest covers the names of all files, since an import may find or suggest a new file, and the content of
    # files that are not Python, and of `__builtins__.pyi`, which type checkers read with each file.
    seen_by_all = (
        path for path in everything if not path.endswith(SOURCES) or PurePosixPath(path).stem == "__builtins__"
    )
    shared = _digest([*everything, *(contents[path] for path in seen_by_all)])
    by_ending: dict[Name, list[int]] = defaultdict(list)
    for rank, path in enumerate(sources):
        parts = PurePosixPath(path)
        stem = (*parts.parent.parts, parts.name.partition(".")[0])
        for name in {stem, stem[:-1] if stem[-1:] == OWN else stem}:
            for begin in range(len(name)):
                by_ending[name[begin:]].append(rank)
    texts = (read_own(root, path).decode(errors="replace") for path in sources)
    edges = [sorted(set(_find_imports(path, text, by_ending))) for path, text in zip(sources, texts, strict=True)]
    # For each source, the set of itself and all its imports, direct or not, as bits of an integer: a union is one `|`.
    reached = [1 << rank for rank in range(len(sources))]
    changing = True
    # Imports may form cycles, so this is repeated until no set grows.
    while changing:
        changing = False
        for rank, targets in enumerate(edges):
            bits = reached[rank]
            for target in targets:
                bits |= reached[target]
            changing = changing or bits != reached[rank]
            reached[rank] = bits
    known: dict[int, str] = {}
    # Files of one import cycle have the same set, whose digest is computed once.
    for bits in set(reached):
        among = (path for rank, path in enumerate(sources) if bits >> rank & 1)
        known[bits] = _digest([shared, *(f"{path} {contents[path]}" for path in among)])
    return {path: known[bits] for path, bits in zip(sources, reached, strict=True)}


def _content_digest(root: Path, path: str) -> str:
    return hashlib.blake2b(read_own(root, path), digest_size=16).hexdigest()


def _digest(parts: Sequence[str]) -> str:
    # A path may hold bytes that are not UTF-8.
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def _find_imports(path: str, text: str, places: Mapping[Name, list[int]]) -> Iterator[int]:
    plain = _COMMENT.sub("", text)
    # Put brackets on one line, and each statement on its own line, so that all imported names are found.
    folded = _BRACKETS.sub(lambda brackets: brackets[0].replace("\n", " "), plain.replace("\\\n", " "))
    for name in read_module_names(f"{text}\n{re.sub('[;:]', chr(10), folded)}"):
        parts = tuple(part for part in name if part != NEAR)
        for end in range(1, len(parts) + 1):
            yield from places.get(parts[:end], ())
        if not parts:
            # A name of dots alone may mean the `__init__` file of any folder above the file.
            for folder in PurePosixPath(path).parents:
                yield from places.get((*folder.parts, *OWN), ())
    if _STAR.search(text):
        # `import *` takes what the package's `__all__` names, which may be modules in the package's folder.
        for match in _STAR_OF.finditer(folded):
            package = match[1].rstrip(".").rpartition(".")[2]
            # Dots alone mean the folder of the file or a folder above.
            folders = {package} if package else {parent.name for parent in PurePosixPath(path).parents}
            for name, ranks in places.items():
                if len(name) == 2 and name[0] in folders:
                    yield from ranks


SAMPLE = 0.02
"""The share of the sessions that a nightly run asks again, on average."""


def check_reusable(config: Config, rounds: int) -> None:
    if reason := why_not_reusable(config, rounds):
        raise ConfigError(f"--reuse cannot be used here: {reason}; leave --reuse out")


def why_not_reusable(config: Config, rounds: int = 1) -> str:
    reasons = {
        "a suite asks all sessions of each project": bool(config.projects),
        "an `engine.command` may be another program under the same name": config.engine.command,
        "an `engine.endpoint` already stores its answers": config.engine.endpoint,
        "`--repeat` measures how much answers differ between rounds": rounds > 1,
        "`interpret.saveLogs` logs only sessions that are asked": config.interpret.save_logs,
        "`run.tests` runs each answer": config.running,
    }
    return next((text for text, applies in reasons.items() if applies), "")


def make_sessions(earlier: Path | None, workspace: Workspace, prepared: Prepared, jobs: int, screen: Screen) -> None:
    """Run stage 2, and reuse results of an earlier run, if any. A sample of the sessions is asked again; if any result
    differs, nothing is reused."""
    ask = partial(pipeline.make_sessions, [(workspace, prepared)], jobs, screen)
    if earlier is None:
        ask()
        return
    if not (earlier / "manifest.json").is_file():
        screen.say(f"Nothing is reused: there is no workspace in {earlier} yet")
        ask()
        return
    kept = Workspace.open(earlier)
    kept.verify()
    if changed := next(_changes(kept, workspace, prepared), ""):
        screen.say(f"Nothing of {earlier} is reused: {changed}")
        ask()
        return
    taken, again = _take_over(kept, workspace, prepared)
    ask(earlier, again)
    differing, compared = count_differing(kept, workspace, again)
    # A sample without any comparable session proves nothing.
    verified = compared > 0 and not differing
    if taken and not verified:
        reason = (
            f"of {compared:,} sessions asked again, {differing:,} were answered differently"
            if compared
            else "none of the sessions asked again has an answer in that run"
        )
        screen.warn(
            f"nothing of {earlier} is reused: {reason}, so all sessions are asked; "
            "`--repeat 3` shows how much the engine's results vary"
        )
        for path in taken:
            workspace.drop_sessions(path)
        ask()
    reused = sum(session.reused for _, sessions in workspace.sessions(Session) for session in sessions)
    workspace.write_manifest(replace(workspace.manifest(), reused=reused))
    workspace.seal()
    if verified:
        screen.say(
            f"Reused: {format_count(reused, 'session')} of {earlier}; {compared:,} asked again were answered the same"
        )


def note_closures(workspace: Workspace, prepared: Prepared) -> None:
    if kept := closures(prepared, [head.path for head in workspace.heads().values()]):
        workspace.write_manifest(replace(workspace.manifest(), closures=kept))


def _changes(earlier: Workspace, workspace: Workspace, prepared: Prepared) -> Iterator[str]:
    was, now = earlier.manifest(), workspace.manifest()
    declared = bool(was.closures and now.closures)
    for condition, change in runs.changed_answers(was, now):
        if condition == "project" and declared:
            continue  # changes are checked file by file
        yield change
    if was.project.identity_name != now.project.identity_name:
        # The ids of sessions depend on the project's name.
        yield f"the project's name was {was.project.identity_name!r}, and is {now.project.identity_name!r} now"
    if (was.rounds, was.os, was.grammar) != (now.rounds, now.os, now.grammar):
        yield "the operating system, the grammar or the number of rounds differs"
    if (was.precision, was.detection) != (now.precision, now.detection):
        yield "the sessions were chosen in another way"
    if _select_conditions(runs.measured_config(earlier)) != _select_conditions(prepared.config):
        yield "the configuration differs"


def _select_conditions(config: Config) -> Config:
    """Return the configuration without the keys that change no result. The project's content is compared elsewhere."""
    project = replace(config.project, spec="")
    plain = Config()
    left_out = {"reports": plain.reports, "comparison": plain.comparison, "training_projects": (), "output_dir": ""}
    return replace(config, project=project, **left_out)


def _take_over(
    kept: Workspace, workspace: Workspace, prepared: Prepared
) -> tuple[Collection[str], dict[str, frozenset[str]]]:
    """Store the sessions of files that are reused as a whole. Return all files with reused sessions, and the sessions
    to ask again by file."""
    heads = {head.path: head for head in workspace.heads().values() if kept.has_sessions(head.path)}
    if kept.manifest().project.checksum != workspace.manifest().project.checksum:
        was, now, unchanged = kept.manifest().closures, workspace.manifest().closures, set[str]()
        pipeline.divide_sample([(workspace, prepared)], prepared.config.interpret.sessions_limit)
        for planned_file in interpret.plan(workspace, prepared.setup, pipeline.choose_share(workspace, prepared)):
            path = planned_file.path
            # The cheap conditions come first, since the actions of a file must be read from disk.
            if path in was and was[path] == now.get(path) and kept.has_sessions(path):
                before, after = kept.actions_path(path), workspace.actions_path(path)
                asked = {session.id for session in kept.decode_sessions(path, Session)}
                same = stored.exists(before) and read_actions(before) == read_actions(after)
                if same and asked == {call.session for call in interpret.chosen(planned_file, iterate_actions(after))}:
                    unchanged.add(path)
        heads = {path: head for path, head in heads.items() if path in unchanged}
    taken: dict[str, list[str]] = {}
    for source, ends in kept.sessions(interpret.SessionEnd):
        head, sessions = heads.get(source.path), list(ends)
        if head and head.checksum == source.checksum and not any(end.status in NO_RESULT for end in sessions):
            taken[source.path] = [session.id for session in sessions]
    again = choose_sample(taken, workspace.manifest().start)
    for path in taken.keys() - again.keys():
        reused = (replace(session, reused=True) for session in kept.decode_sessions(path, Session))
        workspace.write_sessions(path, pack_sessions(kept.source(path), reused))
    return taken, again


def choose_sample(sessions: Mapping[str, Sequence[str]], start: str) -> dict[str, frozenset[str]]:
    """Return a sample of at least one session as ids by file. Each session is drawn with the probability SAMPLE."""
    # The start of the run is part of the seed, so that each session is asked again in some run.
    draws = {path: [draw(0, f"{start} {session}") for session in ids] for path, ids in sessions.items()}
    limit = max(SAMPLE, min((min(numbers) for numbers in draws.values() if numbers), default=0.0))
    sample = {
        path: frozenset(session for session, number in zip(ids, draws[path], strict=True) if number <= limit)
        for path, ids in sessions.items()
    }
    return {path: ids for path, ids in sample.items() if ids}


def count_differing(kept: Workspace, workspace: Workspace, again: Mapping[str, frozenset[str]]) -> tuple[int, int]:
    """Return how many of these sessions have another result than before, and how many were compared."""
    differing = compared = 0
    for path, ids in again.items():
        before = (session for session in kept.decode_sessions(path, Session) if session.id in ids)
        was = {session.id: observable_content(session) for session in before}
        for session in workspace.decode_sessions(path, Session):
            if session.id in was:
                compared += 1
                differing += was[session.id] != observable_content(session)
    return differing, compared
