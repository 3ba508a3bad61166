"""The document of the causes of misses: what to fix first."""

from __future__ import annotations

from ci_eval.core.filters import label
from ci_eval.core.model.report import Causes, Cluster, MissExample
from ci_eval.core.model.units import amount
from ci_eval.core.rendering.blocks import Block, Cell, Column, Section, Sentence, Table, Warned
from ci_eval.core.rendering.figures import format_count
from ci_eval.core.rendering.markdowntext import code, prose

SHOWN_ON_TERMINAL = 8
"""The number of clusters on the terminal."""
NOTE = "Gain: the points won at most if the cause was gone. Certainty: that it is a fault rather than taste."


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
        blocks.append(Warned(f"Which suggestions can be there: {', '.join(unknown)}."))
    if not causes.clusters:
        return [*blocks, Sentence("Nothing was lost: there is nothing to fix.")]
    short = _clusters(causes, causes.clusters[:SHOWN_ON_TERMINAL], "terminal")
    whole = _clusters(causes, causes.clusters, "markdown html")
    section = Section("clusters", "Clusters", "by the share of the lost points times certainty", [short, whole])
    return [*blocks, section, Section("examples", "Examples", "ci-eval show prints one", [_examples(causes)])]


def _clusters(causes: Causes, clusters: tuple[Cluster, ...], formats: str) -> Table:
    columns = [
        Column("Cause", "row"),
        Column("Kind", safe=prose),
        Column("First", safe=prose),
        Column("Gain", "number nowrap", "points of RecallAt1 at most"),
        Column("Share", "number", "of the lost points of RecallAt1"),
        Column("MRR gain", "number", "points of MeanReciprocalRank at most", formats="markdown html"),
        Column("MRR share", "number", "of the lost points of MeanReciprocalRank", formats="markdown html"),
        Column("Certainty", "number", "that it is a fault rather than taste"),
        Column("Sessions", "number"),
        Column("Defined in", formats="markdown html"),
        *(Column(f"{title} has it", "number", safe=prose) for title in causes.others),
    ]
    rows = [
        (
            cluster.cause,
            _first_kinds(cluster.kind),
            cluster.first,
            f"{cluster.gain * 100:.1f} points",
            f"{cluster.share:.1%}",
            f"{cluster.mrr_gain:.3f}",
            f"{cluster.mrr_share:.1%}",
            f"{cluster.certainty:.0%}",
            f"{cluster.sessions:,}",
            ", ".join(f"{place} {count:,}" for place, count in cluster.defined.items()),
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
        note=more + NOTE,
    )


def _first_kinds(kinds: str) -> str:
    first, *others = kinds.lower().replace("_", " ").split(", ")
    return f"{first} and {len(others)} more" if others else first


def _examples(causes: Causes) -> Table:
    columns = [
        Column("Cause", "row"),
        Column("Place", safe=code),
        Column("Expected", safe=code),
        Column("Rank", "number"),
        Column("List begins with", safe=code),
        Column("Session", safe=code),
    ]
    rows = [
        _example_row(cluster, example, number)
        for cluster in causes.clusters
        for number, example in enumerate(cluster.examples)
    ]
    return Table(columns, rows, formats="markdown html", label="#examples")


def _example_row(cluster: Cluster, example: MissExample, number: int) -> list[str | Cell]:
    what = f"{cluster.cause} ({_first_kinds(cluster.kind)}, {cluster.first})"
    return [
        "" if number else what,
        f"{example.file}:{example.line}",
        example.expected,
        "absent" if example.rank is None else f"{example.rank:,}",
        ", ".join(example.ahead),
        example.session,
    ]
