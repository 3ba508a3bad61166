"""The job `evaluate`: project and engine → workspace with reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ci_eval.ci import Screen
from ci_eval.core.base.errors import CiEvalError
from ci_eval.core.base.shards import Shard
from ci_eval.core.config import Config
from ci_eval.core.model import Evaluation
from ci_eval.jobs import outcome, pipeline, runs
from ci_eval.jobs.comparison_rules import absolute_gates, make_gate_error
from ci_eval.jobs.nights.reuse import check_reusable, note_closures, reuse_sessions
from ci_eval.jobs.preparation import prepare
from ci_eval.jobs.sampling import phases


@dataclass(frozen=True, kw_only=True)
class Evaluated:
    folder: Path
    evaluation: Evaluation
    reports: dict[str, Path]
    trouble: CiEvalError | None
    """The reason why the job fails although its reports are written; None if it does not."""


def evaluate(
    config: Config,
    *,
    output: Path | None,
    jobs: int,
    resume: bool,
    screen: Screen,
    shard: Shard | None = None,
    rounds: int = 1,
    reuse: Path | None = None,
    gates: Sequence[str] = (),
    precision: float | None = None,
) -> Evaluated:
    """Run all stages.

    `shard`: evaluate only the files that belong to it. `rounds`: how often each session is asked. `reuse`: the
    workspace of an earlier run; its completion results are taken over if they would be the same. `gates`: rules about
    figures. `precision`: ask only as many sessions as it takes for the interval of a metric to reach no further to each
    side. Raises ConfigError, WorkspaceError,
    PreparationError or NothingToEvaluate.
    """
    folder = runs.choose_output(config, output)
    runs.check_place(folder, resume=resume)
    viewed = runs.with_view(config, folder) if resume else config
    rules = absolute_gates(viewed, gates)
    if reuse:
        check_reusable(config, rounds)
    metric = phases.check_precision(config, shard=shard, rounds=rounds, reuse=reuse is not None) if precision else None
    # Everything above fails at once, whereas preparing may take minutes.
    prepared = prepare(config, screen)
    with runs.kept(folder):
        workspace = (runs.resume if resume else runs.begin)(prepared, folder, jobs, shard)
        runs.ask_in_rounds(workspace, rounds)
        phases.note_precision(workspace, precision)
        pipeline.make_actions(workspace, prepared, jobs, screen)
        note_closures(workspace, prepared)
        if precision and metric:
            phases.reach_precision(workspace, prepared, precision, metric, jobs, screen)
        elif reuse:
            reuse_sessions(reuse, workspace, prepared, jobs, screen)
        else:
            pipeline.make_sessions([(workspace, prepared)], jobs, screen)
        evaluation, reports = pipeline.make_reports(workspace, viewed, rules)
    trouble = outcome.trouble(workspace, viewed) or make_gate_error([("", gate) for gate in evaluation.gates])
    return Evaluated(folder=folder, evaluation=evaluation, reports=reports, trouble=trouble)
