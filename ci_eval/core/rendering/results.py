"""The documents of sweeps, suites, rankings, causes and trends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from markupsafe import Markup

from ci_eval.core.filters import label
from ci_eval.core.model import (
    Difference,
    Estimate,
    MetricInfo,
    OtherCode,
    Overview,
    Ranking,
    Suite,
    SuiteProject,
    Sweep,
    Trend,
)
from ci_eval.core.model.report import Cases, Causes
from ci_eval.core.model.units import TO, amount, change, change_between, interval, interval_text
from ci_eval.core.rendering.answers import answer_html, answer_markdown
from ci_eval.core.rendering.blocks import (
    ALL,
    Block,
    Cell,
    Column,
    Fold,
    Section,
    Sentence,
    Table,
    Terminal,
    Warned,
    added_blocks,
)
from ci_eval.core.rendering.cases import cases_blocks
from ci_eval.core.rendering.causes import causes_blocks
from ci_eval.core.rendering.contract import Small
from ci_eval.core.rendering.figures import HERE, format_count, intervals
from ci_eval.core.rendering.markdowntext import code, prose
from ci_eval.core.rendering.verdicts import mark_verdict, said


def small_blocks(result: Small, links: Sequence[str] = ()) -> list[Block]:
    match result:
        case Sweep():
            own = sweep_blocks(result)
        case Suite():
            own = suite_blocks(result)
        case Causes():
            own = causes_blocks(result)
        case Cases():
            own = cases_blocks(result)
        case _:
            own = overview_blocks(result, links)
    return own + added_blocks(result)


EMPTY_LINE = Sentence(formats="terminal")


def sweep_blocks(sweep: Sweep) -> list[Block]:
    columns = [
        Column(code(key), "row", safe=prose, on_terminal=key.rpartition(".")[2], in_html=key) for key in sweep.keys
    ]
    columns.append(Column("sessions", "number", in_html="Sessions"))
    for info in sweep.metrics:
        columns += [
            Column(info.name, "number nowrap", info.summary, on_terminal=info.name),
            Column("from the first", "nowrap"),
        ]
    link = Markup('<a href="../{}/{}">{}</a>').format
    rows: list[list[str | Cell]] = []
    for run in sweep.runs:
        page = f"{run.workspace}/reports/html"
        row: list[str | Cell] = [Cell(value, in_html=link(page, "index.html", value)) for value in run.values]
        row.append(f"{run.sessions:,}")
        for info in sweep.metrics:
            figure, difference = run.figures.get(info.name), run.differences.get(info.name)
            text, between = ("—", "") if figure is None else figure_texts(figure, info)
            below = Markup('{}<br><span class="quiet">{}</span>').format
            # The terminal has little room for intervals.
            row.append(Cell(text, between, on_terminal=text, in_html=below(text, between)))
            far, within = "", ""
            if difference:
                far = f"{said(difference.verdict, marked=difference.marked)} {change(difference.difference, info.unit)}"
                within = interval_text(difference, info.unit)
            if run.why:
                row.append(Cell(run.why, safe=prose, in_html=Markup('<span class="quiet">{}</span>').format(run.why)))
            else:
                linked = below(link(run.comparison, "html/index.html", far), within) if run.comparison else None
                row.append(Cell(far, within, on_terminal=far, in_html=linked or Markup('<span class="quiet"></span>')))
        rows.append(row)
    held_out = held_out_text(sweep)
    lead = f"{len(sweep.runs)} runs on {code(f'{sweep.project.name} {sweep.project.revision}')}."
    if sweep.remark:
        lead += f" {prose(sweep.remark)}."
    if held_out:
        lead += f" Held out: {prose(held_out)}."
    if sweep.shard:
        lead += f" These are figures of shard {sweep.shard} alone: put all together with `ci-eval sweep … --merge`."
    about = (
        f"on {sweep.project.name} {sweep.project.revision}; differences are from the first, over the sessions of both"
    )
    in_html: list[Block] = [Warned(f"{sweep.remark}.", "html")] if sweep.remark else []
    in_html += [Sentence(f"Held out: {held_out}.", "html")] if held_out else []
    in_html += [Warned(f"These are figures of shard {sweep.shard} alone.", "html")] if sweep.shard else []
    runs = Table(columns, rows, numbers=0, label="#runs")
    after = [Sentence(f"Held out: {held_out}.\n", "terminal")] if held_out else []
    return [
        Sentence(formats="markdown", in_markdown=f"# Sweep of {prose(', '.join(sweep.keys))}"),
        Sentence(formats="markdown", in_markdown=lead),
        EMPTY_LINE,
        Section("runs", "Runs", about, [*in_html, runs]),
        EMPTY_LINE,
        *after,
    ]


def figure_texts(figure: Estimate, info: MetricInfo) -> tuple[str, str]:
    return amount(figure.value, info.unit), interval(figure, info.unit)


def held_out_text(sweep: Sweep) -> str:
    """Return a sentence about the best run in files that did not choose it, or "" if none were held out."""
    held = sweep.held_out
    if held is None:
        return ""
    winner, first = (", ".join(sweep.runs[number].values) for number in (held.winner, 0))
    infos = {info.name: info for info in sweep.metrics}

    def list_figures(figures: dict[str, Estimate]) -> str:
        known = [(info, Cell(*figure_texts(figures[name], info))) for name, info in infos.items() if name in figures]
        return ", ".join(f"{info.name} {cell.whole}" for info, cell in known)

    best = f"{held.metric} is best for {winner} in {format_count(held.choosing_files, 'file')}"
    best += f" ({amount(held.choosing[held.winner], infos[held.metric].unit)})"
    others = f"{format_count(held.files, 'file')} that did not choose ({held.sessions:,} sessions)"
    text = f"{best}. In {others}: {list_figures(held.figures)}"
    if held.winner:
        text += f"; there, the first run ({first}) has {list_figures(held.first)}"
    return f"{text}. Quote these figures: those over all files favour the run that was picked"


OVERALL = "In other projects"


def suite_blocks(suite: Suite) -> list[Block]:
    columns = [
        Column("project", "row", safe=prose, in_html="Project"),
        Column("sessions", "number", in_html="Sessions"),
    ]
    for info in suite.metrics:
        about = f"{info.summary}; below it, the 95% interval"
        columns.append(Column(info.name, "number", about, safe=prose, on_terminal=info.name))
    # A comparison's reports are directly in its folder, an evaluation's below `reports`.
    below = "html" if suite.compared else "reports/html"
    link = Markup('<a href="../{}/{}/index.html">{}</a>').format
    rows: list[list[str | Cell]] = []
    for entry in suite.projects:
        name = f"{entry.project.name} {entry.project.revision}"
        cells = [_project_cell(entry, info, compared=suite.compared) for info in suite.metrics]
        rows.append([Cell(name, in_html=link(entry.folder, below, name)), f"{entry.sessions:,}", *cells])
    overall = Cell(OVERALL, safe=str, on_terminal=OVERALL.lower())
    foot = [overall, Cell("", in_html=Markup()), *(_overall_cell(suite, info) for info in suite.metrics)]
    sentences = describe_populations(suite)
    table = Table(
        columns, rows, foot=foot, classes="sortable suite", label="#projects", on_terminal=suite.title, numbers=0
    )
    troubles = [f"{entry.project.name}: {entry.trouble}" for entry in suite.projects if entry.trouble]
    trouble_line = Markup('<p class="warning">✗ {}</p>\n').format
    quiet = Markup('<p class="quiet">{}</p>\n').format
    return [
        Sentence(formats="markdown", in_markdown=f"# {prose(suite.title)}"),
        EMPTY_LINE,
        Section(
            "projects",
            "Projects",
            suite.about,
            [
                *(Sentence(formats="html", in_html=trouble_line(trouble)) for trouble in troubles),
                Sentence(sentences[0], "markdown html"),
                *(Sentence(sentence, "markdown html", in_html=quiet(sentence)) for sentence in sentences[1:]),
                table,
            ],
        ),
        EMPTY_LINE,
        *(Sentence(sentence, "terminal") for sentence in sentences),
        *(Warned(trouble, "terminal") for trouble in troubles),
        Sentence(formats="markdown", in_markdown="\n".join(f"- {prose(trouble)}" for trouble in troubles)),
    ]


def describe_populations(suite: Suite) -> list[str]:
    """Return what the rows say, and what the last one says; if there are times of a busy machine, also what they are
    worth."""
    figures = "differences (new - base)" if suite.compared else "figures"
    what = f" {suite.about}" if suite.about else ""
    verdicts = " and verdicts" if suite.compared else ""
    pairs = f" and of the {suite.pairs} pairs of sides" if suite.pairs > 1 else ""
    sentences = [
        f"{HERE}: each row has the {figures} of one project{what}; its intervals{verdicts} (95 %) are of that project.",
        f"{OVERALL}: the last row has the mean of {format_count(len(suite.projects), 'project')}, each of which weighs "
        f"the same; its intervals{verdicts} (95 %, Student's t, adjusted for the number of metrics{pairs}) are of "
        "projects like these.",
    ]
    busy = [entry.project.name for entry in suite.projects if entry.busy]
    if busy and any(info.is_time for info in suite.metrics):
        which = "all projects" if len(busy) == len(suite.projects) else ", ".join(busy)
        sentences.append(
            f"⚠ The machine was busy during {which}: times say more about the machine than about the engine."
        )
    return sentences


_toned = Markup('<span class="{}">{}</span><small>{}</small>').format


def _project_cell(entry: SuiteProject, info: MetricInfo, *, compared: bool) -> Cell:
    """Return a project's figure, or its difference with the verdict; and the interval."""
    difference, figure = entry.differences.get(info.name), entry.figures.get(info.name)
    text, between = figure_texts(figure, info) if figure else (amount(None, info.unit), "")
    if difference:
        text = f"{change(difference.difference, info.unit)} {said(difference.verdict, marked=difference.marked)}"
        between = interval_text(difference, info.unit)
    tone = difference.verdict.value if compared and difference and difference.marked else ""
    return Cell(text, between, in_html=_toned(tone, text, between))


