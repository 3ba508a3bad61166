"""The output of jobs at a terminal."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core.filters import label
from ci_eval.core.model import Evaluation, GateResult, LogsRecord, Overview, Suite, Sweep
from ci_eval.core.model.report import Cases, Causes
from ci_eval.core.model.units import COSTS, TRENDS
from ci_eval.core.statistics.footprint import INFOS
from ci_eval.core.statistics.repeated import noise_text
from ci_eval.jobs.compare import Compared
from ci_eval.jobs.pipeline import Evaluated
from ci_eval.plugins.learning.rankers import RankerModel
from ci_eval.rendering import figures as figure_texts
from ci_eval.rendering import verdicts
from ci_eval.rendering.advice import busy_text, collect_warnings
from ci_eval.rendering.answers import Answered, answer
from ci_eval.rendering.blocks import to_terminal
from ci_eval.rendering.figures import headline as headline_metrics
from ci_eval.rendering.querytables import tables
from ci_eval.rendering.results import Trends, small_blocks


def evaluation(done: Evaluated, screen: Screen) -> None:
    """Print an evaluation. The last line is the workspace's path."""
    result = done.result
    whole = result.filters["ALL"]
    client = figure_texts.client_name(result)
    screen.result("")
    screen.result(
        f"{result.engine.text} ({result.completion_type}{f', client {client}' if client else ''}) on "
        f"{result.project.name} {result.project.revision}: "
        f"{figure_texts.describe_sessions(result, files=True)}"
    )
    if failed := figure_texts.failed_everywhere(result):
        screen.result(failed)
    elif not whole.sessions:
        screen.result("The engine answered nothing, so there are no figures.")
    else:
        _all_figures(result, screen)
    _trouble(result, screen)
    # `_print_answer` prints the broken gates.
    _gates([gate for gate in result.gates if gate.passed], screen)
    _print_reports(done.reports, screen)
    # The printed commands need the whole path; reports have the folder's name only, since they are read elsewhere.
    _print_answer(replace(result, workspace=shlex.quote(str(done.folder))), screen)
    screen.line(str(done.folder))


def _print_reports(reports: Mapping[str, Path], screen: Screen) -> None:
    for name, path in reports.items():
        screen.line(f"{name:9} {path}")


def _print_answer(result: Answered, screen: Screen) -> None:
    lines = answer(result)
    for line in ["", *lines] if lines else []:
        screen.result(line)


def _all_figures(evaluation: Evaluation, screen: Screen) -> None:
    screen.result("")
    if screen.verbose:
        for line in (*figure_texts.sentences(evaluation), *verdicts.populations(evaluation), ""):
            screen.result(line)
    # Print the most important figures; with -v, print all of them, quality before times.
    infos = headline_metrics(evaluation.metrics)
    if screen.verbose:
        infos = sorted(evaluation.metrics, key=lambda info: info.is_time)
    _, leading = figure_texts.shown_filter(evaluation)
    if lengths := figure_texts.find_length_figures(evaluation):
        # Figures of the whole run are not divided by length. Only reports name metrics without a value.
        values = {info.name: [of.metrics.get(info.name) for of in lengths.values()] for info in infos}
        has_values = {name: [of.value is not None for of in known if of] for name, known in values.items()}
        shown = [info for info in infos if len(has_values[info.name]) == len(lengths) and any(has_values[info.name])]
        figure_texts.lengths_table(evaluation, shown).terminal(screen)
    else:
        whole = replace(leading, metrics=evaluation.filters["ALL"].metrics | leading.metrics)
        shown = [info for info in infos if whole.metrics[info.name].value is not None]
        figure_texts.metric_table("", whole, shown, label(evaluation.headline)).terminal(screen)
    if len(infos) < len(evaluation.metrics):
        screen.say(f"All {len(evaluation.metrics)} figures are in the report; -v prints them, too")
    for table in tables(evaluation):
        screen.result("")
        table.terminal(screen)


