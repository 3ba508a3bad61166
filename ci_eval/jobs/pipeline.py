"""The steps that jobs share: they run the stages on a workspace, and write its reports."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Generic, TypeVar

import msgspec
import numpy as np
from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core import actions, interpret, logs, machine, report
from ci_eval.core.base import errors
from ci_eval.core.base.errors import CiEvalError, NothingToEvaluate, WorkspaceError
from ci_eval.core.base.shards import Shard, deal
from ci_eval.core.catalogs import languages, metrics
from ci_eval.core.compare.gates import Gate
from ci_eval.core.config import Config
from ci_eval.core.grammar.imports import count_missing, merge_readings, most_frequent, sum_counts, sum_packages
from ci_eval.core.manifest import QUERIES, Manifest, StageRecord
from ci_eval.core.model import FAILED, Evaluation, SessionScore, Status
from ci_eval.core.model.engine import CpuTimes
from ci_eval.core.report.report import describe_left_out
from ci_eval.core.scoring import ResponseCounts
from ci_eval.core.statistics import footprint
from ci_eval.core.workspace import Workspace, make_file_name
from ci_eval.jobs.comparison_rules import add_gate_filters, check_gates, load_metrics, make_gate_error
from ci_eval.jobs.preparation import Prepared
from ci_eval.plugins.adapters import environments
from ci_eval.rendering import reporters
from ci_eval.rendering.advice import describe_empty_responses
from ci_eval.rendering.figures import cpu_text, format_count

Result = TypeVar("Result")


class Done(msgspec.Struct, Generic[Result], frozen=True, kw_only=True):
    folder: Path
    result: Result
    reports: dict[str, Path] = {}
    trouble: CiEvalError | None = None


Evaluated = Done[Evaluation]


def prepare_logs(prepared: Prepared, workspace: Workspace) -> interpret.Setup:
    settings, setup = prepared.config.interpret, prepared.setup
    # Names are stored even without logs, since `rerank` may need them. A sample lacks the names of some files.
    if workspace.manifest().sampling is None:
        setup = replace(setup, names=interpret.write_names(workspace, prepared.project.root))
    if not settings.save_logs:
        return setup
    if workspace.manifest().logs is not None and _parts(workspace).exists():
        # The logs are complete, but a run was killed while it removed their parts.
        shutil.rmtree(_parts(workspace))
    logging = interpret.Logging(
        parts=_parts(workspace),
        formats=settings.log_format,
        project=prepared.project.info.name,
        completion_type=prepared.ranker.name,
        context=settings.log_context,
        # The start of the run is stored, so a resumed run logs the same time.
        began=round(datetime.fromisoformat(workspace.manifest().start).timestamp() * 1000),
    )
    return replace(setup, logging=logging)


def _parts(workspace: Workspace) -> Path:
    return workspace.folder / "logs" / "parts"


def gather_logs(workspace: Workspace, prepared: Prepared) -> None:
    manifest, settings = workspace.manifest(), prepared.config.interpret
    if manifest.logs is not None and not _parts(workspace).exists():
        return
    names = [make_file_name(source.path) for source in workspace.sources()]
    day = datetime.fromisoformat(manifest.start).strftime("%d_%m_%Y")
    run = logs.LogRun(
        project=manifest.project.name,
        language=manifest.language,
        seed=settings.seed,
        day=day,
        formats=settings.log_format,
        split_by=settings.split_by,
        percent=settings.train_test_split,
        test_percent=settings.test_split,
    )
    record = logs.gather(workspace.folder / "logs", _parts(workspace), names, run)
    # Write the record before the parts are removed: with a record, the logs count as complete.
    workspace.write_manifest(replace(manifest, logs=record))
    shutil.rmtree(_parts(workspace))


def find_trouble(workspace: Workspace, config: Config) -> CiEvalError | None:
    manifest = workspace.manifest()
    failed = sum(manifest.statuses.get(name, 0) for name in (status.value for status in FAILED))
    if manifest.finished == 0:
        if manifest.shard and manifest.planned == 0:
            # There are fewer files than shards; other shards have the sessions.
            return None
        return errors.NothingToEvaluate(
            f"none of {manifest.planned:,} planned sessions could be evaluated; see errors/ in the workspace"
        )
    allowed, share = config.interpret.allowed_failures, failed / manifest.finished
    if share > allowed:
        return errors.TooManyFailures(
            f"the engine failed on {failed:,} of {manifest.finished:,} sessions ({share:.1%}), and at most "
            f"{allowed:.1%} may fail (interpret.allowedFailures); the report lists the failed sessions first"
            + (f"\n{manifest.given_up or manifest.trouble}" if manifest.given_up or manifest.trouble else "")
        )
    allowed, share = config.actions.allowed_unparsable, manifest.unparsable
    if share > allowed:
        worst = ", ".join([*manifest.unparsable_files][:3])
        return errors.TooMuchUnread(
            f"{share:.1%} of the source could not be read, and at most {allowed:.1%} may be unreadable "
            f"(actions.allowedUnparsable): the figures cover only the rest. Most was lost in {worst}. To leave such "
            "files out, name them in actions.ignoreFileNames"
        )
    allowed, count = config.engine.allowed_unreadable, manifest.statuses.get(Status.UNREADABLE.value, 0)
    if count > allowed * manifest.finished:
        return errors.TooManyUnreadable(
            f"{count:,} of {manifest.finished:,} answers could not be read ({count / manifest.finished:.1%}), and at "
            f"most {allowed:.1%} may be unreadable (engine.allowedUnreadable). Such an answer is not code that fits "
            "its place, or does not have the requested form; the sessions' pages show what the model wrote"
        )
    return _find_emptiness(workspace, manifest, config.interpret.allowed_empty)


def _find_emptiness(workspace: Workspace, manifest: Manifest, most: float) -> errors.NothingSuggested | None:
    statuses = manifest.statuses
    empty = statuses.get("empty", 0)
    # A share of 1 turns the check off.
    if most == 1 or manifest.engine.name == EMPTY:
        return None
    if manifest.endpoint and empty + statuses.get("cut-off", 0) >= most * manifest.finished:
        counts = ResponseCounts()
        for _, sessions in workspace.sessions(SessionScore):
            for session in sessions:
                counts.add(session)
        # Results that were cut off before any text count as empty, too.
        responses, none = counts.figures(), counts.empty.total()
        if responses is None or none < most * manifest.finished:
            return None
        return errors.NothingSuggested(
            f"the model gave no answer in {none:,} of {manifest.finished:,} sessions: "
            f"{describe_empty_responses(responses)}. With interpret.allowedEmpty: 1, the run succeeds anyway"
        )
    if empty < most * manifest.finished:
        return None
    return errors.NothingSuggested(
        f"the engine suggested nothing in {empty:,} of {manifest.finished:,} sessions: "
        "it may lack the project's dependencies (--dependencies), not know where the project is, or need a "
        "typed letter (actions.strategy.prefix). With interpret.allowedEmpty: 1, the run succeeds anyway"
    )


EMPTY = "empty"


def make_actions(
    workspace: Workspace, prepared: Prepared, jobs: int, screen: Screen, *, may_sample: bool = False
) -> None:
    """Run stage 1 unless it has ended. With `may_sample`, stage 1 may generate only the sessions that will be asked.
    Raises NothingToEvaluate if no session is left."""
    manifest = workspace.manifest()
    done = manifest.stages.get("actions")
    if done is None or done.ended is None:
        # An interrupted stage 1 starts over, since the sums over its files are not stored.
        workspace.clear("actions")
        workspace.clear("errors")
        started, watch, children = machine.now(), machine.Watch(), os.times()
        config, info = prepared.config, prepared.project.info
        if prepared.records:
            strategy = config.actions.strategy
            generated = actions.generate_records(
                prepared.records, info, prepared.language, strategy, prepared.task, workspace
            )
        else:
            with screen.steps("Actions", "files") as steps:
                generated = actions.generate(
                    prepared.project.root,
                    info,
                    prepared.language,
                    config.actions,
                    workspace,
                    jobs=jobs,
                    task=prepared.task,
                    seed=config.interpret.seed,
                    cache=prepared.cache,
                    with_generated=config.project.generated == "include",
                    goal=_plan_sample(prepared) if may_sample else None,
                    advance=lambda done, of, so_far: steps.show(done, of, f"{so_far.sessions:,} sessions"),
                )
        # The child processes that ended meanwhile are the workers of this stage; no engine is among them.
        own = watch.cpu() + sum(os.times()[2:4]) - sum(children[2:4])
        cpu = CpuTimes(own=round(own, 3))
        record = StageRecord(started=started, ended=machine.now(), files=generated.files, cpu=cpu)
        manifest = replace(
            manifest,
            cpu=cpu,
            generated=generated.sampling.sessions if generated.sampling else generated.sessions,
            sampling=generated.sampling,
            unparsable=generated.unparsable / generated.size if generated.size else 0.0,
            unparsable_files=generated.worst(),
            left_out=dict(generated.left_out),
            vocabulary=generated.texts.summed(),
            pairs=dict(prepared.records.fates) if prepared.records else {},
            drawn=manifest.draws
            | ({QUERIES: str(manifest.seed)} if prepared.records and prepared.records.drawn else {}),
            histories=prepared.records.histories if prepared.records and prepared.records.histories.users else None,
            stages=manifest.stages | {"actions": record},
        )
        workspace.write_manifest(manifest)
        sessions, files = format_count(generated.sessions, "session"), format_count(generated.files, "file")
        if drawn := generated.sampling:
            screen.say(
                f"Actions: {sessions} of about {drawn.sessions:,} in {files} of {drawn.files:,}; "
                f"{drawn.read:,} files were parsed"
            )
        else:
            screen.say(f"Actions: {sessions} in {files}")
        if generated.left_out:
            screen.say(describe_left_out(generated.left_out))
    if not manifest.generated:
        raise NothingToEvaluate(_why_nothing(workspace, prepared))


def _plan_sample(prepared: Prepared) -> actions.SampleGoal | None:
    """Return which sessions to generate; None if all are asked, or if the names in all files are needed."""
    settings = prepared.config.interpret
    limit, probability = settings.sessions_limit, settings.session_probability
    if (limit is None and probability == 1) or settings.save_logs or prepared.ranker.needs_names:
        return None

    def choose(draws: Sequence[float], classes: Sequence[int]) -> list[int]:
        columns = np.array(draws, float), np.array(classes, np.int8)
        order: list[int] = interpret.SessionTable((), np.array([], np.int64), *columns).order(limit=limit).tolist()
        return order

    classes = prepared.config.sampling_classes if limit is not None else ()
    return actions.SampleGoal(limit=limit, probability=probability, classes=classes, choose=choose)


def choose_share(workspace: Workspace, prepared: Prepared) -> interpret.Share:
    """Return which share of the generated sessions is asked; the whole shard if stage 1 has drawn the sessions."""
    settings, manifest = prepared.config.interpret, workspace.manifest()
    shard = Shard.parse(manifest.shard) if manifest.shard else None
    whole = interpret.Share(shard=shard)
    drawn = manifest.sampling is not None
    return whole if drawn else interpret.Share(settings.session_probability, settings.sessions_limit, shard)


def _why_nothing(workspace: Workspace, prepared: Prepared) -> str:
    errors = workspace.errors()
    if errors:
        first = errors[0]
        what = "line" if prepared.records else "file"
        return f"no {what} of {prepared.project.info.name} could be read; the first: {first.path}: {first.message}"
    if prepared.records:
        outcomes = ", ".join(f"{count:,} {outcome_name}" for outcome_name, count in prepared.records.fates.items())
        return f"{prepared.project.info.spec} holds no records: {outcomes or 'it is empty'}"
    if workspace.action_files():
        return "no token passes `actions.strategy.filters`: loosen the filters"
    if left_out := workspace.manifest().left_out:
        return (
            f"{prepared.project.info.name} has no other {prepared.language.title} files. {describe_left_out(left_out)}"
        )
    suffixes = ", ".join(prepared.language.suffixes)
    return (
        f"{prepared.project.info.name} has no {prepared.language.title} files ({suffixes}) to evaluate: choose another "
        "--language, another folder, or other actions.evaluationRoots"
    )


def make_sessions(
    asked: Sequence[tuple[Workspace, Prepared]],
    jobs: int,
    screen: Screen,
    earlier: Path | None = None,
    again: Mapping[str, frozenset[str]] = MappingProxyType({}),
) -> None:
    """Run stage 2 on the files that are not finished, for one engine or for several in turns. `again` has, by file, the
    sessions to ask if the file's other sessions are taken from the workspace `earlier`. Raises NothingToEvaluate."""
    started, watch = machine.now(), machine.Watch()
    (first, prepared), settings = asked[0], asked[0][1].config.interpret
    divide_sample(asked, settings.sessions_limit)
    manifest = first.manifest()
    repeats = manifest.rounds * len(asked)
    share = choose_share(first, prepared)
    count = f"{'about ' if manifest.sampling else ''}{format_count(manifest.generated, 'session')}"
    times = f", each {repeats} times" if repeats > 1 else ""
    if share.limit is not None and share.limit < manifest.generated:
        screen.say(f"Asking {share.limit:,} of {count}{times} (--all asks all)")
    elif repeats > 1 and not manifest.sampling:
        screen.say(f"Asking all {count}{times}")
    with screen.steps("Sessions", "sessions") as steps:
        results = interpret.play_files(
            [
                interpret.EngineSide(workspace, prepare_logs(preparation, workspace), earlier, again)
                for workspace, preparation in asked
            ],
            share,
            jobs=jobs,
            rounds=manifest.rounds,
            # `done` counts questions, and each session is asked `repeats` times.
            advance=lambda done, so_far: steps.show(
                done // repeats, so_far.planned // repeats, f"{so_far.failed:,} failed" if so_far.failed else ""
            ),
        )
    for (workspace, prepared), progress in zip(asked, results, strict=True):
        record(workspace, prepared, progress, started, screen, watch)


