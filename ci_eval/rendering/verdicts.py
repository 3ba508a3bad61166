"""Write the verdicts and differences of comparisons in words and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from urllib.parse import quote

from markupsafe import Markup

from ci_eval.core.contracts import Task
from ci_eval.core.filters import label
from ci_eval.core.model import (
    Change,
    Comparison,
    Difference,
    Elsewhere,
    Evaluation,
    Failures,
    Subset,
    Trend,
    TrendPoint,
    Verdict,
)
from ci_eval.core.model.sessions import NOTABLE
from ci_eval.core.model.units import TRENDS, amount, change, interval_text
from ci_eval.rendering import figures as figure_texts
from ci_eval.rendering.advice import percent
from ci_eval.rendering.blocks import Cell, Column, Table, breakable
from ci_eval.rendering.figures import find_length_filters
from ci_eval.rendering.markdowntext import code, prose

SIGNS = {
    Verdict.BETTER: "▲",
    Verdict.WORSE: "▼",
    Verdict.EQUIVALENT: "=",
    Verdict.NOT_SHOWN: "?",
    Verdict.NOT_COMPARABLE: "-",
}
WORDS = {verdict: verdict.value.replace("-", " ") for verdict in Verdict}


UNMARKED = {"▲": "△", "▼": "▽"}
"""The signs of verdicts that hold alone, but not after the adjustment for all verdicts on the page."""


def sign(verdict: Verdict, *, marked: bool = True) -> str:
    return SIGNS[verdict] if marked else UNMARKED.get(SIGNS[verdict], SIGNS[verdict])


def said(verdict: Verdict, *, marked: bool = True) -> str:
    return f"{sign(verdict, marked=marked)} {WORDS[verdict]}"


def mark_verdict(verdict: Verdict, *, marked: bool = True) -> Markup:
    shown = Markup('<span class="verdict {}{}"><span aria-hidden="true">{}</span> {}</span>')
    grey = "" if marked or SIGNS[verdict] not in UNMARKED else " unmarked"
    return shown.format(verdict.value, grey, sign(verdict, marked=marked), WORDS[verdict])


def outcome_text(task: Task, rank: int | None, score: float, status: str) -> str:
    if status not in {"ok", "no-match", "empty", "cut-off"}:
        return status
    if task.play:
        return f"{score:.0%}"
    return f"{rank:,}" if rank else "absent"


def populations(evaluation: Evaluation) -> tuple[str, str]:
    _, figures = figure_texts.first_filter(evaluation)
    _, leading = figure_texts.shown_filter(evaluation)
    whole, repeats = f"all {figures.sessions:,} sessions were asked", evaluation.repeats
    drawn = f"intervals (95 %) include the results of other seeds ({', '.join(evaluation.drawn)})"
    here = f"{whole}: {drawn if evaluation.drawn else 'its figures are exact'}"
    if repeats and repeats.differed:
        here = f"{whole}; intervals (95 %) cover how much the answers vary"
    elif not evaluation.is_function and not evaluation.noise:
        here = f"{whole} once; intervals (95 %) allow for other answers of the engine"
    if evaluation.unparsable > NOTABLE:
        here = (
            f"all {figures.sessions:,} sessions of the readable source were asked, but "
            f"{percent(evaluation.unparsable)} of the source could not be read; intervals (95 %) say where the "
            "figures of the whole source would be if the rest is similar"
        )
    if figures.sessions < evaluation.population:
        about = "about " if evaluation.population_estimated else ""
        asked = f"{figures.sessions:,} of its {about}{evaluation.population:,} sessions were asked"
        here = f"{asked}; intervals (95 %) say where the figures of all sessions lie"
    if repeats:
        differed = f", {repeats.differed:,} ({repeats.share:.1%})" if repeats.differed else ", all"
        alike = "differently" if repeats.differed else "alike"
        asked = figure_texts.format_count(repeats.asked, "session")
        here += f". Of {asked} asked more than once{differed} were answered {alike}"
    elsewhere = f"intervals (95 %) say where the figures of {evaluation.clusters} like these lie"
    if not figure_texts.judged_of_code(leading):
        elsewhere = f"no intervals, since no two {evaluation.clusters} have different figures"
    return f"{figure_texts.HERE}: {here}.", f"{figure_texts.ELSEWHERE}: {elsewhere}."


def p_text(difference: Difference | Elsewhere) -> str:
    if difference.p is None:
        return ""
    return "p < 0.001" if difference.p < 0.001 else f"p = {difference.p:.3f}"


def explain_verdict(difference: Difference | Elsewhere, unit: str) -> str:
    interval = "" if difference.low is None or difference.low == difference.high else interval_text(difference, unit)
    return "; ".join(filter(None, (interval, p_text(difference), difference.why)))


def verdict_lines(
    comparison: Comparison, shown: Callable[[str], str] = str, folders: tuple[str, str] | None = None
) -> list[str]:
    """Return what the answer and the tables do not say: detection, other kinds of tokens, times, failures. `shown`
    makes foreign text safe. `folders` are the paths of the two workspaces; if None, their names are shown."""
    base, new = _names(comparison, shown)
    name = comparison.declared[0]
    unit, groups = _unit(comparison, name), dict[str, str]()
    for group, part in figure_texts.other_groups(comparison.headline, comparison.filters).items():
        counts, figures = comparison.counts[part], comparison.filters[part]
        leading, recall = figures[name], figures.get("Recall")
        if not counts.sessions or leading.difference is None:
            continue
        # If an engine never offers the group, it has no ranks, and a verdict on ranks would mislead.
        offers = (recall is None or recall.base != 0, recall is None or recall.new != 0)
        moved = f"better in {counts.wins:,}, worse in {counts.losses:,} of {counts.sessions:,}"
        figure = (
            f"{name} {amount(leading.base, unit)} → {amount(leading.new, unit)}, {change(leading.difference, unit)}"
        )
        text = {
            (True, True): f"{said(leading.verdict, marked=leading.marked)}. {figure}; {moved}",
            (True, False): f"{new} offers none; {moved}",
            (False, True): f"{base} offers none; {moved}",
            (False, False): f"neither engine offers any of {counts.sessions:,}",
        }[offers]
        groups[group] = f"{group.capitalize()} (counted separately): {text}."
    median, high = (comparison.filters[comparison.headline].get(metric) for metric in TRENDS)
    time = ""
    if median and high and median.verdict is not Verdict.NOT_COMPARABLE:
        faster = {Verdict.BETTER: new, Verdict.WORSE: base}.get(median.verdict)
        verdict = f"{faster} is faster at the median" if faster else said(median.verdict)
        time = (
            f"Time: {verdict}. Median {amount(median.base, 'ms')} → {amount(median.new, 'ms')}, "
            f"95 % of the lookups within {amount(high.base, 'ms')} → {amount(high.new, 'ms')}."
        )
    failures = _failure_line(comparison, shown, folders)
    lines = [detection_text(comparison), groups.pop("keywords", ""), time, failures, *groups.values()]
    return [line for line in lines if line]


def _names(comparison: Comparison, shown: Callable[[str], str]) -> tuple[str, str]:
    base, new = comparison.base.engine.name, comparison.new.engine.name
    return ("base", "new") if base == new else (shown(base), shown(new))


STATUS_WORDS = {"timeout": "hung at", "engine-crash": "crashed at", "error": "failed at"}


def _failure_line(comparison: Comparison, shown: Callable[[str], str], folders: tuple[str, str] | None) -> str:
    """Return the verdict on failures, with an example of each side; "" if neither engine failed."""
    if comparison.failures is None:
        return ""
    verdict, p = comparison.failures.verdict, comparison.failures.p
    sessions = figure_texts.format_count(comparison.paired, "session")
    sides, counts, texts = (comparison.base, comparison.new), [], []
    for place, (side, name) in enumerate(zip(sides, _names(comparison, shown), strict=True)):
        failures = side.failures or Failures()
        counts.append(f"{('base', 'new')[place]} failed in {failures.sessions:,}")
        if not failures.example:
            continue
        # Several kinds of failures have no common word, so "failed" is used.
        status = next(iter(failures.statuses)) if len(failures.statuses) == 1 else "error"
        text = f"; {name} {STATUS_WORDS.get(status, 'failed at')} {failures.sessions:,} of {sessions}"
        if failures.rounds > 1:
            in_all = f"{failures.always:,} of them in all {failures.rounds} rounds"
            always = failures.always == failures.sessions
            text += f", in {failures.rounds} of {failures.rounds} rounds" if always else f", {in_all}"
        command = shown(f"ci-eval show {folders[place] if folders else side.workspace} {failures.example}")
        texts.append(f"{text} ({command})")
    return (
        f"Failures: {said(verdict, marked=comparison.failures.marked)} ({', '.join(counts)} of {sessions}, sign test "
        f"p = {p:.3f}){''.join(texts)}. They count as misses."
    )


def elsewhere_line(comparison: Comparison) -> str:
    name = comparison.declared[0]
    elsewhere = comparison.filters[comparison.headline][name].elsewhere
    verdict = said(elsewhere.verdict, marked=elsewhere.marked)
    return f"{figure_texts.ELSEWHERE}: {verdict} ({explain_verdict(elsewhere, _unit(comparison, name))})."


def pairs_text(comparison: Comparison) -> str:
    """Return how many sessions were compared, in how many files, and how many sessions have no partner."""
    about = "about " if comparison.population_estimated else ""
    asked = f"{comparison.paired:,} of the project's {about}{comparison.population:,} sessions"
    if comparison.paired == comparison.population:
        asked = f"all {figure_texts.format_count(comparison.paired, 'session')} of the project"
    counts = (comparison.only_base, comparison.only_new, comparison.changed_text)
    named = zip(counts, ("only in base", "only in new", "in changed files"), strict=True)
    alone = [f"{count:,} {where}" for count, where in named if count]
    return f"Compared {asked}, in {figure_texts.format_count(comparison.files, 'file')}" + (
        f"; {', '.join(alone)}" if alone else ""
    )


def _unit(comparison: Comparison, name: str) -> str:
    return next(info.unit for info in comparison.metrics if info.name == name)


def detection_text(comparison: Comparison) -> str:
    """Return the detectable difference and the wanted difference; "" if the user wanted no difference."""
    detection = comparison.detection
    if detection is None:
        return ""
    unit = _unit(comparison, detection.metric)
    target = (
        f"wanted: {change(detection.wanted, unit).lstrip('+')} of {detection.metric}, with power {detection.power:.0%}"
    )
    if detection.reached is None:
        return f"Detectable: nothing, since {detection.metric} has no figure ({target})."
    if not detection.reached:
        return f"Detectable: any difference in this project, since all its sessions were asked ({target})."
    why = ""
    if detection.reached > detection.wanted and detection.most and comparison.paired < comparison.population:
        why = f"; at most {comparison.paired:,} sessions were asked: --detect {detection.wanted * 100:g}pp asks more"
    elif detection.reached > detection.wanted and comparison.paired == comparison.population:
        why = "; all sessions were asked, but answers differ from round to round: more --rounds show more"
    return f"Detectable: {change(detection.reached, unit).lstrip('+')} ({target}{why})."


def judged_elsewhere(comparison: Comparison) -> bool:
    figures = comparison.filters[comparison.headline]
    return any(figures[name].elsewhere.low is not None for name in comparison.declared)


ADJUSTED = (
    "Each interval alone is right in 95 of 100 comparisons. ▲ and ▼ mark verdicts on declared metrics, "
    "adjusted for all such verdicts of the page (Holm): if nothing differs, at most 5 of 100 pages have a mark; △ and "
    "▽ mark verdicts that hold only without this adjustment"
)


def night_figure(trend: Trend, night: TrendPoint, metric: str) -> str:
    unit = next((info.unit for info in trend.metrics if info.name == metric), "")
    return amount(night.metrics.get(metric, figure_texts.NO_ESTIMATE).value, unit)


def _verdict_cell(of: Difference | Elsewhere) -> Cell:
    return Cell(said(of.verdict, marked=of.marked), in_html=mark_verdict(of.verdict, marked=of.marked))


DETECTABLE = "The smallest true difference that data like these would show four times out of five"
MARKS = "▲ and ▼ are adjusted for all verdicts of this page, △ and ▽ are not"
REPORTS = "markdown html"
COLUMNS = (
    Column("Metric", "row", safe=prose),
    Column("base", "number"),
    Column("new", "number"),
    Column("Difference", "number strong"),
    Column("95 % interval", "quiet nowrap", in_html="95% interval"),
    Column("p", "number quiet nowrap"),
    Column("Verdict", "", MARKS),
    Column("Detectable", "number quiet", DETECTABLE, REPORTS),
)


def verdict_row(name: str, difference: Difference, of: Difference | Elsewhere, unit: str) -> list[str | Cell]:
    """Return the cells of COLUMNS. `of` is `difference` itself, or its result for code outside this project."""
    interval, p, detectable = interval_text(of, unit), p_text(of), ""
    # A share cannot change by more than 1.
    if of.detectable is not None and not (unit == "share" and of.detectable > 1):
        detectable = change(of.detectable, unit).lstrip("+±")
    return [
        f"{name} ({difference.n:,} {difference.over})" if difference.over else name,
        amount(difference.base, unit),
        amount(difference.new, unit),
        change(difference.difference, unit),
        Cell("" if of.low is None else interval, on_terminal=interval),
        Cell(p, on_terminal=p.removeprefix("p = ").removeprefix("p ")),
        _verdict_cell(of),
        detectable,
    ]


def verdict_table(
    comparison: Comparison,
    names: Iterable[str],
    title: str = "",
    *,
    elsewhere: bool = False,
    part: str = "",
    label: str = "",
) -> Table:
    """Return the verdicts for this project, or outside it if `elsewhere`. `part` is their filter ("": the headline)."""
    infos = {info.name: info for info in comparison.metrics}
    # Figures of the whole run, such as memory, are only in the filter ALL.
    figures = comparison.filters[part] if part else comparison.filters["ALL"] | comparison.filters[comparison.headline]
    rows, reasons = list[list[str | Cell]](), dict[str, list[str]]()
    for name in names:
        of = figures[name].elsewhere if elsewhere else figures[name]
        rows.append(verdict_row(name, figures[name], of, infos[name].unit))
        if of.why:
            reasons.setdefault(of.why, []).append(name)
    return Table(
        COLUMNS,
        rows,
        title,
        reasons=[f"{', '.join(those)}: {why}." for why, those in reasons.items()],
        numbers=4,
        styles={said(Verdict.BETTER): "green", said(Verdict.WORSE): "red"},
        spare=("p", "95 % interval", "base", "new"),
        classes="verdicts",
        label=label,
    )


def compared_by_length(comparison: Comparison, *, timed: bool = False) -> Table | None:
    """Return a table by number of typed letters; None if there is only one. `timed` includes the declared times."""
    lengths = find_length_filters(comparison.headline, list(comparison.filters))
    if len(lengths) < 2:
        return None
    infos = {info.name: info for info in comparison.metrics}
    rows = []
    for name in comparison.declared:
        differences = [comparison.filters[part].get(name) for part in lengths.values()]
        texts = [
            f"{sign(of.verdict, marked=of.marked)} {change(of.difference, infos[name].unit)}" if of else ""
            for of in differences
        ]
        if timed or not infos[name].is_time:
            rows.append([name, *texts])
    group = label(comparison.headline).partition(",")[0]
    columns = [Column("Letters typed", "row", safe=prose), *(Column(f"{length}", "number") for length in lengths)]
    return Table(
        columns,
        rows,
        f"Difference by letters typed, {prose(group)}",
        on_terminal=f"{group}, difference by letters typed",
        numbers=0,
        classes="narrow",
        label="By letters typed",
    )


def parts_table(
    comparison: Comparison,
    parts: Iterable[Subset],
    title: str = "",
    label: str = "",
    links: Mapping[str, str] = MappingProxyType({}),
) -> Table:
    info = next(info for info in comparison.metrics if info.name == comparison.declared[0])
    columns = [
        Column(f"{prose(info.name)} where", "row", in_html=f"{info.name} where"),
        *(Column(name, "number") for name in ("Sessions", "Files", "better", "worse")),
        *(Column(name, "number", formats="html") for name in ("base", "new")),
        Column("Difference", "number strong"),
        Column("95 % interval", "quiet nowrap", in_html="95% interval"),
        Column("Verdict"),
    ]
    rows: list[list[str | Cell]] = []
    for part in parts:
        difference = part.difference
        value = part.value.lower().replace("_", " ") if part.dimension == "kind" else part.value
        shown, address = Markup.escape(f"{part.dimension}: {value}"), ""
        if part.dimension == "file":
            shown, address = breakable(part.value), links.get(part.value, "")
        elif part.dimension == "kind" or (part.dimension == "prefix length" and part.value.isdigit()):
            name = "kind" if part.dimension == "kind" else "typed"
            address = f"sessions.html#{name}={quote(part.value)}"
        between = interval_text(difference, info.unit)
        rows.append(
            [
                Cell(f"{prose(part.dimension)}: {code(part.value)}", in_html=_link(address, shown)),
                f"{part.sessions:,}",
                Cell(f"{part.files:,}", in_html=Markup.escape(part.files)),
                f"{part.wins:,}",
                f"{part.losses:,}",
                amount(difference.base, info.unit),
                amount(difference.new, info.unit),
                change(difference.difference, info.unit),
                Cell(between, in_html=Markup() if difference.low is None else Markup.escape(between)),
                _verdict_cell(difference),
            ]
        )
    return Table(columns, rows, title, classes="sortable", label=label, is_tall=label == "By file")


def _link(address: str, text: Markup) -> Markup:
    return Markup('<a href="{}">{}</a>').format(address, text) if address else text


def changes_table(
    changes: Iterable[Change], task: Task, label: str = "", places: Mapping[str, str] = MappingProxyType({})
) -> Table:
    score = " score" if task.play else ""
    columns = [
        Column("Where"),
        Column(f"base{score}", "number", formats="html"),
        Column(f"new{score}", "number strong", formats="html"),
        *(Column(name, safe=code) for name in ("Expected", "Typed")),
        *(Column(name, "number", formats="markdown", safe=prose) for name in ("base", "new")),
        Column("Kind", "quiet", formats="html"),
        Column("Session", formats="markdown", safe=code),
    ]
    rows: list[list[str | Cell]] = []
    for entry in changes:
        place = Markup("{}:{}").format(breakable(entry.file), entry.line)
        where = Cell(f"{code(entry.file)} line {entry.line:,}", in_html=_link(places.get(entry.id, ""), place))
        ranks = (
            outcome_text(task, entry.base_rank, entry.base_score, entry.base_status),
            outcome_text(task, entry.new_rank, entry.new_score, entry.new_status),
        )
        texts = [Cell(text, in_html=Markup("<code>{}</code>").format(text)) for text in (entry.expected, entry.prefix)]
        kind = entry.kind.lower().replace("_", " ")
        rows.append([where, *ranks, *texts, *ranks, kind, entry.id])
    return Table(columns, rows, classes="sortable", label=label, is_tall=True)
