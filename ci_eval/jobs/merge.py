"""The job `merge`: the shards of one run, or the runs over several projects → one workspace."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from ci_eval import atomic
from ci_eval.ci import Screen
from ci_eval.config import Config
from ci_eval.errors import WorkspaceError
from ci_eval.grammar.imports.missing import most_frequent
from ci_eval.jobs import outcome, pipeline, runs
from ci_eval.jobs.evaluate import Evaluated
from ci_eval.learning import logs
from ci_eval.learning.names import count
from ci_eval.manifest import Manifest, unlike
from ci_eval.model import Determinism, ProjectInfo, Session
from ci_eval.model.sampling import Sampling
from ci_eval.shards import Shard
from ci_eval.stages.interpret.pack import Pack
from ci_eval.statistics import footprint
from ci_eval.workspace import Workspace, workspaces_in


def merge(folders: Sequence[Path], *, output: Path, screen: Screen) -> Evaluated:
    """Merge the shards of a run into the workspace it would have made on one machine; or runs over several projects
    into one workspace with the files of all.

    A folder that is no workspace stands for those directly below it. Raises WorkspaceError where shards are missing, or
    where the workspaces do not belong together.
    """
    folders = workspaces_in(folders)
    places = [folder.resolve() for folder in folders]
    if twice := next((folder for folder, place in zip(folders, places, strict=True) if places.count(place) > 1), None):
        raise WorkspaceError(f"{twice} is given twice")
    given = [Workspace.open(folder) for folder in folders]
    for workspace in given:
        if _finished(workspace):
            workspace.verify()
    of_shards = [workspace.manifest().shard is not None for workspace in given]
    if any(of_shards) and not all(of_shards):
        whole = given[of_shards.index(False)]
        raise WorkspaceError(f"{whole.folder} is no shard: it was evaluated without --shard; give only shards, or none")
    chosen = _newest(given, screen) if all(of_shards) else given
    merged = (_shards if all(of_shards) else _projects)(chosen, output, screen)
    _merge_logs(chosen, merged)
    merged.seal()
    config = runs.stored_config(merged)
    evaluation, reports = pipeline.make_reports(merged, config)
    trouble = outcome.trouble(merged, config)
    return Evaluated(folder=merged.folder, evaluation=evaluation, reports=reports, trouble=trouble)


def _merge_logs(given: Sequence[Workspace], merged: Workspace) -> None:
    """Merge their logs in the order of the shards, so that the result does not depend on the order of `given`."""
    found = [(each.folder / "logs", record) for each in given for record in [each.manifest().logs] if record]
    if not found:
        return
    record = logs.merge(merged.folder / "logs", found)
    merged.write_manifest(replace(merged.manifest(), logs=record))


def _shards(shards: Sequence[Workspace], output: Path, screen: Screen) -> Workspace:  # noqa: ARG001
    _check(shards)
    merged = Workspace.create(output)
    atomic.copy(shards[0].config_path, merged.config_path)
    for shard in shards:
        _take(shard, merged)
    files = _take_sessions(shards, merged)
    if shards[0].manifest().own_actions:
        count(source.text for source in merged.sources()).save(merged.names_path)
    elif shards[0].names_path.is_file():
        atomic.copy(shards[0].names_path, merged.names_path)
    manifest = _manifest([shard.manifest() for shard in shards])
    interpreted = replace(manifest.stages["interpret"], files=files)
    merged.write_manifest(replace(manifest, stages=manifest.stages | {"interpret": interpreted}))
    return merged


def _take(shard: Workspace, merged: Workspace) -> None:
    """Copy what the shards share, from one of them, the actions, and the errors of files."""
    for part in ("actions", "errors"):
        for path in sorted((shard.folder / part).glob("*.json*")):
            atomic.copy(path, merged.folder / part / path.name)


def _take_sessions(shards: Sequence[Workspace], merged: Workspace) -> int:
    """Write the sessions of all files; how many files that is. Raises WorkspaceError where a session is there twice."""
    holders: dict[str, list[Workspace]] = {}
    for shard in shards:
        for source in shard.sources():
            holders.setdefault(source.path, []).append(shard)
    for path, pieces in holders.items():
        if len(pieces) == 1:
            whole = pieces[0].sessions_of(path)
            atomic.copy(whole, merged.folder / "sessions" / whole.name)
        else:
            _join(path, pieces, merged)
    return len(holders)


def _join(path: str, pieces: Sequence[Workspace], merged: Workspace) -> None:
    """Write the sessions of a file of which each of these shards has some, in their order."""
    known: set[str] = set()
    pack = Pack(pieces[0].source(path))
    for shard in pieces:
        for session in shard.sessions_in(path, Session):
            if session.id in known:
                raise WorkspaceError(f"session {session.id} of {path} is in two of the shards: evaluate them again")
            known.add(session.id)
            pack.add(session)
    merged.write_sessions(path, pack.close())
    if pack.trouble:
        merged.write_error(pack.trouble)


def _projects(given: Sequence[Workspace], output: Path, screen: Screen) -> Workspace:
    manifests = [workspace.manifest() for workspace in given]
    _check_projects(given, manifests)
    merged = Workspace.create(output)
    atomic.copy(given[0].config_path, merged.config_path)
    names = [each.project.name for each in manifests]
    sampled = _sampled(given, manifests)
    strata, unread = 0, dict[str, float]()
    for workspace, manifest in zip(given, manifests, strict=True):
        info = manifest.project
        name = info.name if names.count(info.name) == 1 else f"{info.name}-{info.revision}"
        screen.say(f"Taking {name} from {workspace.folder}")
        folder = re.sub(r"[^A-Za-z0-9._@-]+", "-", name)
        merged.adopt(workspace, folder, strata)
        unread |= {f"{folder}/{path}": share for path, share in manifest.unparsable_files.items()}
        strata += len(manifest.sampling.strata) if manifest.sampling else 0
    infos = tuple(manifest.project for manifest in manifests)
    together = hashlib.sha256("".join(info.checksum for info in infos).encode()).hexdigest()
    merged.write_manifest(
        replace(
            _manifest(manifests),
            project=ProjectInfo(
                spec=" ".join(info.spec for info in infos),
                name=f"{len(infos)} projects",
                revision=together[:12],
                checksum=together,
            ),
            projects=infos,
            sampling=sampled,
            generated=sum(each.generated for each in manifests),
            unparsable=sum(each.unparsable for each in manifests) / len(manifests),
            unparsable_files=unread,
            pairs=dict(sum((Counter(each.pairs) for each in manifests), Counter())),
            dependencies={},
            closures={},
        )
    )
    return merged


def _sampled(given: Sequence[Workspace], manifests: Sequence[Manifest]) -> Sampling | None:
    """How the sessions of all projects were drawn: the strata of one after those of the other. Raises WorkspaceError
    where only some were drawn for a precision, or for that of another metric."""
    first = manifests[0].sampling
    for workspace, manifest in zip(given, manifests, strict=True):
        own = manifest.sampling
        if (first and (first.metric, first.precision)) != (own and (own.metric, own.precision)):
            raise WorkspaceError(
                f"{workspace.folder} does not go with {given[0].folder}: evaluate all with the same "
                "--precision, or none"
            )
    strata = tuple(each for manifest in manifests if manifest.sampling for each in manifest.sampling.strata)
    return replace(first, strata=strata) if first else None


def _check_projects(given: Sequence[Workspace], manifests: Sequence[Manifest]) -> None:
    first = manifests[0]
    for workspace, manifest in zip(given, manifests, strict=True):
        _check_finished(workspace)
        if manifest.projects:
            raise WorkspaceError(f"{workspace.folder} is merged already: give the workspaces it was made of")
        for what, was, now in unlike(_alike(first), _alike(manifest)):
            raise WorkspaceError(
                f"{workspace.folder} does not go with {given[0].folder}: its {what} is {now}, not {was}"
            )
    texts = [manifest.project.checksum for manifest in manifests]
    for workspace, text in zip(given, texts, strict=True):
        if texts.count(text) > 1:
            raise WorkspaceError(f"{workspace.folder}: its project is there twice; the shards of a run have --shard")


def _alike(manifest: Manifest) -> dict[str, object]:
    # The actions differ, since each project has its own files.
    return {**manifest.answering(), "file filter": "", "ci-eval": manifest.ci_eval}


def _newest(shards: Sequence[Workspace], screen: Screen) -> list[Workspace]:
    """The newest finished attempt of each shard, in order of the shards' numbers."""
    attempts: dict[int, list[Workspace]] = {}
    for shard in shards:
        manifest = shard.manifest()
        attempts.setdefault(Shard.parse(manifest.shard or "").index, []).append(shard)
    chosen = []
    for index in sorted(attempts):
        *older, newest = sorted(attempts[index], key=lambda each: (_finished(each), each.manifest().start))
        for each in older:
            screen.warn(f"{each.folder} is left out: {newest.folder} is a newer attempt of shard {index}")
        chosen.append(newest)
    return chosen