def comparison(done: Compared, screen: Screen, *, short: bool = False) -> None:
    """Print a comparison. If `short`, it is one of several, and only the answer is printed."""
    result, folders = done.comparison, (str(done.sides[0]), str(done.sides[1]))
    base, new = map(shlex.quote, folders)
    there = replace(result, base=replace(result.base, workspace=base), new=replace(result.new, workspace=new))
    if short and not screen.verbose:
        _print_answer(there, screen)
        return
    screen.result("")
    screen.result(f"{result.base.title} → {result.new.title}")
    if screen.verbose:
        lines = [*verdicts.verdict_lines(result, folders=folders), verdicts.elsewhere_line(result)]
        for line in (*lines, f"{verdicts.pairs_text(result)}.", ""):
            screen.result(line)
    are_times = {info.name: info.is_time for info in result.metrics}
    timed = [name for name in result.declared if are_times[name]]
    declared = [name for name in result.declared if name not in timed]
    tables = [verdicts.verdict_table(result, declared, f"{figure_texts.HERE}: {label(result.headline)}")]
    if verdicts.judged_elsewhere(result):
        title = f"{figure_texts.ELSEWHERE}: {label(result.headline)}"
        tables.append(verdicts.verdict_table(result, declared, title, elsewhere=True))
    if by_length := verdicts.compared_by_length(result):
        tables.append(by_length)
    times = [name for name in (*timed, *TRENDS) if name in result.filters[result.headline]]
    times += [name for name in INFOS if name in result.filters["ALL"]]
    # Declared costs are in the table of declared metrics already.
    times += [name for name in COSTS if name in result.filters[result.headline] and name not in declared]
    title = "Time, memory and cost" if set(times) & set(COSTS) else "Time and memory"
    tables.append(verdicts.verdict_table(result, dict.fromkeys(times), title))
    for table in tables:
        if table.rows:
            table.terminal(screen)
            screen.result("")
    for warning in result.warnings:
        screen.warn(warning)
    # `_print_answer` prints the broken gates.
    _gates([gate for gate in result.gates if gate.passed], screen)
    if result.trend:
        Trends((result.trend,), ()).terminal(screen)
    _print_reports(done.reports, screen)
    _print_answer(there, screen)


def gates_of(comparisons: Sequence[Compared], screen: Screen) -> None:
    for compared in comparisons:
        if compared.comparison.gates:
            screen.result(compared.comparison.new.title)
            _gates(compared.comparison.gates, screen)


def _gates(gates: Sequence[GateResult], screen: Screen) -> None:
    for gate in gates:
        word = "BROKEN" if gate.word == "broken" else gate.word
        screen.result(f"gate {word}  {gate.rule}: {gate.reason}")
        if gate.word == "undecided" and gate.passed:
            screen.warn(f"the gate {gate.rule!r} is undecided, and passes; with --undecided break it fails")


def overview(summary: Overview, reports: Mapping[str, Path], screen: Screen) -> None:
    to_terminal(small_blocks(summary), screen)
    _print_reports(reports, screen)
    _print_answer(summary, screen)


def _trouble(evaluation: Evaluation, screen: Screen) -> None:
    (_, leading), whole = figure_texts.shown_filter(evaluation), evaluation.filters["ALL"]
    for name, figures in (("sessions", leading), *([("whole run", whole)] if leading.planned < whole.planned else [])):
        screen.result(
            f"{name:9} " + ", ".join(f"{count:,} {status}" for status, count in figure_texts.statuses(figures.statuses))
        )
    if evaluation.noise:
        screen.result(f"rounds    {noise_text(evaluation.noise)}")
    if times := figure_texts.times_text(evaluation):
        screen.result(f"times     {times}")
        if busy := busy_text(evaluation.machine):
            screen.warn(busy)
    if cost := figure_texts.cost_text(evaluation):
        screen.result(f"cost      {cost}")
    if engine := figure_texts.footprint_text(evaluation.footprint):
        screen.result(f"engine    {engine}")
    for warning in collect_warnings(evaluation):
        screen.warn(warning)
    for name, value in evaluation.environment.items():
        screen.detail(f"{name}: {value}")
    for error in evaluation.errors:
        screen.detail(f"{error.path}: {error.trace}".rstrip())
    for error in evaluation.errors[:5]:
        first = error.message.splitlines()[0] if error.message else error.stage
        # The last line of a stack trace, or of the engine's output, usually names the cause.
        last = error.trace.rstrip().rpartition("\n")[2].strip()
        screen.warn(f"{error.path}: {first if last in first else f'{first}: {last}'}")
    if len(evaluation.errors) > 5:
        screen.warn(f"and {len(evaluation.errors) - 5} more files with errors, listed in the report")