def _overall_cell(suite: Suite, info: MetricInfo) -> Cell:
    """Return the mean over all projects, with the verdict in a comparison; and the interval, or why there is none."""
    overall = suite.overall[info.name]
    if suite.compared:
        text, tone = f"{change(overall.mean, info.unit)} {said(overall.verdict)}", overall.verdict.value
        between = "; ".join(filter(None, (change_between(overall.low, overall.high, info.unit), overall.why)))
    else:
        text, tone = amount(overall.mean, info.unit), ""
        limits = OtherCode(low=overall.low, high=overall.high)
        between = (interval(limits, info.unit) if overall.low is not None else "") or overall.why
    return Cell(text, between, in_html=_toned(f"strong {tone}", text, between))


PAIRS_JUDGED = (
    "each pair as its own comparison judges it, over the sessions that both have; of 20 pairs that do not differ, one "
    "may seem to"
)
"""What the verdicts of a ranking are, as reports of it say."""


def overview_blocks(overview: Overview, links: Sequence[str] = ()) -> list[Block]:
    blocks: list[Block] = [
        Sentence(formats="markdown", in_markdown=f"# {prose(overview.title)}"),
        EMPTY_LINE,
    ]
    if overview.ranking:
        lead = Sentence(formats="markdown html", in_markdown=answer_markdown(overview), in_html=answer_html(overview))
        blocks.append(lead)
        blocks += _ranking(overview.ranking, links)
    names = name_trends(overview)
    if overview.trends:
        blocks.append(Trends(overview.trends, names, "html"))
    if overview.comparisons:
        line = Markup('<li><a href="../{}/html/index.html">{}</a></li>\n').format
        pages = Markup().join(line(place, title) for title, place in overview.comparisons.items())
        listed = "\n".join(f"- {prose(title)}: {code(f'{at}/report.md')}" for title, at in overview.comparisons.items())
        links_ = Sentence(in_markdown=listed, in_html=Markup('<ul class="links">\n{}</ul>\n').format(pages))
        blocks.append(Section("comparisons", "Session by session", "", [links_], "markdown html"))
    blocks += [
        Trends((trend,), (name,), "markdown terminal") for name, trend in zip(names, overview.trends, strict=True)
    ]
    return blocks + ([Trends((overview.trend,), ())] if overview.trend else [])