def _finished(shard: Workspace) -> bool:
    return "interpret" in shard.manifest().stages


def _check_finished(workspace: Workspace) -> None:
    if not _finished(workspace):
        folder = workspace.folder
        raise WorkspaceError(
            f"{folder} was interrupted; take it up with: ci-eval evaluate --resume --output {shlex.quote(str(folder))}"
        )


def _check(shards: Sequence[Workspace]) -> None:
    first = shards[0].manifest()
    assert first.shard
    of = Shard.parse(first.shard).of
    there = {Shard.parse(shard.manifest().shard or "").index for shard in shards}
    if missing := sorted(set(range(1, of + 1)) - there):
        named = ", ".join(f"{index}/{of}" for index in missing)
        raise WorkspaceError(f"shards are missing: {named}; give all {of} workspaces, or evaluate the missing ones")
    whole = _of_one_run(shards[0])
    for shard in shards:
        _check_finished(shard)
        for what, *_ in unlike(whole, _of_one_run(shard)):
            raise WorkspaceError(f"{shard.folder} is not of the same run as {shards[0].folder}: another {what}")


def _of_one_run(shard: Workspace) -> dict[str, object]:
    manifest = shard.manifest()
    return {
        **_alike(manifest),
        "format of workspaces": manifest.format,  # the deal of files was another before
        "number of shards": Shard.parse(manifest.shard or "").of,
        "project": manifest.project,
        "engine's packages": manifest.engine,
        "seed": manifest.seed,
        "grammar": manifest.grammar,
        "dependencies": manifest.dependencies,
        "configuration": _config(shard),
        "way to divide files": manifest.own_actions,
        "text of the project": {} if manifest.own_actions else _contents(shard),
    }