def divide_sample(asked: Sequence[tuple[Workspace, Prepared]], limit: int | None) -> None:
    (first, prepared) = asked[0]
    manifest, classes = first.manifest(), prepared.config.sampling_classes
    # A resumed run keeps the classes with which it began.
    if limit is None or limit >= manifest.generated or not classes or manifest.strata:
        return
    shard = Shard.parse(manifest.shard) if manifest.shard else None
    counts = interpret.count_classes(first, classes, prepared.config.interpret.seed, shard)
    if manifest.sampling and (estimates := manifest.sampling.classes):
        drawn = interpret.count_classes(first, classes, prepared.config.interpret.seed, None)
        # A shard's share of a class is estimated by its share of the drawn sessions of the class.
        counts = {name: round(size * counts.get(name, 0) / max(drawn[name], 1)) for name, size in estimates.items()}
    if counts:
        for workspace, _ in asked:
            workspace.write_manifest(replace(workspace.manifest(), strata={"": counts}))


def record(
    workspace: Workspace,
    prepared: Prepared,
    made: interpret.Progress,
    started: str,
    screen: Screen,
    watch: machine.Watch,
) -> None:
    """Write the results of stage 2, and seal the workspace. Raises NothingToEvaluate if no session was planned."""
    manifest = workspace.manifest()
    # A shard may have no session, since there may be fewer files than shards.
    if not made.planned and manifest.shard is None:
        raise NothingToEvaluate("sessionProbability and sessionsLimit leave no session: raise them")
    cpu = made.cpu + CpuTimes(own=watch.cpu())
    record = StageRecord(started=started, ended=machine.now(), files=made.files, cpu=cpu)
    counts, absent = dict[str, tuple[int, int]](), dict[str, dict[str, int]]()
    packages, remedies = dict[str, int](), dict[str, str]()
    if (imports := prepared.language.imports) is not None and not prepared.records:
        around = prepared.setup.surroundings
        # An import counts as resolved if any of the roots has it.
        readers = [imports(root, around.environment) for root in (prepared.project.root, *(around.sources or ()))]
        files = ((source.path, source.text) for source in workspace.sources())
        counts, absent = count_missing(lambda path, text: merge_readings(read(path, text) for read in readers), files)
        packages = most_frequent(sum_packages(absent.values()))
        if packages and prepared.engine.own_process:
            remedies = environments.find_remedies(
                prepared.language.dependencies,
                around.root,
                packages,
                installed=not prepared.dependencies_left_out,
                groups=prepared.config.project.dependency_groups,
            )
    imported, share = sum_counts(counts.values())
    total = footprint.merge_footprints([manifest.footprint, made.footprint])
    workspace.write_manifest(
        replace(
            manifest,
            planned=made.planned,
            finished=made.finished,
            statuses={status.value: count for status, count in sorted(made.statuses.items())},
            stages=manifest.stages | {"interpret": record},
            given_up=made.given_up,
            # The first failure of a resumed run may be in the part before the interruption.
            trouble=manifest.trouble or made.trouble,
            machine=watch.state(),
            cpu=manifest.cpu + cpu if manifest.cpu else cpu,
            unresolved_imports=share,
            imports=counts if manifest.shard else {manifest.project.checksum: imported},
            unresolved_packages=packages,
            unresolved_in_pieces={path: absent[path] for path in _list_cut_files(workspace) if path in absent},
            remedies=remedies,
            confined=together({manifest.confined, *made.confined}),
            footprint=total,
            waited=total.waited,
            state=made.state if made.state.asked else None,
            end=machine.now(),
        )
    )
    failed = f", the engine failed in {made.failed:,}" if made.failed else ""
    for name, stage in workspace.manifest().stages.items():
        spent = f"; {cpu_text(stage.cpu)}" if stage.cpu else ""
        screen.detail(f"Stage {name} took {stage.seconds or 0:.1f} s for {format_count(stage.files, 'file')}{spent}")
    screen.say(
        f"Sessions: {made.finished:,} of {made.planned:,} evaluated in {format_count(made.files, 'file')}{failed}"
    )
    if prepared.config.interpret.save_logs:
        gather_logs(workspace, prepared)
    workspace.seal()


