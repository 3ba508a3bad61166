"""The job `compare-engines`: it asks engines the same sessions in turns, so that their times can be compared."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from uuid import uuid4

import msgspec
from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core.base.errors import ConfigError, WorkspaceError
from ci_eval.core.compare import compare_settings, list_settings
from ci_eval.core.config import Config, limit_sessions, override, patch, set_engine_command
from ci_eval.core.contracts import Engine
from ci_eval.core.model.comparison import Detection
from ci_eval.core.model.engine import Condition, SentConfiguration
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import phases, pipeline, runs
from ci_eval.jobs.compare import Outcome, compare, slug
from ci_eval.jobs.comparison_rules import judging, load_metrics
from ci_eval.jobs.pipeline import Done
from ci_eval.jobs.preparation import ON_TOP, Prepared, make_overlay, prepare, servers
from ci_eval.jobs.runs import RunOptions
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.lsp.overlay import Overlay
from ci_eval.rendering.advice import sentence
from ci_eval.rendering.figures import failures

FILES = (".yaml", ".yml", ".json")
TIMES = ("LatencyPercentile50", "LatencyPercentile95")
"""Metrics that are judged in addition if the configuration names no metric of times."""
OWN = (
    "engine",
    "project.dependencies",
    "interpret.completionType",
    "interpret.rankingModel",
    "interpret.autoImport",
    "interpret.timeout",
    "interpret.memoryLimit",
    "interpret.maxSuggestions",
    "interpret.confine",
    "interpret.trace",
    "interpret.allowedFailures",
    "interpret.allowedEmpty",
    "reports",
    "comparison",
    "trainingProjects",
    "outputDir",
)
"""The keys in which sides may differ. All other keys determine what is asked, or what a figure means."""


class Side(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    config: Config


def is_file(argument: str) -> bool:
    return argument.endswith(FILES) and " " not in argument


def split_arguments(arguments: Sequence[str], *, has_settings: bool) -> tuple[list[str], Path | None]:
    """Return the arguments that name sides, and the shared configuration or None. If `has_settings`, the sides differ
    in settings, and one engine or none is enough for both. Raises ConfigError if there is only one side."""
    *others, last = arguments or [""]
    # If the sides have no settings of their own, an engine and a file are the two sides.
    is_shared = is_file(last) and not any(map(is_file, others)) and (len(others) != 1 or has_settings)
    sides, shared = (others, Path(last)) if is_shared else ([*arguments], None)
    if len(sides) > 1:
        return sides, shared
    if not has_settings:
        raise ConfigError(
            "two sides are compared: give BASE and NEW (engines, commands or configuration files), or a setting in "
            "which the sides differ, such as --new-set completionType=FREQUENCY"
        )
    return (sides or [""]) * 2, shared


def make_side(config: Config, name: str, settings: Sequence[str], like: str | None = None) -> Side:
    """Return a side of the comparison. `name` is NAME, NAME@VERSION or a command; if it is a file or "", the
    configuration keeps its engine. Raises ConfigError."""
    if name and not is_file(name):
        is_command = " " in name or "/" in name
        config = set_engine_command(config, name, like) if is_command else patch(config, engine=name)
    declared = config.declared
    if not any(metric.timed for metric in load_metrics(config) if metric.info.name in declared):
        config = replace(config, comparison=replace(config.comparison, metrics=(*declared, *TIMES)))
    return Side(name=name, config=override(config, settings))


def check_same_sessions(sides: Sequence[Side]) -> None:
    base = dict(_leaves("", msgspec.to_builtins(sides[0].config)))
    for side in sides[1:]:
        new = dict(_leaves("", msgspec.to_builtins(side.config)))
        for key in dict.fromkeys((*base, *new)):
            if base.get(key) != new.get(key) and not any(key == own or key.startswith(f"{own}.") for own in OWN):
                raise ConfigError(
                    f"`{key}` is {base.get(key)!r} in base and {new.get(key)!r} in new, but all sides are asked the "
                    f"same sessions: set the key for all (--set {key}=…). Sides may differ in {', '.join(OWN[:6])}"
                )


def _leaves(path: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping) and value:
        for key, below in value.items():
            yield from _leaves(f"{path}.{key}".strip("."), below)
    else:
        yield path, value


def check_same_configuration(
    base: tuple[Config, Engine, SentConfiguration], new: tuple[Config, Engine, SentConfiguration]
) -> None:
    """Raise ConfigError if the engines get different configurations, except where the user asked for it."""
    (ours, base_engine, base_sent), (theirs, new_engine, new_sent) = base, new
    if _share_settings(ours) != _share_settings(theirs):
        # The user asked for these differences. The comparison reports them.
        return
    kinds = [getattr(engine, "like", "") or engine.name for engine in (base_engine, new_engine)]
    differences = compare_settings(base_sent, new_sent, same_kind=kinds[0] == kinds[1])
    unasked = [part for part in differences if not (_is_own(part.name, ours) or _is_own(part.name, theirs))]
    if not unasked and (stranger := _find_extra_settings(base, new)):
        unasked = [Condition(name=name, base=value, new=None) for name, value in stranger]
    if unasked:
        raise ConfigError(
            f"the engines would get different settings, although you did not ask for that: {sentence(unasked)}. If one "
            "engine is a command, name the engine that the command is like (--engine-like NAME, or `engine.like`), or "
            "set the same `engine.settings` and `engine.options` for it; in these, {dependencies} is the folder of the "
            "project's packages. --allow-conditions compares the engines anyway, and the report names the differences"
        )


def _share_settings(config: Config) -> tuple[object, ...]:
    # The completion type and its model only order answers: the engine does not get them.
    plain = replace(config.interpret, completion_type="", ranking_model=None)
    return plain, config.project.dependencies


def _is_own(name: str, config: Config) -> bool:
    engine_config = config.engine
    root, _, _ = name.partition(".")
    if engine_config.command is not None and root in {"arguments", "limits"}:
        return True
    if root == "languageIds":
        return engine_config.language_id is not None
    own = SentConfiguration(
        settings=engine_config.settings,
        options=engine_config.options or None,
        environment={key: value or "" for key, value in engine_config.environment.items()},
        arguments=engine_config.arguments,
        capabilities=engine_config.capabilities,
    )
    return root in ON_TOP and name in dict(list_settings(own))


def _find_extra_settings(*sides: tuple[Config, Engine, SentConfiguration]) -> list[tuple[str, str]]:
    """If one engine is a command like no known engine, return the settings that only the other, known engine gets."""
    for (config, engine, _), (_, known_engine, sent) in zip(sides, reversed(sides), strict=True):
        unknown = isinstance(engine, LspEngine) and config.engine.command is not None and not engine.like
        if unknown and make_overlay(config.engine) == Overlay() and isinstance(known_engine, LspEngine):
            known = known_engine.like or known_engine.name in {server.name for server in servers()}
            # Every language server gets these values, so they do not distinguish a known engine.
            plain = replace(sent, capabilities={}, limits={}, language_ids={}, auto_import="unknown")
            # The process of every engine gets these variables.
            usual = {f"environment.{variable}" for variable in ("PATH", "HOME", "TMPDIR", "LANG", "PYTHONSAFEPATH")}
            elsewhere = ("arguments", "dependencies", "autoImport")
            listed = list_settings(plain) if known else []
            return [(name, value) for name, value in listed if not name.startswith(elsewhere) and name not in usual]
    return []


ROUNDS = 3
"""With three rounds, the median is robust against one disturbed round, and reports can show how much rounds differ."""


def compare_engines(
    sides: Sequence[Side],
    run: RunOptions,
    *,
    rounds: int,
    gates: Sequence[str],
    detect: float | None = None,
    power: float = phases.POWER,
    usual: bool = False,
    allow_conditions: bool = False,
) -> Done[Outcome | None]:
    """Ask all sides in turns, and compare every pair of them. One folder gets the workspaces and `comparison`.

    With `detect`, only as many sessions are asked as are needed to find a difference of that size between two sides
    with the probability `power`. With `usual`, the size is two points, and the sessions must fit into two minutes;
    the limit is 1,000 if sessions cannot be sampled. `allow_conditions` permits different configurations. Raises the
    errors of `evaluate` and `compare`. The result is None if an engine answered nothing.
    """
    screen, jobs, resume = run.screen, run.jobs, run.resume
    check_same_sessions(sides)
    # Parse the gates now, so that a mistake is reported before anything is asked.
    judging(sides[-1].config, gates)
    if detect and len(sides) > 2:
        raise ConfigError(f"--detect needs exactly two sides, and {len(sides)} are given: leave --detect out")
    shared = sides[0].config
    if usual:
        detection = phases.plan_usual_detection(shared)
    else:
        detection = phases.plan_detection(shared, detect, power) if detect else None
    if usual and not detection:
        sides = [replace(side, config=limit_sessions(side.config)) for side in sides]
    folder = runs.choose_output(sides[0].config, run.output)
    if resume and not detection and (folder / phases.PHASES).exists():
        raise WorkspaceError(f"{folder} was begun without --sessions: repeat the command with which it was begun")
    numbered = [f"{number:02}-{slug(side.name)}" for number, side in enumerate(sides, 1)]
    names = numbered if len(sides) > 2 else ["base", "new"]
    named = combinations(zip(names, sides, strict=True), 2)
    for same in [f"{a} and {b}" for (a, base), (b, new) in named if base.config == new.config]:
        screen.warn(f"{same} are the same engine, so every difference is chance: change one version or --new-set")
    # Check all folders before the preparation, which may take minutes.
    for name in names:
        runs.check_place(folder / name, resume=resume)
    prepared = [prepare(sides[0].config, screen)]
    # All sides use the project version that the first side resolved.
    pinned = prepared[0].config.project
    for side in sides[1:]:
        own = replace(pinned, dependencies=side.config.project.dependencies)
        prepared.append(prepare(replace(side.config, project=own), screen))
    if not allow_conditions:
        # Otherwise the effect of a setting would be mistaken for a difference between the engines.
        first, *others = ((side.config, side.engine, side.sent) for side in prepared)
        for other in others:
            check_same_configuration(first, other)
    if resume:
        # The comparison is made last, and an interrupted run may have left a part of it.
        shutil.rmtree(folder / "comparison", ignore_errors=True)
    with runs.kept(folder):
        folders = [folder / name for name in names]
        workspaces = begin_sides(prepared, folders, rounds, jobs, resume=resume, screen=screen, detection=detection)
        asked = list(zip(workspaces, prepared, strict=True))
        if detection:
            phases.find_difference(asked, folder / phases.PHASES, detection, jobs, screen)
        else:
            pipeline.make_sessions(asked, jobs, screen)
    trouble = None
    for workspace, preparation in asked:
        error = pipeline.make_reports(workspace, runs.with_view(preparation.config, workspace.folder)).trouble
        if error and not trouble:
            title = f"{workspace.folder.name}, {workspace.manifest().title} ({workspace.folder})"
            trouble = type(error)(f"{title}: {error}")
    manifests = [workspace.manifest() for workspace in workspaces]
    if trouble and any(failures(manifest.statuses) == manifest.finished for manifest in manifests):
        # If an engine answered nothing, there is nothing to compare.
        return Done(folder=folder, result=None, trouble=trouble)
    comparison = compare(
        folders, gates=gates, output=folder / "comparison", history=None, each_with_each=True, screen=screen
    )
    return Done(folder=folder, result=comparison, trouble=trouble or comparison.trouble)


def begin_sides(
    sides: Sequence[Prepared],
    folders: Sequence[Path],
    rounds: int,
    jobs: int,
    *,
    resume: bool,
    screen: Screen,
    detection: Detection | None = None,
) -> list[Workspace]:
    workspaces = [runs.begin(side, folder, jobs, resume=resume) for side, folder in zip(sides, folders, strict=True)]
    for workspace in workspaces:
        # Only a comparison of two sides has the goal to find a difference.
        phases.note_goal(workspace, detection=detection if len(workspaces) == 2 else None)
    base, *others = workspaces
    known = base.manifest().revision
    if sides[0].config.engine.command and known in [new.manifest().revision for new in others]:
        # Both programs are in one checkout, which has the revision of `new`: the base's own revision is unknown.
        base.write_manifest(replace(base.manifest(), revision=""))
    # A resumed run keeps its id of the turns.
    turns = base.manifest().turns or uuid4().hex
    runs.ask_in_rounds(base, rounds, turns)
    # If any side needs the names in all files, stage 1 must not sample files.
    needy = any(side.ranker.needs_names or side.config.interpret.save_logs for side in sides)
    pipeline.make_actions(base, sides[0], jobs, screen, may_sample=not needy)
    for new in others:
        if "actions" not in new.manifest().stages:
            runs.take_actions(base, new)
            new.write_manifest(replace(new.manifest(), rounds=rounds, turns=turns))
        runs.ask_in_rounds(new, rounds, turns)
    return workspaces
