"""The report of an evaluation as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.core.filters import label
from ci_eval.core.model import Estimate, Evaluation, FileError, FilterFigures, MetricInfo
from ci_eval.core.model.units import amount
from ci_eval.core.rendering.advice import busy_text, collect_warnings, told_rows
from ci_eval.core.rendering.blocks import added_blocks, to_markdown
from ci_eval.core.rendering.figures import (
    FAILURES,
    INDICATIVE,
    OUTCOMES,
    client_name,
    describe_sessions,
    failed_everywhere,
    find_length_figures,
    first_filter,
    footprint_text,
    headline,
    intervals,
    lengths_table,
    metric_infos,
    metric_table,
    pooled_label,
    sentences,
    sessions_by_kind,
    shown_filter,
    statuses,
)
from ci_eval.core.rendering.markdowntext import code, gate_table, prose, table
from ci_eval.core.rendering.querytables import Table, tables
from ci_eval.core.rendering.verdicts import populations
from ci_eval.core.statistics.repeated.noise import noise_text

WORST = 10
ERRORS = 20
NOTHING = Estimate(value=None)


def write_evaluation(evaluation: Evaluation) -> str:
    """Return the report of an evaluation."""
    return "\n\n".join(filter(None, _parts(evaluation))) + "\n"


def _parts(evaluation: Evaluation) -> list[str]:
    name, figures = shown_filter(evaluation)
    _, whole = first_filter(evaluation)
    infos = metric_infos(evaluation, figures)
    title, configuration = f"# {prose(evaluation.title)}", _configuration(evaluation)
    # Without any figure, tables would be empty: only the reasons are left.
    if failed := failed_everywhere(evaluation):
        lead = f"**{prose(failed, 1000)}**"
        gates = gate_table(evaluation.gates)
        return [title, lead, gates, _statuses(whole), _errors(evaluation.errors), configuration, _colophon(evaluation)]
    times, busy = [info for info in infos if info.is_time], busy_text(evaluation.machine)
    by_length = lengths_table(evaluation, headline(infos))
    return [
        title,
        _headline(evaluation, figures, infos),
        f"Figures are of: {prose(pooled_label(name, evaluation.filters))}.",
        *(f"⚠ {prose(warning, 1000)}" for warning in collect_warnings(evaluation)),
        " ".join(prose(population, 1000) for population in populations(evaluation)),
        prose(noise_text(evaluation.noise), 400) if evaluation.noise else "",
        f"The engine: {prose(took)}." if (took := footprint_text(evaluation.footprint)) else "",
        gate_table(evaluation.gates),
        metric_table("Metrics", figures, [info for info in infos if not info.is_time]).markdown(),
        by_length.markdown() if len(find_length_figures(evaluation)) > 1 else "",
        *map(_queries, tables(evaluation)),
        _filters(evaluation, name, infos),
        _statuses(figures),
        "" if figures.planned == whole.planned else _statuses(whole, " in the whole run"),
        _kinds(figures, headline(infos)),
        _worst(figures, headline(infos)),
        f"⚠ {prose(busy, 400)}." if busy and times else "",
        metric_table(f"Times ({INDICATIVE})", figures, times).markdown(),
        _errors(evaluation.errors),
        to_markdown(added_blocks(evaluation)),
        configuration,
        _colophon(evaluation),
    ]


def _configuration(evaluation: Evaluation) -> str:
    """Return a fold with the configuration sent to the engine; "" if it is not recorded."""
    rows = [(name, code(text, 1000)) for name, text in told_rows(evaluation.sent)]
    if not rows:
        return ""
    shown = table("", ("Part", "Value"), rows)
    return f"<details><summary>What the engine was told</summary>\n\n{shown}\n\n</details>"


def _headline(evaluation: Evaluation, figures: FilterFigures, infos: Sequence[MetricInfo]) -> str:
    engine, project = evaluation.engine, evaluation.project
    what = f"{code(engine.text)} on {code(f'{project.name} {project.revision}')}"
    if client := client_name(evaluation):
        what += f", client {code(client)}"
    lead = f"{what}: **{prose(describe_sessions(evaluation))}**"
    if lines := sentences(evaluation, prose):
        first, *others = lines
        return " ".join([f"{lead}. **{first}**", *others])
    share = next((info for info in headline(infos) if info.unit == "share"), None)
    if share is None:
        return f"{lead}."
    return f"{lead}, {prose(share.name)} **{_format_estimate(figures.metrics[share.name], share)}**."


def _format_estimate(estimate: Estimate, info: MetricInfo) -> str:
    value, between = amount(estimate.value, info.unit), intervals(estimate, info.unit)
    return f"{value} ({between})" if between else value


def _queries(of: Table) -> str:
    first, *others = of.columns
    # "|" would end a cell, so such texts are code.
    rows = ((code(row[0]), *(code(cell) if "|" in cell else prose(cell) for cell in row[1:])) for row in of.rows)
    shown = table(of.title, (prose(first), *(f">{code(name)}" for name in others)), rows)
    return f"{shown}\n\n{prose(of.note)}" if shown and of.note else shown


def _filters(evaluation: Evaluation, opened: str, infos: Sequence[MetricInfo]) -> str:
    shown = headline(infos)
    lengths = [*find_length_figures(evaluation).values()]
    rows = (
        (code(label(name)), f"{figures.sessions:,}", *(_cell(figures.metrics, info) for info in shown))
        for name, figures in evaluation.filters.items()
        # The figures by letters typed have a table of their own.
        if name != opened and figures not in lengths
    )
    return table("By session filter", ("Filter", ">Sessions", *(f">{prose(info.name)}" for info in shown)), rows)


def _statuses(figures: FilterFigures, where: str = "") -> str:
    rows = (
        (f"**{name}**" if name in FAILURES else code(name), f"{count:,}", OUTCOMES.get(name, ""))
        for name, count in statuses(figures.statuses)
    )
    shown = table(f"How sessions ended{where}", ("Status", ">Sessions", "Meaning"), rows)
    left_out = f"\n\n{figures.undecided:,} more were left out: a property the filter asks for is not known."
    return shown + left_out if figures.undecided else shown


def _kinds(figures: FilterFigures, shown: Sequence[MetricInfo]) -> str:
    rows = (
        (code(kind), f"{sessions:,}", *(_cell(figures.kinds[kind], info) for info in shown))
        for kind, sessions in sessions_by_kind(figures.kinds).items()
    )
    return table("By token kind", ("Kind", ">Sessions", *(f">{prose(info.name)}" for info in shown)), rows)


def _cell(metrics: dict[str, Estimate], info: MetricInfo) -> str:
    return amount(metrics.get(info.name, NOTHING).value, info.unit)


def _worst(figures: FilterFigures, shown: Sequence[MetricInfo]) -> str:
    """Return a table of the files in which the first share that should be high is lowest; of equal ones, those with
    more sessions."""
    by = next((info for info in shown if info.unit == "share" and info.better == "higher"), None)
    if by is None:
        return ""
    known = {
        path: value
        for path, file_figures in figures.files.items()
        if (value := file_figures.metrics.get(by.name)) is not None
    }
    worst = sorted(known, key=lambda path: (known[path], -figures.files[path].sessions, path))[:WORST]
    rows = (
        (
            code(path),
            f"{figures.files[path].sessions:,}",
            *(amount(figures.files[path].metrics.get(info.name), info.unit) for info in shown),
        )
        for path in worst
    )
    title = f"Lowest {prose(by.name)}, {len(worst)} of {len(known):,} files"
    return table(title, ("File", ">Sessions", *(f">{prose(info.name)}" for info in shown)), rows)


def _errors(errors: Sequence[FileError]) -> str:
    rows = (
        (code(error.path), code(error.stage), f"{error.sessions:,}", code(error.message)) for error in errors[:ERRORS]
    )
    shown = table(
        f"Trouble with {len(errors):,} {'file' if len(errors) == 1 else 'files'}",
        ("File", "Stage", ">Sessions lost", "What happened"),
        rows,
    )
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
