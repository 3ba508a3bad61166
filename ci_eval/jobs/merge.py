"""The job `merge`: it writes one workspace from the shards of a run, or from the runs over several projects."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core import logs, machine
from ci_eval.core.base import atomic, stored
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.base.shards import Shard
from ci_eval.core.config.loading import UNCHANGED, View, change_view
from ci_eval.core.grammar.imports import most_frequent, sum_counts, sum_packages
from ci_eval.core.interpret.pack import Pack
from ci_eval.core.manifest import Manifest, unlike
from ci_eval.core.model import Determinism, ProjectInfo, Session, sum_histories
from ci_eval.core.model.engine import CpuTimes
from ci_eval.core.statistics import footprint
from ci_eval.core.workspace import Workspace, find_workspaces
from ci_eval.jobs import pipeline, runs
from ci_eval.jobs.pipeline import Evaluated


def merge(folders: Sequence[Path], *, output: Path, view: View = UNCHANGED, screen: Screen) -> Evaluated:
    """Merge the shards of a run into the workspace that one machine would have made, or merge runs over several
    projects.

    A folder that is not a workspace stands for the workspaces directly below it. Raises WorkspaceError if shards are
    missing, or if the workspaces do not belong together.
    """
    folders = find_workspaces(folders)
    paths = [folder.resolve() for folder in folders]
    if duplicate := next((folder for folder, path in zip(folders, paths, strict=True) if paths.count(path) > 1), None):
        raise WorkspaceError(f"{duplicate} is given twice")
    workspaces = [Workspace.open(folder) for folder in folders]
    for workspace in workspaces:
        if workspace.manifest().complete:
            workspace.verify()
    # Check the view now, so that a mistake is reported before anything is merged.
    runs.measured_config(workspaces[0], view)
    of_shards = [workspace.manifest().shard is not None for workspace in workspaces]
    if any(of_shards) and not all(of_shards):
        whole = workspaces[of_shards.index(False)]
        raise WorkspaceError(
            f"{whole.folder} is not a shard: it was evaluated without --shard; give only shards, or none"
        )
    if all(of_shards):
        attempts: dict[int, list[Workspace]] = {}
        for shard in workspaces:
            attempts.setdefault(Shard.parse(shard.manifest().shard or "").index, []).append(shard)
        chosen = []
        for index in sorted(attempts):
            *older, newest = sorted(
                attempts[index], key=lambda shard: (shard.manifest().complete, machine.seconds(shard.manifest().start))
            )
            for attempt in older:
                is_copy = attempt.manifest() == newest.manifest()
                why = "holds the same" if is_copy else f"is a newer attempt of shard {index}"
                screen.warn(f"{attempt.folder} is left out: {newest.folder} {why}")
            chosen.append(newest)
        merged = _merge_shards(chosen, output)
    else:
        chosen, merged = workspaces, _merge_projects(workspaces, output, screen)
    kept = [(workspace.folder / "logs", workspace.manifest().logs) for workspace in chosen]
    if records := [(folder, record) for folder, record in kept if record]:
        # Shards are in the order of their numbers, so the result does not depend on the order of the arguments.
        record = logs.merge(merged.folder / "logs", records)
        merged.write_manifest(replace(merged.manifest(), logs=record))
    merged.seal()
    change_view(merged.view_path, merged.config_path, view)
    return pipeline.make_reports(merged, runs.stored_config(merged))


def _merge_shards(shards: Sequence[Workspace], output: Path) -> Workspace:
    number = Shard.parse(shards[0].manifest().shard or "").of
    indices = {Shard.parse(shard.manifest().shard or "").index for shard in shards}
    if missing := sorted(set(range(1, number + 1)) - indices):
        named = ", ".join(f"{index}/{number}" for index in missing)
        raise WorkspaceError(f"shards are missing: {named}; give all {number} workspaces, or evaluate the missing ones")
    shared_values = _shared_values_of_run(shards[0])
    for shard in shards:
        _check_complete(shard)
        for what, *_ in unlike(shared_values, _shared_values_of_run(shard)):
            raise WorkspaceError(f"{shard.folder} is not of the same run as {shards[0].folder}: its {what} differs")
    merged = Workspace.create(output)
    atomic.copy(shards[0].config_path, merged.config_path)
    for shard in shards:
        # Files that all shards have are copied several times, with the same content.
        shard.copy_actions(merged)
        for path in sorted((shard.folder / "errors").glob("*.json")):
            atomic.copy(path, merged.folder / "errors" / path.name)
    holders: dict[str, list[Workspace]] = {}
    for shard in shards:
        for source in shard.sources():
            holders.setdefault(source.path, []).append(shard)
    for path_of_source, pieces in holders.items():
        if len(pieces) == 1:
            whole = pieces[0].sessions_path(path_of_source)
            stored.copy(whole, merged.folder / "sessions" / whole.name)
            continue
        known: set[str] = set()
        pack = Pack(pieces[0].source(path_of_source))
        for session in (session for shard in pieces for session in shard.decode_sessions(path_of_source, Session)):
            if session.id in known:
                raise WorkspaceError(
                    f"session {session.id} of {path_of_source} is in two of the shards: evaluate both again"
                )
            known.add(session.id)
            pack.add(session)
        merged.write_sessions(path_of_source, pack.close())
        if pack.trouble:
            merged.write_error(pack.trouble)
    if shards[0].names_path.is_file():
        atomic.copy(shards[0].names_path, merged.names_path)
    manifest = _merge_manifests([shard.manifest() for shard in shards])
    interpreted = replace(manifest.stages["interpret"], files=len(holders))
    merged.write_manifest(replace(manifest, stages=manifest.stages | {"interpret": interpreted}))
    return merged


def _merge_projects(workspaces: Sequence[Workspace], output: Path, screen: Screen) -> Workspace:
    manifests = [workspace.manifest() for workspace in workspaces]
    texts = [manifest.project.checksum for manifest in manifests]
    for workspace, manifest in zip(workspaces, manifests, strict=True):
        _check_complete(workspace)
        if manifest.projects:
            raise WorkspaceError(f"{workspace.folder} is merged already: give the workspaces that it was merged from")
        for what, was, now in unlike(_shared_values(manifests[0]), _shared_values(manifest)):
            raise WorkspaceError(
                f"{workspace.folder} cannot be merged with {workspaces[0].folder}: its {what} is {now}, not {was}"
            )
    for workspace, text in zip(workspaces, texts, strict=True):
        if texts.count(text) > 1:
            why = "another workspace has the same project, and neither is a shard: leave one out"
            raise WorkspaceError(f"{workspace.folder}: {why}")
    merged = Workspace.create(output)
    atomic.copy(workspaces[0].config_path, merged.config_path)
    names = [manifest.project.name for manifest in manifests]
    unread, strata = dict[str, float](), dict[str, dict[str, int]]()
    for workspace, manifest in zip(workspaces, manifests, strict=True):
        info = manifest.project
        # Two revisions of one project need different folders.
        name = info.name if names.count(info.name) == 1 else f"{info.name}-{info.revision}"
        screen.say(f"Taking {name} from {workspace.folder}")
        folder = re.sub(r"[^A-Za-z0-9._@-]+", "-", name)
        merged.adopt(workspace, folder)
        if manifest.strata:
            strata[folder] = manifest.strata[""]
        elif manifest.sampling:
            strata[folder] = {"": manifest.generated}
        unread |= {f"{folder}/{path}": share for path, share in manifest.unparsable_files.items()}
    infos = tuple(manifest.project for manifest in manifests)
    histories = [manifest.histories for manifest in manifests if manifest.histories]
    digest = hashlib.sha256("".join(info.checksum for info in infos).encode()).hexdigest()
    whole = _merge_manifests(manifests)
    merged.write_manifest(
        replace(
            whole,
            project=ProjectInfo(
                spec=" ".join(info.spec for info in infos),
                name=f"{len(infos)} projects",
                revision=digest[:12],
                checksum=digest,
            ),
            projects=infos,
            generated=sum(manifest.generated for manifest in manifests),
            strata=strata,
            # If the number of sessions of any project is an estimate, the sum is an estimate, too.
            sampling=next((manifest.sampling for manifest in manifests if manifest.sampling), None),
            unparsable=sum(manifest.unparsable for manifest in manifests) / len(manifests),
            unparsable_files=unread,
            left_out=dict(sum((Counter(manifest.left_out) for manifest in manifests), Counter())),
            pairs=dict(sum((Counter(manifest.pairs) for manifest in manifests), Counter())),
            histories=sum_histories(histories) if histories else None,
            drawn={name: seed for manifest in manifests for name, seed in manifest.draws.items()},
            dependencies={},
            # Closures are stored by path, and the merge puts the project before each path.
            closures={},
            imports=dict.fromkeys([digest], *whole.imports.values()),
        )
    )
    return merged


def _shared_values(manifest: Manifest) -> dict[str, object]:
    # Workspaces may differ in their file filters, since each project has its own files.
    return {**manifest.answering(), "file filter": "", "ci-eval": manifest.ci_eval}


def _check_complete(workspace: Workspace) -> None:
    if not workspace.manifest().complete:
        folder = workspace.folder
        raise WorkspaceError(
            f"{folder} was interrupted; resume it with: ci-eval evaluate --resume --output {shlex.quote(str(folder))}"
        )


def _shared_values_of_run(shard: Workspace) -> dict[str, object]:
    manifest = shard.manifest()
    # The path of the ranking model may differ between machines. The manifest has a digest of the model.
    config = runs.measured_config(shard)
    config = replace(config, interpret=replace(config.interpret, ranking_model=None))
    return {
        **_shared_values(manifest),
        "format of workspaces": manifest.format,  # earlier formats assigned files to shards differently
        "number of shards": Shard.parse(manifest.shard or "").of,
        "project": manifest.project,
        "engine's packages": manifest.engine,
        "seed": manifest.seed,
        "grammar": manifest.grammar,
        "dependencies": manifest.dependencies,
        "configuration": config,
        "classes of the sample": manifest.classes,
        # The action files are the same, to the byte, in all shards of a run.
        "text of the project": {path.name: stored.size(path) for path in shard.action_files()},
    }


def _merge_manifests(shards: Sequence[Manifest]) -> Manifest:
    statuses, classes = sum((Counter(shard.statuses) for shard in shards), Counter()), shards[0].classes
    if len(rounds := {shard.rounds for shard in shards}) > 1:
        asked = " and ".join(map(str, sorted(rounds)))
        raise WorkspaceError(f"each session was asked {asked} times: evaluate all with the same --repeat")
    processors = list(dict.fromkeys(shard.processor for shard in shards))
    states = [shard.state for shard in shards if shard.finished]
    # A file in several shards counts once.
    total, share = sum_counts({path: count for shard in shards for path, count in shard.imports.items()}.values())
    packages = sum_packages(shard.unresolved_packages for shard in shards)
    pieces = dict[str, dict[str, int]]()
    for shard in shards:
        pieces |= shard.unresolved_in_pieces
        of_pieces = sum_packages(shard.unresolved_in_pieces.values())
        # A shard lists only its most frequent packages.
        packages.subtract({name: count for name, count in of_pieces.items() if name in shard.unresolved_packages})
    packages.update(sum_packages(pieces.values()))
    records = {name: [shard.stages[name] for shard in shards if name in shard.stages] for name in shards[0].stages}
    stages = {
        name: replace(
            of[0],
            # All shards have the same actions, so these files are counted once.
            files=sum(record.files for record in of) if name == "interpret" else of[0].files,
            cpu=_sum_cpu(record.cpu for record in of),
        )
        for name, of in records.items()
    }
    return replace(
        shards[0],
        shard=None,
        # Classes without sessions are kept, since the order of all classes determines the class of a session.
        strata={"": {name: sum(shard.strata[""][name] for shard in shards) for name in classes}} if classes else {},
        # The runs have no common id of turns, so merged times cannot be judged.
        turns="",
        logs=None,
        cpu=_sum_cpu(shard.cpu for shard in shards),
        processor="; ".join(processors),
        unresolved_imports=share,
        imports={shards[0].project.checksum: total},
        unresolved_packages=most_frequent(packages),
        unresolved_in_pieces={},
        remedies={name: text for shard in shards for name, text in shard.remedies.items()},
        dependencies_left_out=any(shard.dependencies_left_out for shard in shards),
        confined=pipeline.together(shard.confined for shard in shards),
        footprint=footprint.merge_footprints(shard.footprint for shard in shards),
        # The state is unknown if any shard was not checked, since its engine may be nondeterministic.
        state=sum((state for state in states if state), Determinism()) if states and all(states) else None,
        # The busiest machine counts, since its times are the least reliable.
        machine=max((shard.machine for shard in shards), key=lambda state: (state.busy, state.load or 0.0)),
        given_up=next((shard.given_up for shard in shards if shard.given_up), ""),
        trouble=next((shard.trouble for shard in shards if shard.trouble), ""),
        start=min((shard.start for shard in shards), key=machine.seconds),
        end=max((shard.end for shard in shards if shard.end), default=None, key=machine.seconds),
        **{name: sum(getattr(shard, name) for shard in shards) for name in ("planned", "finished", "reused", "waited")},
        statuses=dict(sorted(statuses.items())),
        stages=stages,
    )


def _sum_cpu(times: Iterable[CpuTimes | None]) -> CpuTimes | None:
    known = [time for time in times if time]
    return sum(known, CpuTimes()) if known else None
