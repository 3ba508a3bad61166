"""Build the documents of sweeps, suites, rankings, trends, causes of misses, and cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from operator import itemgetter

import msgspec
from markupsafe import Markup

from ci_eval.core.filters import label
from ci_eval.core.model import Difference, MetricInfo, OtherCode, Overview, Ranking, Suite, SuiteProject, Sweep, Trend
from ci_eval.core.model.report import CaseResult, Cases, Causes, Cluster, ListChange
from ci_eval.core.model.units import TO, amount, change, change_between, interval, interval_text
from ci_eval.rendering.answers import answer_html, answer_markdown, plain_titles
from ci_eval.rendering.blocks import ALL, Block, Cell, Column, Fold, Section, Sentence, Table, Terminal, Warned
from ci_eval.rendering.figures import HERE, NO_ESTIMATE, format_count, intervals
from ci_eval.rendering.markdowntext import code, prose
from ci_eval.rendering.reporters import Small
from ci_eval.rendering.verdicts import mark_verdict, said


def small_blocks(result: Small, links: Sequence[str] = ()) -> list[Block]:
    match result:
        case Sweep():
            return sweep_blocks(result)
        case Suite():
            return suite_blocks(result)
        case Causes():
            return causes_blocks(result)
        case Cases():
            return cases_blocks(result)
        case _:
            return overview_blocks(result, links)


EMPTY_LINE = Sentence(formats="terminal")


def _answer(result: Sweep | Suite | Overview) -> Sentence:
    return Sentence(formats="markdown html", in_markdown=answer_markdown(result), in_html=answer_html(result))


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
            figure, difference = run.figures.get(info.name, NO_ESTIMATE), run.differences.get(info.name)
            text, between = amount(figure.value, info.unit), interval(figure, info.unit)
            below = Markup('{}<br><span class="quiet">{}</span>').format
            # The terminal has no room for the interval.
            row.append(Cell(text, between, on_terminal=text, in_html=below(text, between)))
            far, within = "", ""
            if difference:
                far = f"{said(difference.verdict, marked=difference.marked)} {change(difference.difference, info.unit)}"
                within = interval_text(difference, info.unit)
            if run.why:
                row.append(Cell(run.why, safe=prose, in_html=Markup('<span class="quiet">{}</span>').format(run.why)))
            else:
                linked = below(link(run.comparison, "html/index.html", far), within) if run.comparison else Markup()
                row.append(Cell(far, within, on_terminal=far, in_html=linked))
        rows.append(row)
    notes: list[Block] = [Warned(f"{sweep.remark}.", "markdown html")] if sweep.remark else []
    project = f"{sweep.project.name} {sweep.project.revision}"
    about = f"on {project}; each run is compared with the first, over the sessions of both"
    return [
        Sentence(formats="markdown", in_markdown=f"# Sweep of {prose(', '.join(sweep.keys))}"),
        Sentence(formats="markdown", in_markdown=f"{len(sweep.runs)} runs on {code(project)}."),
        EMPTY_LINE,
        _answer(sweep),
        Section("runs", "Runs", about, [*notes, Table(columns, rows, numbers=0, label="#runs")]),
        EMPTY_LINE,
    ]


OVERALL = "Mean of the projects"


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
    quiet = Markup('<p class="quiet">{}</p>\n').format
    others = (Sentence(sentence, "markdown html", in_html=quiet(sentence)) for sentence in sentences[1:])
    shown: list[Block] = [Sentence(sentences[0], "markdown html"), *others, table]
    return [
        Sentence(formats="markdown", in_markdown=f"# {prose(suite.title)}"),
        EMPTY_LINE,
        _answer(suite),
        Section("projects", "Projects", suite.about, shown),
        EMPTY_LINE,
        *(Sentence(sentence, "terminal") for sentence in sentences),
    ]


def describe_populations(suite: Suite) -> list[str]:
    figures = "differences (new - base)" if suite.compared else "figures"
    what = f" {suite.about}" if suite.about else ""
    verdicts = " and verdicts" if suite.compared else ""
    reason = _shared_reason(suite)
    intervals = f"the intervals{verdicts} of the last row (95 %, Student's t, adjusted for the number of metrics)"
    sentences = [
        f"{HERE}: each row has the {figures} of one project{what}; its intervals{verdicts} (95 %) are of that project.",
        f"{OVERALL} ({len(suite.projects)}): each weighs the same; "
        f"{reason or f'{intervals} are of other projects like these'}.",
    ]
    busy = [entry.project.name for entry in suite.projects if entry.busy]
    if busy and any(info.is_time for info in suite.metrics):
        which = "all projects" if len(busy) == len(suite.projects) else ", ".join(busy)
        sentences.append(
            f"⚠ The machine was busy during {which}: times say more about the machine than about the engine."
        )
    return sentences


def _shared_reason(suite: Suite) -> str:
    reasons = {overall.why for overall in suite.overall.values()}
    return reasons.pop() if len(reasons) == 1 else ""


_toned = Markup('<span class="{}">{}</span><small>{}</small>').format


def _project_cell(entry: SuiteProject, info: MetricInfo, *, compared: bool) -> Cell:
    difference, figure = entry.differences.get(info.name), entry.figures.get(info.name, NO_ESTIMATE)
    text, between = amount(figure.value, info.unit), interval(figure, info.unit)
    if difference:
        text = f"{change(difference.difference, info.unit)} {said(difference.verdict, marked=difference.marked)}"
        between = interval_text(difference, info.unit)
    tone = difference.verdict.value if compared and difference and difference.marked else ""
    return Cell(text, between, in_html=_toned(tone, text, between))


def _overall_cell(suite: Suite, info: MetricInfo) -> Cell:
    """Return the mean (in a comparison with the verdict), and its interval or the reason why there is none."""
    overall = suite.overall[info.name]
    why = "" if _shared_reason(suite) else overall.why
    if suite.compared:
        text, tone = f"{change(overall.mean, info.unit)} {said(overall.verdict)}", overall.verdict.value
        between = "; ".join(filter(None, (change_between(overall.low, overall.high, info.unit), why)))
    else:
        text, tone = amount(overall.mean, info.unit), ""
        limits = OtherCode(low=overall.low, high=overall.high)
        between = (interval(limits, info.unit) if overall.low is not None else "") or why
    return Cell(text, between, in_html=_toned(f"strong {tone}", text, between))


PAIRS_JUDGED = (
    "each pair is judged alone, over the sessions of both; 1 of 20 pairs without a difference may seem to differ"
)


def overview_blocks(overview: Overview, links: Sequence[str] = ()) -> list[Block]:
    blocks: list[Block] = [Sentence(formats="markdown", in_markdown=f"# {prose(overview.title)}"), EMPTY_LINE]
    if overview.ranking:
        blocks.append(_answer(overview))
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
    over = f"over the {ranking.sessions:,} sessions in {ranking.files} files that all evaluations have"
    note = (
        f"In order of {first}. A place such as 2{TO}3 is a tie: the data do not show which evaluation is better. All "
        "pairs are compared below."
    )
    if len(ranking.pairs) == len(ranking.declared):
        note += " Times have no verdict: ci-eval compare-engines judges them."
    quiet = Sentence(formats="html", in_html=Markup('<p class="quiet">{}</p>\n').format(note))
    # While this element is closed, the style sheet hides the columns of times in the table after it.
    folded = Markup('<details class="more"><summary>Columns: times and memory</summary></details>\n')
    more = [Sentence(formats="html", in_html=folded)] if ranking.times[0] else []
    blocks: list[Block] = [*map(Warned, ranking.warnings), *more, _ranking_table(ranking, infos, links), quiet]
    yield Section("ranking", "Ranking", f"{over}; {label(ranking.headline)}", blocks)
    yield EMPTY_LINE
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
    of_first = f"{first}'s interval"
    about_place = "A range means that the order of these evaluations may be chance"
    about_better = f"By {first}: how many of the others are shown to be worse"
    columns = [
        Column("", formats="markdown"),
        Column("Place", "number nowrap", about_place, "html"),
        Column("Evaluation", "row", safe=prose),
    ]
    for name in ranking.declared:
        about = f"{infos[name].summary}; below it, the 95% interval"
        columns.append(Column(name, "number", about, on_terminal=name))
    columns.append(Column("", formats="terminal", on_terminal=of_first))
    times = list(ranking.times[0])
    columns += [Column(name, "number times", infos[name].summary, on_terminal=name) for name in times]
    columns += [
        Column("better than", "number", about_better, "markdown html", in_html="▲ better than"),
        Column("worse than", "number", formats="markdown html", in_html="▼ worse than"),
        Column("better / worse", formats="terminal"),
    ]
    plain = plain_titles([side.title for side in ranking.sides])
    strong = Markup('<span class="strong">{}</span><small>{}</small>').format
    rows, tied = [], places(ranking.ahead, ranking.behind)
    for number, (side, ahead, behind) in enumerate(zip(ranking.sides, ranking.ahead, ranking.behind, strict=True)):
        link = links[number] if links else ""
        title = Markup('<a href="{}">{}</a>').format(link, side.title) if link else Markup.escape(side.title)
        if side.failed:
            title += Markup(' <span class="quiet">({} failed)</span>').format(side.failed)
        evaluation = Cell(side.title, on_terminal=plain[number], in_html=title)
        row: list[str | Cell] = [f"{number + 1}", tied[number], evaluation]
        for name in ranking.declared:
            figure, unit = ranking.figures[number][name], infos[name].unit
            text, between = amount(figure.value, unit), intervals(figure, unit)
            lines = Markup("<br>").join(between.split("; "))
            row.append(Cell(text, between, on_terminal=text, in_html=strong(text, lines)))
        row.append(intervals(ranking.figures[number][first], infos[first].unit))
        row += [amount(figure.value, infos[name].unit) for name, figure in ranking.times[number].items()]
        rows.append([*row, f"{ahead}", f"{behind}", f"{ahead} / {behind}"])
    return Table(
        columns,
        rows,
        "Ranking",
        on_terminal="",
        numbers=len(ranking.declared) + 1 + len(times),
        spare=(*reversed(times[1:]), of_first, *reversed(ranking.declared[2:]), *times[:1], *ranking.declared[1:2]),
        classes="ranking sortable",
        label="#ranking",
    )


def places(ahead: Sequence[int], behind: Sequence[int]) -> tuple[str, ...]:
    """Return each side's place; 2-3 is a tie. `ahead` is how many others it beats, `behind` how many beat it."""
    spans = [(worse_than + 1, len(ahead) - than) for than, worse_than in zip(ahead, behind, strict=True)]
    return tuple(f"{first}" if first == last else f"{first}{TO}{last}" for first, last in spans)


