"""The file `report.md` over several comparisons or a history: the ranking, the pairs, and where the trend changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ci_eval.core.base import atomic
from ci_eval.core.model import Overview, Ranking
from ci_eval.core.rendering.contract import OverviewReporter
from ci_eval.core.rendering.figures import amount, intervals
from ci_eval.core.rendering.ladder import label
from ci_eval.core.rendering.markdowntext import code, prose, table
from ci_eval.core.rendering.trendtext import name_trends, trend_lines
from ci_eval.core.rendering.verdicts import PAIRS_JUDGED, pair_text, said


class OverviewMarkdown:
    """A reporter that writes report.md for GitHub."""

    name = "markdown"

    def write(self, overview: Overview, folder: Path) -> Path:
        """Write report.md below `folder`; see `OverviewReporter.write`."""
        parts = [f"# {prose(overview.title)}"]
        if overview.ranking:
            parts += _ranking(overview.ranking)
        if overview.comparisons:
            parts.append(
                "\n".join(
                    f"- {prose(title)}: {code(place + '/report.md')}" for title, place in overview.comparisons.items()
                )
            )
        for name, trend in zip(name_trends(overview), overview.trends, strict=True):
            parts += [f"**{prose(name)}**", *trend_lines(trend)]
        if overview.trend:
            parts += trend_lines(overview.trend)
        return atomic.write(folder / "report.md", "\n\n".join(parts).encode("utf-8", "backslashreplace") + b"\n")


def _ranking(ranking: Ranking) -> Iterator[str]:
    infos = {info.name: info for info in ranking.metrics}
    yield (
        f"{ranking.sessions:,} sessions in {ranking.files:,} files are in all {len(ranking.sides)} evaluations "
        f"({prose(label(ranking.headline))})."
    )
    columns = (
        "",
        "Evaluation",
        *(f">{name}" for name in (*ranking.declared, *ranking.times[0])),
        ">better than",
        ">worse than",
    )
    rows = (
        (
            str(place + 1),
            prose(side.title),
            *(
                f"{amount(figures[name].value, infos[name].unit)} ({intervals(figures[name], infos[name].unit)})"
                for name in ranking.declared
            ),
            *(amount(estimate.value, infos[name].unit) for name, estimate in ranking.times[place].items()),
            str(ranking.ahead[place]),
            str(ranking.behind[place]),
        )
        for place, (side, figures) in enumerate(zip(ranking.sides, ranking.figures, strict=True))
    )
    yield from (f"> {prose(warning)}" for warning in ranking.warnings)
    yield table("Ranking", columns, rows)
    for name in ranking.pairs:
        pairs = (
            (
                prose(side.title),
                *(
                    f"{said(difference.verdict)} {pair_text(difference, infos[name])}" if difference else ""
                    for difference in ranking.pairs[name][row]
                ),
            )
            for row, side in enumerate(ranking.sides)
        )
        shown = table("", (f"{name}: row - column", *(prose(side.title) for side in ranking.sides)), pairs)
        title = f"{prose(name)}, each against each in this project ({PAIRS_JUDGED})"
        yield f"<details><summary>{title}</summary>\n\n{shown}\n\n</details>"


REPORTER: OverviewReporter = OverviewMarkdown()