def _list_cut_files(workspace: Workspace) -> list[str]:
    """Return the source files that are cut over several shards; none if there are no shards."""
    if (shard := workspace.manifest().shard) is None:
        return []
    dealt = deal({head.path: head.sessions for head in workspace.heads().values()}, Shard.parse(shard).of)
    return [path for path, pieces in dealt.items() if len(pieces) > 1]


def together(confined: Iterable[str]) -> str:
    """Join the sandbox reports of several starts or machines."""
    return " / ".join(sorted(set(confined) - {""}))


def make_reports(workspace: Workspace, config: Config, gates: Sequence[Gate] = ()) -> Evaluated:
    """Write the reports of a workspace, and judge absolute gates. Raises WorkspaceError if no session is complete."""
    complete = workspace.manifest().complete
    # The report of an interrupted run has the sessions that are complete.
    if not complete and not any(workspace.sources()):
        raise WorkspaceError(
            f"{workspace.folder} has no complete sessions yet: run `ci-eval interpret {workspace.folder}`"
        )
    evaluation, reports = report.report(
        workspace,
        load_metrics(config),
        add_gate_filters(config, gates).report_filters,
        reporters.write,
        workspace.folder / "reports",
        shown=config.reports.default_metrics or ((*metrics.list_user_metrics(), *BESIDE_EFFORT) if config.user else ()),
        judge=lambda figures: tuple(check_gates(figures, gates)),
        grammars=load_grammars(workspace),
        named=metrics.select_metrics,
        title=config.reports.evaluation_title,
    )
    # An interrupted run has too few sessions to count as failed.
    trouble = find_trouble(workspace, config) if complete else None
    return Evaluated(
        folder=workspace.folder,
        result=evaluation,
        reports=reports,
        trouble=trouble or make_gate_error([("", gate) for gate in evaluation.gates]),
    )


def load_grammars(workspace: Workspace) -> Mapping[str, str]:
    """Return the grammars of the workspace's files; empty if the language is unknown."""
    language = workspace.manifest().language
    if language not in languages.names():
        return {}
    own, heads = languages.CATALOG.load(language).grammars, workspace.heads().values()
    ends = tuple(filter(None, own))
    # It takes long to load all languages, and most projects need one.
    return own if heads and all(head.path.endswith(ends) for head in heads) else languages.list_grammars(language)


BESIDE_EFFORT = ("Recall", "LatencyPercentile95")
