"""The tables about queries."""

from __future__ import annotations

from ci_eval.model import Kind, Properties
from ci_eval.rendering.querytables import PAPER, tables
from ci_eval.statistics.querying import Cases


def test_the_papers_tables_are_made_of_other_data() -> None:
    cases = Cases()
    for number, (scenario, evolution, change) in enumerate((("NEW", "NEW", "0+2"), ("1|2", "-M+dD", "3-2+1"))):
        for strategy, f1 in (("REAL", 0.25), ("REAL*", 0.75)):
            properties = Properties(
                kind=Kind.RECORD, package="T", strategy=strategy, scenario=scenario, evolution=evolution,
                change=change, case=number,
            )  # fmt: skip
            cases.add("a", "a", properties, f1)
    figures = cases.figures({"evaluated": 2, "unchanged": 1})
    assert figures
    queries, scenarios, contexts, optimism, types = tables(figures)
    assert queries.rows[0] == ("0", "0", "1", "0", "0", "0", "0", "1", "50.0%")
    assert queries.note == "Pairs of states: 2 evaluated, 1 unchanged."
    assert scenarios.columns == ("Strategy", "ALL", "NEW", "0|1", "0|2+", "1|2", "N|3+", "M-1|M")
    assert [row[:3] for row in scenarios.rows[:2]] == [("REAL*", "75.0%", "75.0%"), ("REAL", "25.0%", "25.0%")]
    assert [row[0] for row in scenarios.rows[2:]] == ["cases", "share", "share in the paper"]
    assert contexts.rows[-2] == ("share", "50.0%", "0.0%", "0.0%", "0.0%", "50.0%")
    assert optimism.rows[0][:4] == ("REAL* - REAL", "ALL", "2", "+50.00 pp")
    assert types.rows == (("T", "2", "75.0%", "25.0%"),)
    assert all(len(row) == len(each.columns) for each in tables(figures) for row in each.rows)


def test_the_papers_shares_add_up() -> None:
    scenarios = [share for name, share in PAPER.items() if "|" in name or name == "NEW"]
    assert abs(sum(scenarios) - 1) < 1e-9
    assert abs(sum(PAPER.values()) - sum(scenarios) + PAPER["NEW"] - 1) < 2e-3