def _ranking(ranking: Ranking, links: Sequence[str]) -> Iterator[Block]:
    infos, first = {info.name: info for info in ranking.metrics}, ranking.declared[0]
    yield Sentence(
        f"in all evaluations: {format_count(ranking.sessions, 'session')} in "
        f"{format_count(ranking.files, 'file')} ({label(ranking.headline)})",
        "terminal markdown",
        f"{ranking.sessions:,} sessions in {ranking.files:,} files are in all {len(ranking.sides)} evaluations "
        f"({prose(label(ranking.headline))}).",
    )
    yield EMPTY_LINE
    yield from (Warned(warning, "markdown") for warning in ranking.warnings)
    over = f"over the {ranking.sessions:,} sessions in {ranking.files} files that all evaluations have"
    note = (
        f"In order of {first}. A place such as 2{TO}3 is a tie: which of these is better, the data do not show; each "
        "against each is told below. "
    )
    judges = Markup("Times have no verdict: <code>ci-eval compare-engines</code> judges them.")
    noted = Markup('<p class="quiet">{}{}</p>\n').format(
        note, judges if len(ranking.pairs) == len(ranking.declared) else ""
    )
    yield Section(
        "ranking",
        "Ranking",
        f"{over}; {label(ranking.headline)}",
        [
            *(Warned(warning, "html") for warning in ranking.warnings),
            _ranking_table(ranking, infos, links),
            Sentence(formats="html", in_html=noted),
        ],
    )
    yield EMPTY_LINE
    yield from (Warned(warning, "terminal") for warning in ranking.warnings)
    titles = [side.title for side in ranking.sides]
    folds: list[Block] = []
    hidden = Markup('<span class="hidden">Evaluation</span>')
    for name, pairs in ranking.pairs.items():
        columns = [Column(f"{name}: row - column", "row", safe=prose, in_html=hidden)]
        columns += [Column(prose(title), in_html=title) for title in titles]
        rows = [
            [title, *(_pair_cell(difference, infos[name]) for difference in row)]
            for title, row in zip(titles, pairs, strict=True)
        ]
        table = Table(columns, rows, label=f"{name}, each against each")
        title = f"{prose(name)}, each against each in this project ({PAIRS_JUDGED})"
        folds.append(Fold(title, table, name, is_open=not folds))
    about = f"row \N{MINUS SIGN} column, in this project: {PAIRS_JUDGED}"
    yield Section("pairs", "Each against each", about, folds, "markdown html")


