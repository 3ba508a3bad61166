"""The file `report.md` of each result, for GitHub. It is short enough for a job summary or a comment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from ci_eval.core.base import atomic
from ci_eval.core.catalogs import tasks
from ci_eval.core.contracts import Task
from ci_eval.core.filters import label
from ci_eval.core.manifest import commits_between
from ci_eval.core.model import Change, Comparison, Evaluation, FileError, FilterFigures, MetricInfo, Verdict
from ci_eval.core.model.report import Cases, Causes
from ci_eval.core.model.units import amount
from ci_eval.core.statistics.repeated import noise_text
from ci_eval.rendering import figures as figure_texts
from ci_eval.rendering.advice import busy_text, collect_warnings, configuration_rows
from ci_eval.rendering.answers import answer_markdown
from ci_eval.rendering.blocks import Block, Cell, Column, Sentence, Table, to_markdown
from ci_eval.rendering.figures import ELSEWHERE, FAILURES, HERE, OUTCOMES
from ci_eval.rendering.markdowntext import code, fold, gate_table, prose, table
from ci_eval.rendering.querytables import tables
from ci_eval.rendering.reporters import Reporter, Result
from ci_eval.rendering.results import small_blocks, trend_lines
from ci_eval.rendering.verdicts import (
    ADJUSTED,
    COLUMNS,
    changes_table,
    compared_by_length,
    elsewhere_line,
    judged_elsewhere,
    pairs_text,
    parts_table,
    populations,
    verdict_lines,
    verdict_table,
)


class Markdown:
    """Writes report.md, causes.md or cases.md. Text from outside is always formatted as code."""

    name = "markdown"
    results = get_args(Result)

    def write(self, result: Result, sources: object, folder: Path) -> Path:  # noqa: ARG002
        name = type(result).__name__.lower() if isinstance(result, Causes | Cases) else "report"
        match result:
            case Evaluation():
                text = "\n\n".join(filter(None, _list_evaluation_parts(result))) + "\n"
            case Comparison():
                text = _write_comparison(result)
            case _:
                text = f"{to_markdown(small_blocks(result))}\n"
        return atomic.write(folder / f"{name}.md", text.encode("utf-8", "backslashreplace"))


ERRORS = 20


def _list_evaluation_parts(evaluation: Evaluation) -> list[str]:
    name, figures = figure_texts.shown_filter(evaluation)
    _, whole = figure_texts.first_filter(evaluation)
    infos = figure_texts.metric_infos(evaluation, figures)
    rows = [(name, code(text, 1000)) for name, text in configuration_rows(evaluation.sent)]
    configuration = fold("Configuration sent to the engine", table("", ("Part", "Value"), rows))
    title = f"# {prose(evaluation.title)}"
    # If the engine failed everywhere, the tables would be empty, so only the reasons are shown.
    if failed := figure_texts.failed_everywhere(evaluation):
        lead = f"**{prose(failed, 1000)}**"
        gates = gate_table(evaluation.gates)
        return [title, lead, gates, _statuses(whole), _errors(evaluation.errors), configuration, _colophon(evaluation)]
    times, busy = [info for info in infos if info.is_time], busy_text(evaluation.machine)
    by_length = figure_texts.lengths_table(evaluation, figure_texts.headline(infos))
    return [
        title,
        answer_markdown(evaluation),
        _headline(evaluation, figures, infos),
        f"Figures are of: {prose(figure_texts.pooled_label(name, evaluation.filters))}.",
        *(f"⚠ {prose(warning, 1000)}" for warning in collect_warnings(evaluation)),
        " ".join(prose(population, 1000) for population in populations(evaluation)),
        prose(noise_text(evaluation.noise), 400) if evaluation.noise else "",
        f"The engine: {prose(took)}." if (took := figure_texts.footprint_text(evaluation.footprint)) else "",
        gate_table(evaluation.gates),
        figure_texts.metric_table("Metrics", figures, [info for info in infos if not info.is_time]).markdown(),
        by_length.markdown() if len(figure_texts.find_length_figures(evaluation)) > 1 else "",
        *(of.markdown() for of in tables(evaluation)),
        _evaluation_filters(evaluation, name, infos),
        _statuses(figures),
        "" if figures.planned == whole.planned else _statuses(whole, " in the whole run"),
        figure_texts.kinds_table(figures, figure_texts.headline(infos)).markdown(),
        f"⚠ {prose(busy, 400)}." if busy and times else "",
        figure_texts.metric_table(f"Times ({figure_texts.indicative(evaluation)})", figures, times).markdown(),
        _errors(evaluation.errors),
        configuration,
        _colophon(evaluation),
    ]


def _headline(evaluation: Evaluation, figures: FilterFigures, infos: Sequence[MetricInfo]) -> str:
    engine, project = evaluation.engine, evaluation.project
    what = f"{code(engine.text)} on {code(f'{project.name} {project.revision}')}"
    if client := figure_texts.client_name(evaluation):
        what += f", client {code(client)}"
    lead = f"{what}: {prose(figure_texts.describe_sessions(evaluation))}"
    if lines := figure_texts.sentences(evaluation, prose):
        return " ".join([f"{lead}.", *lines])
    share = next((info for info in figure_texts.headline(infos) if info.unit == "share"), None)
    if share is None:
        return f"{lead}."
    estimate = figures.metrics[share.name]
    figure = Cell(amount(estimate.value, share.unit), figure_texts.intervals(estimate, share.unit))
    return f"{lead}, {prose(share.name)} {figure.whole}."


def _evaluation_filters(evaluation: Evaluation, opened: str, infos: Sequence[MetricInfo]) -> str:
    shown = figure_texts.headline(infos)
    lengths = figure_texts.find_length_filters(evaluation.headline, list(evaluation.filters)).values()
    rows = (
        (
            code(label(name)),
            f"{figures.sessions:,}",
            *(amount(figures.metrics.get(info.name, figure_texts.NO_ESTIMATE).value, info.unit) for info in shown),
        )
        for name, figures in evaluation.filters.items()
        # The numbers by typed letters have their own table.
        if name != opened and name not in lengths
    )
    return table("By session filter", ("Filter", ">Sessions", *(f">{prose(info.name)}" for info in shown)), rows)


def _statuses(figures: FilterFigures, where: str = "") -> str:
    rows = (
        (f"**{name}**" if name in FAILURES else code(name), f"{count:,}", OUTCOMES.get(name, ""))
        for name, count in figure_texts.statuses(figures.statuses)
    )
    shown = table(f"How sessions ended{where}", ("Status", ">Sessions", "Meaning"), rows)
    left_out = f"\n\n{figures.undecided:,} more sessions were left out: a property that the filter needs is not known."
    return shown + left_out if figures.undecided else shown


def _errors(errors: Sequence[FileError]) -> str:
    rows = (
        (code(error.path), code(error.stage), f"{error.sessions:,}", code(error.message)) for error in errors[:ERRORS]
    )
    title = f"Trouble with {figure_texts.format_count(len(errors), 'file')}"
    shown = table(title, ("File", "Stage", ">Sessions lost", "What happened"), rows)
    more = len(errors) - ERRORS
    return f"{shown}\n\n{more:,} more are in the workspace, folder `errors`." if more > 0 else shown


def _colophon(evaluation: Evaluation) -> str:
    facts = {
        "language": evaluation.language,
        "completion type": evaluation.completion_type,
        "client": evaluation.client,
        "seed": str(evaluation.seed),
        "started": evaluation.started,
        "confined": evaluation.environment.get("Confined", ""),
        "settings left out": evaluation.environment.get("Settings left out", ""),
        "vocabulary": evaluation.environment.get("Vocabulary", ""),
    }
    return " · ".join(f"{name} {code(value)}" for name, value in facts.items() if value)


LONGEST = 65_000
"""The maximum length of a report, in characters. GitHub allows 65,536 in a comment."""

WORST = 25


def _write_comparison(comparison: Comparison) -> str:
    task = tasks.CATALOG.load(comparison.task)
    conditions = [
        (code(known.name), *("not set" if value is None else code(value) for value in (known.base, known.new)))
        for known in comparison.conditions
    ]
    others = [info for info in comparison.metrics if info.name not in comparison.declared]
    differing = [part for part in comparison.parts if part.difference.verdict in {Verdict.BETTER, Verdict.WORSE}]
    tables = [
        verdict_table(comparison, [info.name for info in others if info.is_time is are_times], title)
        for title, are_times in (("", False), ("Times", True))
    ]
    of, by_length = prose(label(comparison.headline)), compared_by_length(comparison, timed=True)
    declared: list[Block] = [verdict_table(comparison, comparison.declared, f"{HERE}: {of}")]
    if judged_elsewhere(comparison):
        declared.append(verdict_table(comparison, comparison.declared, f"{ELSEWHERE}: {of}", elsewhere=True))
    note = (
        f"{ADJUSTED}; p is below 0.05 exactly where an interval excludes 0. *Detectable* is the smallest true "
        "difference that data like these would show four times out of five: a smaller difference may exist."
    )
    commits = commits_between(comparison.base.revision, comparison.new.revision)
    reasons = [*verdict_lines(comparison, prose), elsewhere_line(comparison), f"{pairs_text(comparison)}."]
    reasons += [f"Commits: {code(commits)}"] if commits else []
    parts = [
        f"# {prose(comparison.base.title)} → {prose(comparison.new.title)}",
        answer_markdown(comparison),
        gate_table(comparison.gates),
        to_markdown([*declared, *([by_length] if by_length else []), Sentence(note)]),
        "\n".join(f"> {prose(warning, 1000)}" for warning in comparison.warnings),
        fold("How this was decided", "\n\n".join(reasons)),
        fold("What differs besides the engines", table("", ("Part", "base", "new"), conditions)),
        parts_table(comparison, differing, "Where it differs, in this project").markdown(),
        _changes("Worst regressions", comparison.regressions, task),
        _changes("Best improvements", comparison.improvements, task),
        fold("The other metrics, in this project (each by itself, not adjusted)", to_markdown(tables)),
        _filters(comparison),
    ]
    if comparison.trend:
        parts.insert(5, "\n\n".join(trend_lines(comparison.trend)))
    text = ""
    for part in filter(None, parts):
        # Leave room for the sentence below.
        if len(text) + len(part) > LONGEST - 200:
            text += "\nThe rest is in the HTML report.\n"
            break
        text += f"{part}\n\n"
    return text


def _changes(title: str, changes: Sequence[Change], task: Task) -> str:
    shown = changes_table(changes[:WORST], task).markdown()
    return fold(f"{title} ({min(len(changes), WORST)} shown, those of the headline first)", shown)


def _filters(comparison: Comparison) -> str:
    rows: list[list[str | Cell]] = []
    for name in comparison.filters:
        if name != comparison.headline:
            shown = verdict_table(comparison, comparison.declared, part=name).rows
            rows += [[Cell(label(name), safe=code), *row] for row in shown]
    columns = [Column("Filter"), *COLUMNS]
    return fold("By session filter", Table(columns, rows).markdown())


REPORTER: Reporter = Markdown()