def _pair_cell(difference: Difference | None, info: MetricInfo) -> str | Cell:
    if difference is None:
        return ""
    verdict, marked = difference.verdict, difference.marked
    text = f"{change(difference.difference, info.unit)} ({interval_text(difference, info.unit)})"
    shown = Markup('{}<br><span class="quiet">{}</span>').format(mark_verdict(verdict, marked=marked), text)
    return Cell(f"{said(verdict, marked=marked)} {text}", in_html=shown)


class Trends(msgspec.Struct, frozen=True):
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
        return ""


def trend_lines(trend: Trend) -> Iterator[str]:
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
    if overview.ranking is None:
        return []
    sides = overview.ranking.sides[: len(overview.trends)]
    names = [f"{side.engine.name}, {side.completion_type}" for side in sides]
    return names if len(set(names)) == len(names) else [side.workspace for side in sides]


def change_lines(trend: Trend, shown: Callable[[str], str] = str) -> Iterator[str]:
    """Yield a sentence for each change of level, the latest first. `shown` makes foreign text safe."""
    points = [(point.night, info, point) for info in trend.metrics for point in trend.changes.get(info.name, ())]
    for night, info, point in sorted(points, key=lambda entry: (-entry[0], entry[1].name)):
        sign = "" if point.good is None else "▲ " if point.good else "▼ "
        why = f" ({'; '.join(map(shown, trend.nights[night].differs))})" if trend.nights[night].differs else ""
        yield (
            f"{sign}{info.name} {amount(point.before, info.unit)} → {amount(point.after, info.unit)} "
            f"({change(point.after - point.before, info.unit)}) from {shown(trend.nights[night].started[:10])} on{why}"
        )


