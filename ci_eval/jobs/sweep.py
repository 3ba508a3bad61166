"""The job `sweep`: it runs an evaluation for each combination of values, and writes a table of them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core.base import atomic
from ci_eval.core.base.errors import ConfigError, NothingToEvaluate
from ci_eval.core.config import Config, parse_yaml
from ci_eval.core.model import Sweep, SweptRun
from ci_eval.core.statistics.paired import bias_text, winners_bias
from ci_eval.jobs import compare as compare_job
from ci_eval.jobs import evaluate as evaluate_job
from ci_eval.jobs.pipeline import Done, Evaluated
from ci_eval.jobs.preparation import load_engine, load_task
from ci_eval.jobs.runs import RunOptions, choose_output, kept
from ci_eval.jobs.suites import announce_rows, name_row
from ci_eval.rendering import reporters
from ci_eval.rendering.figures import shown_filter

MOST = 200
COMPARISONS = "comparisons"


Choice = Mapping[str, str]
"""A value for each varied key, spelled as in --set."""


def expand_axes(varied: Sequence[str]) -> list[Choice]:
    """Return all combinations of values; the last key changes fastest. Raises ConfigError."""
    axes: dict[str, list[str]] = {}
    for axis in varied:
        key, equals, text = axis.partition("=")
        values = parse_yaml(f"[{text}]", f"--vary {axis}") if equals else None
        if not key.strip() or not isinstance(values, list) or not values:
            raise ConfigError(f"--vary {axis}: expected key=VALUE,VALUE…, for example engine.options.order=2,3,4")
        spelled = [value if isinstance(value, str) else msgspec.json.encode(value).decode() for value in values]
        if len(set(spelled)) < len(spelled):
            raise ConfigError(f"--vary {axis}: a value is given twice")
        axes[key.strip()] = spelled
    if len(axes) < len(varied):
        raise ConfigError("--vary names a key twice: give all of its values at once")
    choices: list[Choice] = [dict(zip(axes, chosen, strict=True)) for chosen in product(*axes.values())]
    if len(choices) > MOST:
        raise ConfigError(f"--vary makes {len(choices):,} runs, and at most {MOST} are evaluated: vary fewer values")
    return choices


def spell(choice: Choice) -> str:
    return ", ".join(f"{key.rpartition('.')[2]} {value}" for key, value in choice.items())


def sweep(configured: Callable[[Choice], Config], varied: Sequence[str], run: RunOptions) -> Done[Sweep]:
    """Evaluate each choice in a separate folder, and compare it with the first choice. Raises as `evaluate` does."""
    chosen = expand_axes(varied)
    configs = []
    for choice in chosen:
        config = configured(choice)
        title = config.reports.evaluation_title
        named = f"{title}: {spell(choice)}" if title else spell(choice)
        configs.append(replace(config, reports=replace(config.reports, evaluation_title=named)))
    # Check all configurations now, rather than fail after hours of runs.
    for config in configs:
        load_task(config)
        load_engine(config)
    folder = choose_output(configs[0], run.output)
    if not run.resume:
        atomic.empty_folder(folder)
    # A resumed sweep compares all runs again.
    shutil.rmtree(folder / COMPARISONS, ignore_errors=True)
    by_folder = {}
    rows = {name_row(number, spell(choice), "run"): spell(choice) for number, choice in enumerate(chosen, 1)}
    for (name, _), config in zip(announce_rows("Run", rows, run.screen), configs, strict=True):
        # After Ctrl-C, the message must name the folder of the sweep for --resume, not that of a single run.
        with kept(folder):
            by_folder[name] = evaluate_job.evaluate(config, replace(run, output=folder / name))
    table = _build_table(chosen, by_folder, configs[0], folder, run.screen)
    if table.remark:
        run.screen.warn(table.remark)
    trouble = next((evaluation.trouble for evaluation in by_folder.values() if evaluation.trouble), None)
    return Done(folder=folder, result=table, reports=reporters.write(table, None, folder), trouble=trouble)


def _build_table(
    chosen: Sequence[Choice], done: Mapping[str, Evaluated], config: Config, folder: Path, screen: Screen
) -> Sweep:
    first_folder, first_run = next(iter(done.items()))
    first = first_run.result
    infos = {info.name: info for info in first.metrics}
    declared = [name for name in config.declared if name in infos] or list(infos)[1:2]
    runs = []
    for number, (choice, (name, evaluation)) in enumerate(zip(chosen, done.items(), strict=True)):
        _, whole = shown_filter(evaluation.result)
        run = SweptRun(
            values=tuple(choice.values()),
            workspace=name,
            sessions=whole.sessions,
            figures={metric: whole.metrics[metric] for metric in declared if metric in whole.metrics},
        )
        if number:
            place = folder / COMPARISONS / name
            try:
                outcome = compare_job.compare(
                    [folder / first_folder, folder / name], gates=(), output=place, history=None, screen=screen
                )
            except (ConfigError, NothingToEvaluate) as error:
                run = replace(run, why=str(error))
            else:
                comparison = outcome.comparisons[0].comparison
                known = comparison.filters[comparison.headline]
                differences = {metric: known[metric] for metric in declared if metric in known}
                run = replace(run, differences=differences, comparison=place.relative_to(folder).as_posix())
        runs.append(run)
    leading = infos[declared[0]]
    bias = winners_bias((run.differences.get(leading.name) for run in runs), len(runs))
    if remark := bias_text(bias, len(runs), leading.unit, what=("run", "runs")):
        remark = f"{leading.name}: {remark}"
    return Sweep(
        remark=remark,
        title=config.reports.evaluation_title or f"{first.engine.name} on {first.project.name}",
        project=first.project,
        keys=tuple(chosen[0]),
        runs=tuple(runs),
        metrics=tuple(infos[name] for name in declared),
    )
