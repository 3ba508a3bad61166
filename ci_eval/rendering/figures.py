"""Write the figures of an evaluation in words and tables, and choose the filter and metrics that are shown first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from urllib.parse import quote

from markupsafe import Markup

from ci_eval.core.filters import GROUPS, collect_letters, label, letters, standard_name, standard_parts
from ci_eval.core.model import FAILED, Estimate, Evaluation, FilterFigures, Footprint, MetricInfo
from ci_eval.core.model.engine import CpuTimes
from ci_eval.core.model.units import amount, interval, money
from ci_eval.core.statistics import footprint
from ci_eval.rendering.blocks import Cell, Column, Table
from ci_eval.rendering.markdowntext import code, prose

LISTS = frozenset({"completion", "golf", "inside"})

HEADLINE = ("RecallAt1", "RecallAt5", "Recall", "MeanReciprocalRank", "MovesCountNormalised", "PerfectLine")
"""The metrics to show if not all fit. Times are not among them: a single run measures them roughly."""

OUTCOMES = {
    "ok": "answered, expected text among the suggestions",
    "empty": "answered with no suggestion",
    "no-match": "answered, expected text absent",
    "cut-off": "answered up to the limit of tokens; the answer is incomplete",
    "unreadable": "the answer is not code at that place, or not in the requested form",
    "context-too-long": "the prompt was longer than the model's context window",
    "timeout": "no answer in time",
    "engine-crash": "the engine died",
    "skipped": "not asked",
    "no-place": "not asked: the text has no place for the call",
    "error": "the engine raised an error or broke its protocol",
}

FAILURES = ("context-too-long", "timeout", "engine-crash", "error")


def intervals(estimate: Estimate, unit: str) -> str:
    """Return the 95 % intervals: one for this project, then one for code outside of it; "" if there are none."""
    elsewhere = interval(estimate.elsewhere, unit)
    return "; ".join(filter(None, (interval(estimate, unit), elsewhere and f"{elsewhere} in other code")))


def footprint_text(of: Footprint) -> str:
    """Return a text about start-up time, memory, waits and unreadable items; "" if nothing is known."""
    known = footprint.figures(of)
    texts = []
    if figure := known.get(footprint.START_UP):
        of_starts = f" (median of {figure.n:,} starts)" if figure.n > 1 else ""
        texts.append(f"first answer {amount(figure.value, 'ms')} after its start{of_starts}")
    if figure := known.get(footprint.MEMORY):
        whose = "ci-eval's worker process, which runs the engine" if of.of_worker else "its processes"
        texts.append(f"at most {amount(figure.value, 'MB')} in {whose}")
    if of.waited > LONG_WAIT:
        texts.append(f"{of.waited:,.0f} s spent waiting for work that it announced")
    if of.unready:
        starts = format_count(of.unready, "start")
        texts.append(f"still at work when the time of `engine.ready` ended (in {starts}), so lists may be incomplete")
    if of.dropped:
        texts.append(f"{format_count(of.dropped, 'item')} of its lists could not be read and are left out")
    if of.unresolved:
        texts.append(
            f"`completionItem/resolve` took too long for {format_count(of.unresolved, 'list')}: no edits known"
        )
    return ", ".join(texts)


LONG_WAIT = 10.0


def indicative(evaluation: Evaluation) -> str:
    workers = evaluation.environment.get("Workers", "")
    shared = f" with {workers} workers, which slow each other down" if workers not in {"", "0", "1"} else ""
    return f"indicative: one run on one machine{shared}; `ci-eval compare-engines` judges times"


def times_text(evaluation: Evaluation) -> str:
    """Return the median and the 95 % quantile of the lookup times, with a caveat; "" if there are no times."""
    _, leading = shown_filter(evaluation)
    median, high = (leading.metrics.get(f"LatencyPercentile{share}") for share in (50, 95))
    if median is None or high is None or median.value is None or high.value is None:
        return ""
    within = f"95 % of the lookups within {amount(high.value, 'ms')}"
    return f"median {amount(median.value, 'ms')}, {within} ({indicative(evaluation)})"


def cpu_text(cpu: CpuTimes) -> str:
    if not cpu.total:
        return "no CPU time was measured"
    shares = {"engine": cpu.engine, "checks": cpu.checks, "ci-eval": cpu.own}
    return f"{cpu.total:.1f} s of CPU: " + ", ".join(f"{name} {part / cpu.total:.0%}" for name, part in shares.items())


def cost_text(evaluation: Evaluation) -> str:
    """Return the price of all answers, and of the judge's answers; "" if it is unknown."""
    figures = first_filter(evaluation)[1].metrics
    parts = (("Cost", "for the answers"), ("JudgeCost", "for the judge's"))
    costs = ((figures.get(name), words) for name, words in parts)
    return ", ".join(f"{money(figure.value)} {words}" for figure, words in costs if figure and figure.value is not None)