SHOWN_ON_TERMINAL = 8
NOTE = (
    "Gain: the most points that a fix would win. Certainty: how likely the cause is a fault rather than a matter of "
    "taste."
)


def causes_blocks(causes: Causes) -> list[Block]:
    lost, about = amount(causes.lost, "share"), prose(label(causes.headline))
    since = " to what got worse" if causes.base else ""
    lead = (
        f"{lost[:-1]} points of RecallAt1 and {causes.mrr_lost:.3f} of MeanReciprocalRank are lost{since}, over "
        f"{format_count(causes.sessions, 'session')} ({label(causes.headline)})."
    )
    compared = f"{causes.title}, compared with {causes.base}." if causes.base else f"{causes.title}."
    unknown = [
        f"the {what} cannot tell at {causes.judgeable - judged:,} of {causes.judgeable:,} places"
        for what, judged in (("grammar", causes.grammar_judged), ("scopes", causes.scope_judged))
        if judged < causes.judgeable
    ]
    blocks: list[Block] = [
        Sentence(f"# What {'got worse' if causes.base else 'to fix first'}\n\n{prose(compared)}", "markdown"),
        Sentence(compared, "terminal html" if causes.base else "terminal"),  # the page's heading names the engine
        Sentence(lead, in_markdown=lead.replace(label(causes.headline), about)),
    ]
    if unknown:
        blocks.append(Warned(f"Which suggestions are possible: {', '.join(unknown)}."))
    if causes.valid_at5 is not None:
        share = f"ValidAt5: {amount(causes.valid_at5, 'share')} of the first five suggestions are possible at the caret"
        blocks.append(Sentence(f"{share}, over {format_count(causes.valid_lists, 'list')} that can be checked."))
    if not causes.clusters:
        return [*blocks, Sentence("Nothing was lost: there is nothing to fix.")]
    short = _clusters(causes, causes.clusters[:SHOWN_ON_TERMINAL], "terminal")
    whole = _clusters(causes, causes.clusters, "markdown html")
    section = Section("clusters", "Clusters", "by the share of the lost points times certainty", [short, whole])
    columns = [
        Column("Cause", "row"),
        Column("Place", safe=code),
        Column("Expected", safe=code),
        Column("Rank", "number"),
        Column("List begins with", safe=code),
        Column("Session", safe=code),
    ]
    rows = [
        (
            "" if number else f"{cluster.cause} ({_shorten_kinds(cluster.kind)}, {cluster.first})",
            f"{example.file}:{example.line}",
            example.expected,
            "absent" if example.rank is None else f"{example.rank:,}",
            ", ".join(example.ahead),
            example.session,
        )
        for cluster in causes.clusters
        for number, example in enumerate(cluster.examples)
    ]
    examples = Table(columns, rows, formats="markdown html", label="#examples")
    return [*blocks, section, Section("examples", "Examples", "ci-eval show prints such a session", [examples])]