def small(
    result: Sweep | Suite | Causes | Cases, folder: Path | None, reports: Mapping[str, Path], screen: Screen
) -> None:
    """Print a result and the paths of its reports. The last line is the path of the folder, if there is one."""
    to_terminal(small_blocks(result), screen)
    _print_reports(reports, screen)
    if isinstance(result, Suite | Sweep):
        _print_answer(result, screen)
    if folder:
        screen.line(str(folder))


def logs(record: LogsRecord | None, screen: Screen) -> None:
    if record is None:
        return
    sides = record.sides.items()
    screen.result("")
    columns = ["logs", "files", "sessions", "with a selection", "queries", "rows", "expected"]
    rows = []
    for side, of in sides:
        numbers = (of.files, of.sessions, of.selected, of.queries, of.rows)
        rows.append([side, *(f"{number:,}" for number in numbers), f"{of.expected / of.rows:.2%}" if of.rows else ""])
    screen.table(columns, rows, numbers=6)
    screen.result("")
    total, of_expected = Counter[str](), Counter[str]()
    for _, counts in sides:
        for kind, (count, expected) in counts.kinds.items():
            total[kind] += count
            of_expected[kind] += expected
    # Logs without rows would divide by zero.
    whole = max(total.total(), 1)
    kinds = [
        (kind, f"{count:,}", f"{count / whole:.1%}", f"{of_expected[kind]:,}") for kind, count in total.most_common()
    ]
    screen.table(["candidate", "rows", "share", "expected"], kinds, numbers=3)
    screen.result("")
    for side, counts in sides:
        if counts.queries and not counts.rows:
            screen.warn(f"the engine answered nothing in the {counts.sessions:,} sessions for {side}")
        elif not counts.rows:
            screen.warn(
                f"nothing was logged for {side}: there are too few {record.split_by}s for a split of {record.percent} %"
            )


def model(trained: RankerModel, screen: Screen) -> None:
    for side, before, after in (
        ("validation", trained.before, trained.after),
        *([("test", trained.tested.before, trained.tested.after)] if trained.tested else []),
    ):
        screen.result("")
        rows = [
            (name, f"{quality.top1:.1%}", f"{quality.top5:.1%}", f"{quality.mrr:.3f}")
            for name, quality in (("as shown", before), ("by the model", after))
        ]
        screen.table([side, "Top-1", "Top-5", "MRR"], rows, numbers=3)
    screen.result("")
    if trained.kinds:
        kinds = [
            (kind, f"{of.after.queries:,}", f"{of.before.top1:.1%}", f"{of.after.top1:.1%}")
            for kind, of in trained.kinds.items()
        ]
        screen.table(["expected suggestion", "lookups", "Top-1 as shown", "by the model"], kinds, numbers=3)
        screen.result("")
    gains = [(name, f"{share:.1%}") for name, share in list(trained.importance.items())[:12]]
    screen.table(["feature", "share of the gain"], gains, numbers=1)
    screen.result("")
    screen.result(
        f"{trained.trees} trees from {trained.queries:,} queries of {len(trained.trained_on)} projects; "
        f"validated on {trained.after.queries:,} queries"
    )