def metric_infos(evaluation: Evaluation, figures: FilterFigures) -> list[MetricInfo]:
    return [info for info in evaluation.metrics if info.name in figures.metrics]


def headline(infos: Iterable[MetricInfo]) -> list[MetricInfo]:
    """Return the main metrics, without counts: those marked as shown, else those in HEADLINE, else the first."""
    infos = [info for info in infos if info.unit != "count"]
    shown = [info for info in infos if info.shown] or [info for info in infos if info.name in HEADLINE]
    return shown or infos[: len(HEADLINE)]


def describe_session_counts(figures: FilterFigures, where: str = "") -> str:
    """Return how many sessions were evaluated and failed, which every report must say. `where`: in how many files."""
    text = f"{figures.sessions:,} of {format_count(figures.planned, 'session')} evaluated{where}"
    failed = failures(figures.statuses)
    return f"{text}, the engine failed in {'all' if failed == figures.sessions else f'{failed:,}'}" if failed else text


def client_name(evaluation: Evaluation) -> str:
    """Return the client whose lists were measured; "" if the task has no lists."""
    return evaluation.client if evaluation.task in LISTS else ""


def format_count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def failures(counts: Mapping[str, int]) -> int:
    return sum(counts.get(status.value, 0) for status in FAILED)


def statuses(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    order = {name: place for place, name in enumerate(OUTCOMES)}
    return sorted(((name, n) for name, n in counts.items() if n), key=lambda item: order.get(item[0], len(order)))


def failed_everywhere(evaluation: Evaluation) -> str:
    """Return why there are no figures if the engine failed in all sessions, else ""."""
    _, whole = first_filter(evaluation)
    if not whole.sessions or failures(whole.statuses) < whole.sessions:
        return ""
    first = next((error for error in evaluation.errors if error.sessions), None)
    cause = first.trace.rstrip().rpartition("\n")[2].strip() if first else ""
    message = first.message.partition(": ")[2].partition("\n")[0] if first else "see the errors below"
    return (
        f"The engine failed in all {format_count(whole.sessions, 'session')}, so there are no figures: "
        f"{message if not cause or cause in message else f'{message}: {cause}'}"
    )


def first_filter(evaluation: Evaluation) -> tuple[str, FilterFigures]:
    name = "ALL" if "ALL" in evaluation.filters else next(iter(evaluation.filters), "ALL")
    return name, evaluation.filters.get(name, NO_FIGURES)


NO_FIGURES = FilterFigures(sessions=0, planned=0, undecided=0, statuses={}, metrics={}, files={}, kinds={}, ranks={})


HERE = "In this project"
ELSEWHERE = "In other code"


def shown_filter(evaluation: Evaluation) -> tuple[str, FilterFigures]:
    return evaluation.headline, evaluation.filters.get(evaluation.headline, NO_FIGURES)


def describe_sessions(evaluation: Evaluation, *, files: bool = False) -> str:
    """Return the numbers of evaluated sessions of the headline and of the run. With `files`, also count files."""
    (name, leading), (_, whole) = shown_filter(evaluation), first_filter(evaluation)
    sides = [(figures, sum(of.sessions > 0 for of in figures.files.values())) for figures in (leading, whole)]
    text, of_run = (
        describe_session_counts(figures, f" in {format_count(count, 'file')}" if files else "")
        for figures, count in sides
    )
    return text if leading.planned == whole.planned else f"{text} ({label(name)}); the whole run: {of_run}"


def pooled_label(name: str, names: Iterable[str]) -> str:
    """Return the label, with the numbers of typed letters if the filter pools several. `names`: all filters."""
    lengths, parts = collect_letters(names), standard_parts(name)
    # A filter that a user wrote may name the letters itself, such as `kind=FIELD prefix=1`.
    says_letters = parts[1] is not None if parts else any(word.startswith("prefix=") for word in name.split())
    if len(lengths) < 2 or says_letters:
        return label(name)
    return f"{label(name)} ({', '.join(map(letters, lengths))} typed, pooled)"


def find_length_filters(headline: str, names: Sequence[str]) -> dict[int, str]:
    """Return letters typed → the filter with the headline's kinds; {} if a user wrote the headline's filter."""
    parts = standard_parts(headline)
    possible = {length: standard_name(parts[0], length) for length in collect_letters(names)} if parts else {}
    return {length: name for length, name in possible.items() if name in names}


def find_length_figures(evaluation: Evaluation) -> dict[int, FilterFigures]:
    filters = evaluation.filters
    return {length: filters[name] for length, name in find_length_filters(evaluation.headline, list(filters)).items()}


def other_groups(headline: str, names: Iterable[str]) -> dict[str, str]:
    """Return other groups of kinds → their filters. These have the same number of typed letters as the headline."""
    parts = standard_parts(headline)
    if parts is None or parts[0] is None:
        return {}
    others, known = {group: standard_name(group, parts[1]) for group in GROUPS if group != parts[0]}, set(names)
    return {group: name for group, name in others.items() if name in known}


def sentences(evaluation: Evaluation, shown: Callable[[str], str] = str) -> list[str]:
    """Return sentences about the headline and other groups of kinds; [] if the task has no ranks. `shown` makes
    foreign text safe."""
    name, figures = shown_filter(evaluation)
    first, five, anywhere = (figures.metrics.get(metric) for metric in ("RecallAt1", "RecallAt5", "Recall"))
    if not (first and five and anywhere and first.value is not None):
        return []
    between, text = intervals(first, "share"), shown(label(name))
    # A filter that a user wrote begins with a condition such as `kind=FIELD`, which must not be capitalized.
    begin = text if "=" in text else text[:1].upper() + text[1:]
    lines = [
        f"{begin}: the expected text was first in {amount(first.value, 'share')} of "
        f"{figures.sessions:,} sessions{f' ({between})' if between else ''}, among the first 5 in "
        f"{amount(five.value, 'share')}, anywhere in the list in {amount(anywhere.value, 'share')}."
    ]
    for group, filter_name in other_groups(name, evaluation.filters).items():
        of_group = evaluation.filters[filter_name]
        share, offered = of_group.metrics["RecallAt1"].value, of_group.metrics["Recall"].value
        if not of_group.sessions or share is None or offered is None:
            continue
        line = f"none of {of_group.sessions:,} was offered"
        # If the engine never offers this group of kinds, its ranks say nothing.
        if offered:
            line = f"first in {amount(share, 'share')} of {of_group.sessions:,}, anywhere in {amount(offered, 'share')}"
        lines.append(f"{group.capitalize()} (counted separately): {line}.")
    return lines


NO_ESTIMATE = Estimate(value=None)


def judged_of_code(figures: FilterFigures) -> bool:
    return any(estimate.elsewhere.low is not None for estimate in figures.metrics.values())


def metric_table(
    title: str,
    figures: FilterFigures,
    infos: Sequence[MetricInfo],
    on_terminal: str = "",
    bars: Mapping[str, Markup] = MappingProxyType({}),
) -> Table:
    """Return the table of metrics with intervals. `bars` has the drawing of each metric's intervals for HTML."""
    populations = [(HERE, "here"), *([(ELSEWHERE, "elsewhere")] if judged_of_code(figures) else [])]
    columns = [
        Column("Metric", "row", safe=prose),
        Column("Value", "number strong"),
        *(Column(name, f"number quiet {classes}", "95% interval") for name, classes in populations),
        Column("", "drawn", formats="html", in_html=Markup('<span class="hidden">Drawn</span>')),
        Column("Mean of files", "number quiet by-file", "Each file weighs the same", formats="markdown html"),
        Column("n", "number quiet n", "Number of observations", formats="markdown html"),
        Column("What it means", "words", on_terminal=""),
    ]
    rows: list[list[str | Cell]] = []
    for info in infos:
        figure = figures.metrics[info.name]
        between = [interval(figure, info.unit), interval(figure.elsewhere, info.unit)][: len(populations)]
        better = f" ({info.better} is better)" if info.better in {"higher", "lower"} else ""
        meaning = Cell(
            f"{prose(info.summary)}{better}",
            on_terminal=info.summary,
            in_html=Markup('{}<span class="quiet">{}</span>').format(info.summary, better),
        )
        drawn = Cell("", in_html=bars.get(info.name, Markup()))
        by_file = amount(figures.by_file.get(info.name), info.unit)
        rows.append([info.name, amount(figure.value, info.unit), *between, drawn, by_file, f"{figure.n:,}", meaning])
    spare = ("", *(name.lower() for name, _ in reversed(populations)))
    numbers, label = 1 + len(populations), title.partition(" ")[0]
    return Table(
        columns, rows, title, on_terminal=on_terminal, numbers=numbers, spare=spare, classes="metrics", label=label
    )


def kinds_table(figures: FilterFigures, infos: Sequence[MetricInfo], selected: str | None = None) -> Table:
    columns = [
        Column("Kind", "row", safe=code),
        Column("Sessions", "number"),
        *(Column(prose(info.name), "number", in_html=info.name) for info in infos),
    ]
    # A metric of latencies has an observation for each lookup, so its n is not the number of sessions.
    counts = {
        kind: metrics["Sessions"].n if "Sessions" in metrics else max((of.n for of in metrics.values()), default=0)
        for kind, metrics in figures.kinds.items()
    }
    rows: list[list[str | Cell]] = []
    for kind, sessions in sorted(counts.items(), key=lambda counted: (-counted[1], counted[0])):
        name = Markup.escape(kind.lower().replace("_", " "))
        address = "&".join(filter(None, (selected, f"kind={quote(kind)}")))
        if selected is not None:
            name = Markup('<a href="sessions.html#{}">{}</a>').format(address, name)
        row: list[str | Cell] = [Cell(kind, in_html=name), f"{sessions:,}"]
        for info in infos:
            figure = figures.kinds[kind].get(info.name, NO_ESTIMATE)
            value, between = amount(figure.value, info.unit), intervals(figure, info.unit)
            row.append(Cell(value, in_html=Markup("{}<small>{}</small>").format(value, between)))
        rows.append(row)
    return Table(columns, rows, "By token kind", classes="kinds", label="By token kind")


def lengths_table(evaluation: Evaluation, infos: Sequence[MetricInfo]) -> Table:
    lengths = find_length_figures(evaluation)
    rows = []
    for info in infos:
        figures = [of.metrics.get(info.name, NO_ESTIMATE).value for of in lengths.values()]
        rows.append([info.name, *(amount(figure, info.unit) for figure in figures), info.summary])
    group = label(evaluation.headline).partition(",")[0]
    return Table(
        [
            Column("Letters typed", "row", safe=prose),
            *(Column(f"{length}", "number") for length in lengths),
            Column("", formats="terminal"),
        ],
        rows,
        f"By letters typed, {prose(group)}",
        on_terminal=f"{group}, by letters typed",
        numbers=len(lengths),
        spare=("",),
        classes="kinds",
        label="#lengths",
    )