def _ranking_table(ranking: Ranking, infos: Mapping[str, MetricInfo], links: Sequence[str]) -> Table:
    first = ranking.declared[0]
    about_place = "A range where the order of these may be chance"
    about_better = f"By {first}: of how many others it is shown to be better"
    columns = [
        Column("", formats="markdown"),
        Column("Place", "number nowrap", about_place, "html"),
        Column("Evaluation", "row", safe=prose),
    ]
    for name in ranking.declared:
        about = f"{infos[name].summary}; below it, the 95% interval"
        columns.append(Column(name, "number", about, on_terminal=name))
    columns.append(Column("", formats="terminal", on_terminal=f"{first}'s interval"))
    columns += [Column(name, "number", infos[name].summary, on_terminal=name) for name in ranking.times[0]]
    columns += [
        Column("better than", "number", about_better, "markdown html", in_html="▲ better than"),
        Column("worse than", "number", formats="markdown html", in_html="▼ worse than"),
        Column("better / worse than", formats="terminal"),
    ]
    strong = Markup('<span class="strong">{}</span><small>{}</small>').format
    rows, tied = [], places(ranking.ahead, ranking.behind)
    for number, (side, ahead, behind) in enumerate(zip(ranking.sides, ranking.ahead, ranking.behind, strict=True)):
        link = links[number] if links else ""
        title = Markup('<a href="{}">{}</a>').format(link, side.title) if link else Markup.escape(side.title)
        if side.failed:
            title += Markup(' <span class="quiet">({} failed)</span>').format(side.failed)
        row: list[str | Cell] = [f"{number + 1}", tied[number], Cell(side.title, in_html=title)]
        for name in ranking.declared:
            figure, unit = ranking.figures[number][name], infos[name].unit
            text, between = amount(figure.value, unit), intervals(figure, unit)
            row.append(Cell(text, between, on_terminal=text, in_html=strong(text, between)))
        row.append(intervals(ranking.figures[number][first], infos[first].unit))
        row += [amount(figure.value, infos[name].unit) for name, figure in ranking.times[number].items()]
        rows.append([*row, f"{ahead}", f"{behind}", f"{ahead} / {behind}"])
    numbers = len(ranking.declared) + 1 + len(ranking.times[0])
    return Table(
        columns, rows, "Ranking", on_terminal="", numbers=numbers, classes="ranking sortable", label="#ranking"
    )


