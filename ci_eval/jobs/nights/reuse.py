"""Answers of an earlier run, taken over where all that they depend on is the same."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from msgspec.structs import replace

from ci_eval.chance import draw
from ci_eval.ci import Screen
from ci_eval.config import Config
from ci_eval.errors import ConfigError
from ci_eval.jobs import pipeline, runs
from ci_eval.jobs.nights.closures import closures
from ci_eval.jobs.preparation import Prepared
from ci_eval.manifest import unlike
from ci_eval.model import FAILED, Session, Status
from ci_eval.rendering.figures import counted
from ci_eval.shards import Shard
from ci_eval.stages import interpret
from ci_eval.stages.interpret import Executor, answers_of
from ci_eval.workspace import Workspace, pack_sessions, read_actions

SAMPLE = 0.02
"""Share of the sessions that is asked anew, at least."""


def check_reusable(config: Config, rounds: int) -> None:
    """Raises ConfigError if answers of an earlier run would not do."""
    if reason := why_not_reusable(config, rounds):
        raise ConfigError(f"--reuse cannot be used here: {reason}; leave it out")


def why_not_reusable(config: Config, rounds: int = 1) -> str:
    """Why answers of an earlier run would not do; "" if they would."""
    why = {
        "each project of a suite is asked everything": bool(config.projects),
        "an `engine.command` may be another program under the same name": config.engine.command,
        "an `engine.endpoint` has a store of answers of its own": config.engine.endpoint,
        "`--repeat` asks how far answers differ by themselves": rounds > 1,
        "`interpret.saveLogs` logs what is asked": config.interpret.save_logs,
        "`run.tests` runs each answer": config.running,
    }
    return next((text for text, applies in why.items() if applies), "")


def make_sessions_with(
    earlier: Path,
    workspace: Workspace,
    prepared: Prepared,
    jobs: int,
    screen: Screen,
    executor: Executor | None = None,
) -> None:
    """Stage 2, with the answers of an earlier run where there is one like this.

    Some files are asked anew. Where any session in them is answered in another way than it was, nothing is taken over.
    """
    kept = _earlier(earlier, workspace, prepared, screen)
    asked_anew, taken = _take_over(kept, workspace, prepared) if kept else ((), ())
    pipeline.make_sessions([(workspace, prepared)], jobs, screen, executor)
    if kept is None:
        return
    differing, compared = _differing(kept, workspace, asked_anew)
    verified = compared > 0 and not differing
    if taken and not verified:
        why = (
            f"of {compared:,} sessions asked anew, {differing:,} were answered in another way"
            if compared
            else "none of the sessions asked anew could be compared with an answer of that night"
        )
        screen.warn(
            f"nothing of {earlier} is reused: {why}, so that all are asked; "
            "`--repeat 3` tells how far the engine wavers by itself"
        )
        for path in taken:
            workspace.drop_sessions(path)
        pipeline.make_sessions([(workspace, prepared)], jobs, screen, executor)
    reused = sum(session.reused for _, sessions in workspace.sessions(Session) for session in sessions)
    workspace.write_manifest(replace(workspace.manifest(), reused=reused))
    workspace.seal()
    if verified:
        screen.say(f"Reused: {counted(reused, 'session')} of {earlier}; {compared:,} asked anew were answered the same")


def note_closures(workspace: Workspace, prepared: Prepared) -> None:
    """Write down what answers depend on, for the runs that will reuse them."""
    if found := closures(prepared):
        kept = {head.path: found[head.path] for head in workspace.action_heads() if head.path in found}
        workspace.write_manifest(replace(workspace.manifest(), closures=kept))


def _earlier(folder: Path, workspace: Workspace, prepared: Prepared, screen: Screen) -> Workspace | None:
    """Return the workspace of a run that was answered as this one will be; None if it is not, which is said."""
    if not (folder / "manifest.json").is_file():
        screen.say(f"Nothing is reused: there is no workspace in {folder} yet")
        return None
    earlier = Workspace.open(folder)
    earlier.verify()
    if changed := next(_changed(earlier, workspace, prepared), ""):
        screen.say(f"Nothing of {folder} is reused: {changed}")
        return None
    return earlier


def _changed(earlier: Workspace, workspace: Workspace, prepared: Prepared) -> Iterator[str]:
    """What answers depend on and is not the same, in words."""
    was, now = earlier.manifest(), workspace.manifest()
    declared = bool(was.closures and now.closures)
    for what, before, after in unlike(runs.same_answers(was), runs.same_answers(now)):
        if what == "project" and declared:
            continue  # file by file, it is looked at what has changed
        yield f"the {what} was {before}, and is {after} now"
    if was.project.identified != now.project.identified:
        # The ids of sessions depend on it.
        names = (each.project.identified or "by no name" for each in (was, now))
        yield "the project was called {}, and is called {} now".format(*names)
    if (was.rounds, was.os, was.grammar) != (now.rounds, now.os, now.grammar):
        yield "the machine is another one, or sessions were asked several times"
    if _asked(runs.stored_config(earlier)) != _asked(prepared.config):
        yield "the configuration is another one"


def _asked(config: Config) -> Config:
    """As far as answers depend on it; the project may have moved, if its content is the same."""
    project = replace(config.project, spec="")
    left_out = {"reports": _NONE.reports, "comparison": _NONE.comparison, "training_projects": (), "output_dir": ""}
    return replace(config, project=project, **left_out)


_NONE = Config()


def _take_over(kept: Workspace, workspace: Workspace, prepared: Prepared) -> tuple[Collection[str], Collection[str]]:
    """Store the earlier sessions of all files that would be answered the same, but a sample of these; the paths of the
    sample, and of what was taken over."""
    heads = {head.path: head for head in workspace.action_heads() if kept.has_sessions(head.path)}
    if kept.manifest().project.checksum != workspace.manifest().project.checksum:
        unchanged = set(_unchanged(kept, workspace, prepared))
        heads = {path: head for path, head in heads.items() if path in unchanged}
    taken = []
    sample = _sample({path: head.sessions for path, head in heads.items()}, workspace.manifest().start)
    for source, found in kept.sessions(Session):
        head = heads.get(source.path)
        if head and head.checksum == source.checksum and source.path not in sample:
            sessions = list(found)
            if all(map(_settled, sessions)):
                reused = (replace(session, reused=True) for session in sessions)
                workspace.write_sessions(source.path, pack_sessions(source, reused))
                taken.append(source.path)
    return sample, taken


def _unchanged(kept: Workspace, workspace: Workspace, prepared: Prepared) -> Iterator[str]:
    """Yield the files in which, of a project that has changed, the same sessions are asked as before, and in which the
    files that answers depend on are the same."""
    was, now = kept.manifest().closures, workspace.manifest().closures
    wanted, shard = prepared.config.interpret, workspace.manifest().dealt
    planned = interpret.plan(
        workspace,
        prepared.setup,
        probability=wanted.session_probability,
        limit=wanted.sessions_limit,
        shard=Shard.parse(shard) if shard else None,
    )
    for each in planned:
        path = each.path
        if path in was and was[path] == now.get(path) and kept.has_sessions(path):
            before, after = kept.actions_of(path), workspace.actions_of(path)
            asked = {session.id for session in kept.sessions_in(path, Session)}
            same = before.is_file() and read_actions(before) == read_actions(after)
            if same and asked == {call.session for call in interpret.chosen(each, read_actions(after))}:
                yield path


def _settled(session: Session) -> bool:
    """Whether it was answered; where the engine failed, it is given another chance."""
    return session.status not in FAILED | {Status.SKIPPED}


def _sample(sizes: dict[str, int], start: str) -> set[str]:
    """Files with SAMPLE of the sessions, other ones in every run."""
    wanted, found = SAMPLE * sum(sizes.values()), set[str]()
    for path in sorted(sizes, key=lambda path: draw(0, f"{start} {path}")):
        if sum(sizes[each] for each in found) >= wanted:
            break
        found.add(path)
    return found


def _differing(kept: Workspace, workspace: Workspace, paths: Collection[str]) -> tuple[int, int]:
    """How many sessions of these files were answered in another way, and how many could be compared."""
    differing = compared = 0
    for path in sorted(paths):
        was = {session.id: answers_of(session) for session in kept.sessions_in(path, Session) if _settled(session)}
        for session in workspace.sessions_in(path, Session):
            if session.id in was:
                compared += 1
                differing += was[session.id] != answers_of(session)
    return differing, compared