def _config(shard: Workspace) -> Config:
    """The shard's configuration without the path of its ranking model, which differs from machine to machine. (The
    manifest has the model's digest.)"""
    config = runs.stored_config(shard)
    return replace(config, interpret=replace(config.interpret, ranking_model=None))


def _contents(shard: Workspace) -> dict[str, int]:
    """The files of stage 1 with their checksums; they are the same, to the byte, in all shards of a run."""
    return {path.name: path.stat().st_size for path in shard.action_files()}


def _manifest(shards: Sequence[Manifest]) -> Manifest:
    statuses: Counter[str] = Counter()
    for each in shards:
        statuses.update(each.statuses)
    if len(rounds := {each.rounds for each in shards}) > 1:
        asked = " and ".join(map(str, sorted(rounds)))
        raise WorkspaceError(f"each session was asked {asked} times: evaluate all with the same --repeat")
    cpus = list(dict.fromkeys(each.cpu for each in shards))
    stages = {name: replace(record, files=_files(name, shards)) for name, record in shards[0].stages.items()}
    return replace(
        shards[0],
        shard=None,
        own_actions=False,
        generated=sum(each.generated for each in shards) if shards[0].own_actions else shards[0].generated,
        turns="",
        logs=None,
        cpu="; ".join(cpus),
        unresolved_imports=_mean_of_imports(shards),
        unresolved_packages=most_frequent(sum((Counter(each.unresolved_packages) for each in shards), Counter())),
        dependencies_left_out=any(each.dependencies_left_out for each in shards),
        confined=pipeline.together(each.confined for each in shards),
        footprint=footprint.together(each.footprint for each in shards),
        state=_state(shards),
        waited=sum(each.waited for each in shards),
        machine=max((each.machine for each in shards), key=lambda state: (state.busy, state.load or 0.0)),
        given_up=next((each.given_up for each in shards if each.given_up), ""),
        trouble=next((each.trouble for each in shards if each.trouble), ""),
        start=min(each.start for each in shards),
        end=max((each.end for each in shards if each.end), default=None),
        planned=sum(each.planned for each in shards),
        finished=sum(each.finished for each in shards),
        reused=sum(each.reused for each in shards),
        statuses={name: statuses[name] for name in sorted(statuses) if statuses[name]},
        stages=stages,
    )


def _state(shards: Sequence[Manifest]) -> Determinism | None:
    """Return the counts of all shards; None if one of them was not checked, since its engine may waver."""
    states = [each.state for each in shards if each.finished]
    known = [each for each in states if each is not None]
    return sum(known, Determinism()) if known and len(known) == len(states) else None


def _files(stage: str, shards: Sequence[Manifest]) -> int:
    """That the stage had; of actions, all shards have the same, as a rule."""
    each = [shard.stages[stage].files for shard in shards if stage in shard.stages]
    return sum(each) if stage == "interpret" or shards[0].own_actions else each[0]


def _mean_of_imports(shards: Sequence[Manifest]) -> float | None:
    """Their mean, weighted by the number of files: how many imports there were is not stored."""
    known = [(each.unresolved_imports, each.stages["interpret"].files) for each in shards]
    told = [(share, files) for share, files in known if share is not None]
    files = sum(count for _, count in told)
    return sum(share * count for share, count in told) / files if files else None