def places(ahead: Sequence[int], behind: Sequence[int]) -> tuple[str, ...]:
    """Return the rank of each evaluation: before it stand as many others as are shown to be better, after it as many as
    are shown to be worse. The ranks between are a tie, such as 2-3. `ahead`: how many others each is better than;
    `behind`: how many others each is worse than."""
    spans = [(worse_than + 1, len(ahead) - than) for than, worse_than in zip(ahead, behind, strict=True)]
    return tuple(f"{first}" if first == last else f"{first}{TO}{last}" for first, last in spans)


def _pair_cell(difference: Difference | None, info: MetricInfo) -> str | Cell:
    if difference is None:
        return ""
    text = f"{change(difference.difference, info.unit)} ({interval_text(difference, info.unit)})"
    shown = Markup('{}<br><span class="quiet">{}</span>').format(
        mark_verdict(difference.verdict, marked=difference.marked), text
    )
    return Cell(f"{said(difference.verdict, marked=difference.marked)} {text}", in_html=shown)


@dataclass(frozen=True)
class Trends:
    """A trend, or those of several evaluations with their names; the template draws them."""

    trends: Sequence[Trend]
    names: Sequence[str]
    formats: str = ALL

    def markdown(self) -> str:
        parts = []
        for name, trend in zip_longest(self.names, self.trends):
            parts += [*([f"**{prose(name)}**"] if name else []), *trend_lines(trend)]
        return "\n\n".join(parts)

    def terminal(self, screen: Terminal) -> None:
        for name, trend in zip_longest(self.names, self.trends):
            about = f"{name}: " if name else ""
            before = format_count(len(trend.nights) - 1, "evaluation")
            screen.result(f"history   {about}{before} before this one ({label(trend.headline)})")
            for line in change_lines(trend):
                screen.result(f"changed   {about}{line}")

    def html(self) -> str:
        """Return nothing: the template has charts."""
        return ""


def trend_lines(trend: Trend) -> Iterator[str]:
    """Yield the trend as paragraphs of Markdown."""
    count = len(trend.nights)
    if count < 2:
        yield "The first evaluation of its kind: a trend needs two."
        return
    first, last = trend.nights[0], trend.nights[-1]
    of = prose(label(trend.headline))
    yield f"Trend of {of} over {count} evaluations, {prose(first.started[:10])} to {prose(last.started[:10])}:"
    changes = list(change_lines(trend, prose))
    yield "\n".join(f"- {line}" for line in changes) or "No figure changed its level."


def name_trends(overview: Overview) -> list[str]:
    """Return a name for each trend of a ranking; if several have the same one, those of the workspaces."""
    if overview.ranking is None:
        return []
    sides = overview.ranking.sides[: len(overview.trends)]
    names = [f"{side.engine.name}, {side.completion_type}" for side in sides]
    return names if len(set(names)) == len(names) else [side.workspace for side in sides]


def change_lines(trend: Trend, shown: Callable[[str], str] = str) -> Iterator[str]:
    """Yield one sentence for each change of level, the latest first; `shown` makes foreign text safe."""
    points = [(point.night, info, point) for info in trend.metrics for point in trend.changes.get(info.name, ())]
    for night, info, point in sorted(points, key=lambda entry: (-entry[0], entry[1].name)):
        sign = "" if point.good is None else "▲ " if point.good else "▼ "
        why = f" ({'; '.join(map(shown, trend.nights[night].differs))})" if trend.nights[night].differs else ""
        yield (
            f"{sign}{info.name} {amount(point.before, info.unit)} → {amount(point.after, info.unit)} "
            f"({change(point.after - point.before, info.unit)}) from {shown(trend.nights[night].started[:10])} on{why}"
        )