def _clusters(causes: Causes, clusters: tuple[Cluster, ...], formats: str) -> Table:
    columns = [
        Column("Cause", "row"),
        Column("Kind", safe=prose),
        Column("First", safe=prose),
        Column("Gain", "number nowrap", "in points of RecallAt1, at most"),
        Column("Share", "number wide", "of the lost points of RecallAt1"),
        Column("MRR gain", "number wide", "in points of MeanReciprocalRank, at most", formats="markdown html"),
        Column("MRR share", "number wide", "of the lost points of MeanReciprocalRank", formats="markdown html"),
        Column("Certainty", "number", "how likely the cause is a fault rather than taste"),
        Column("Sessions", "number"),
        Column("Defined in", "wide", formats="markdown html"),
        Column("Example", formats="terminal"),
        *(Column(f"{title} has it", "number", safe=prose) for title in causes.others),
    ]
    rows = [
        (
            cluster.cause,
            _shorten_kinds(cluster.kind),
            cluster.first,
            f"{cluster.gain * 100:.1f} points",
            f"{cluster.share:.1%}",
            f"{cluster.mrr_gain:.3f}",
            f"{cluster.mrr_share:.1%}",
            f"{cluster.certainty:.0%}",
            f"{cluster.sessions:,}",
            ", ".join(f"{place} {count:,}" for place, count in cluster.defined.items()),
            f"{cluster.examples[0].expected} ({cluster.examples[0].session[:8]})",
            *(f"{count:,}" for count in cluster.others.values()),
        )
        for cluster in clusters
    ]
    hidden = len(causes.clusters) - len(clusters)
    more = f"{format_count(hidden, 'further cluster')} in the report. " if hidden else ""
    return Table(
        columns,
        rows,
        formats=formats,
        numbers=0,
        spare=("share", "kind", "certainty"),
        label="#clusters",
        note=more + NOTE + " `show` and `reduce` take an example's session." * (formats == "terminal"),
    )


def _shorten_kinds(kinds: str) -> str:
    first, *others = kinds.lower().replace("_", " ").split(", ")
    return f"{first} and {len(others)} more" if others else first


WIDEST_PLACE, WIDEST_DIRECTIVES = 28, 34
"""The widths of two columns on the terminal, in characters; a row then fits into 80."""
SHOWN_CHANGES = 15
SHOWN_PARTS = 5


def cases_blocks(cases: Cases) -> list[Block]:
    count, broken = format_count(len(cases.cases), "case"), cases.broken
    lead = f"{count}, {f'{broken:,} broken' if broken else 'none broken'} ({cases.title})."
    blocks: list[Block] = [
        Sentence(f"# Cases\n\n{prose(lead)}", "markdown"),
        Sentence(lead, "terminal html"),
        *(
            Warned(f"Cases in {language} are left out: the engine does not support {language}.")
            for language in cases.left_out
        ),
    ]
    ordered = sorted(cases.cases, key=lambda case: not case.reasons)
    blocks += [
        _table([case for case in ordered if case.reasons], "markdown"),
        _table(ordered, "html"),
        _table(cases.cases, "terminal"),
        *(Sentence(f"{_place(case)} BROKEN: {reason}", "terminal") for case in cases.cases for reason in case.reasons),
    ]
    if cases.base is None:
        return blocks
    about = format_count(len(cases.changes), "list") if cases.changes else "No list"
    since = f"{about} changed since {cases.base}."
    changed = Sentence(since, in_markdown=prose(since))
    hidden = len(cases.changes) - SHOWN_CHANGES
    more = [Sentence(f"… and {format_count(hidden, 'list')} more.")] if hidden > 0 else []
    rows = [
        (Cell(change.key, on_terminal=_cut(change.key[::-1], WIDEST_PLACE)[::-1]), _differences(change))
        for change in cases.changes[:SHOWN_CHANGES]
    ]
    columns = [Column("List", "row", safe=code), Column("Change", safe=prose)]
    lists = Table(columns, rows, numbers=0, label="#lists")
    return [*blocks, Section("lists", "Lists", "how they begin", [changed, lists, *more])]


def _place(case: CaseResult) -> str:
    return f"{case.file}:{case.line}"


def _table(cases: Sequence[CaseResult], formats: str) -> Table:
    columns = [
        Column("Case", "row", safe=code),
        Column("Caret", formats="markdown html", safe=code),
        Column("Expected", safe=code),
        Column("Result", safe=prose),
    ]
    rows = [
        (
            Cell(_place(case), on_terminal=_cut(_place(case)[::-1], WIDEST_PLACE)[::-1]),
            case.caret,
            Cell(case.directives, on_terminal=_cut(case.directives, WIDEST_DIRECTIVES)),
            Cell("; ".join(case.reasons) or "kept", on_terminal="BROKEN" if case.reasons else "kept"),
        )
        for case in cases
    ]
    return Table(columns, rows, formats=formats, numbers=0, label="Cases", styles={"BROKEN": "bold red"})


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _differences(change: ListChange) -> str:
    if change.base is None or change.new is None:
        return "gone" if change.new is None else f"new: {', '.join(change.new[:SHOWN_PARTS])}"
    base, new = ({text: rank for rank, text in reversed([*enumerate(side, 1)])} for side in (change.base, change.new))
    parts = [f"-{text} ({rank})" for text, rank in sorted(base.items(), key=itemgetter(1)) if text not in new]
    for text, rank in sorted(new.items(), key=itemgetter(1)):
        if text not in base:
            parts.append(f"+{text} ({rank})")
        elif base[text] != rank:
            parts.append(f"{text} ({base[text]} → {rank})")
    more = [f"{len(parts) - SHOWN_PARTS:,} more"] if len(parts) > SHOWN_PARTS else []
    return ", ".join([*parts[:SHOWN_PARTS], *more])
