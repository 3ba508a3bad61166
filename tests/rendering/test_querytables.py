"""The tables about queries and prompts."""

from __future__ import annotations

from msgspec.structs import replace

from ci_eval.core.model import EngineInfo, Evaluation, Kind, MetricInfo, ProjectInfo, Properties, SessionScore, Status
from ci_eval.core.model.report import PromptFigures, PromptSpread
from ci_eval.core.model.units import NOTHING
from ci_eval.core.statistics.querying import Cases
from ci_eval.rendering.blocks import Table
from ci_eval.rendering.querytables import PAPER, tables

EVALUATION = Evaluation(
    title="t",
    workspace="w",
    engine=EngineInfo(name="oracle", version="1"),
    project=ProjectInfo(spec="p", name="p", revision="", checksum=""),
    completion_type="BASIC",
    client="editor",
    language="python",
    seed=0,
    started="",
    environment={},
    population=0,
    filters={},
    errors=(),
    metrics=(),
)


def names(table: Table) -> tuple[str | None, ...]:
    return tuple(column.in_html for column in table.columns)


def test_there_are_none_where_nothing_was_asked_about_objects() -> None:
    assert tables(EVALUATION) == []


def test_a_dataset_of_several_prompts_has_a_table_of_their_figures() -> None:
    spread = PromptSpread(
        values={"en-1": 0.5, "en-2": 0.25}, low=0.25, high=0.5, deviation=0.177, by_chance=None
    )  # fmt: skip
    figures = PromptFigures(sessions={"en-1": 3, "en-2": 2}, metrics={"ChrF": spread})
    info = MetricInfo(name="ChrF", summary="", unit="share", better="higher", shown=True)
    (table,) = tables(replace(EVALUATION, prompts=figures, metrics=(info,)))
    assert names(table) == ("Prompt", "sessions", "ChrF")
    assert table.rows == [
        ("en-1", "3", "50.0%"),
        ("en-2", "2", "25.0%"),
        ("standard deviation", "", "17.7%"),
        ("if prompts were alike", "", NOTHING),
    ]


def test_the_papers_tables_are_made_of_other_data() -> None:
    cases = Cases()
    for number, (scenario, evolution, change) in enumerate((("NEW", "NEW", "0+2"), ("1|2", "-M+dD", "3-2+1"))):
        for strategy, f1 in (("REAL", 0.25), ("REAL*", 0.75)):
            properties = Properties(
                kind=Kind.RECORD, package="T", strategy=strategy, scenario=scenario, evolution=evolution,
                change=change, case=number,
            )  # fmt: skip
            session = SessionScore(
                id="s", file="a", offset=0, expected_text="x", properties=properties, status=Status.OK
            )
            cases.add("a", "a", session, f1)
    engine = EngineInfo(name="recommender", version="1", packages={"pbn model": "of 9 usages"})
    found = replace(EVALUATION, queries=cases.figures({"evaluated": 2, "unchanged": 1}), engine=engine)
    queries, scenarios, contexts, optimism, types = tables(found)
    assert queries.rows[0] == ("0", "0", "1", "0", "0", "0", "0", "1", "50.0%")
    assert queries.note == "pairs of states: 2 evaluated, 1 unchanged; pbn model: of 9 usages"
    assert names(scenarios) == ("Strategy", "ALL", "NEW", "0|1", "0|2+", "1|2", "N|3+", "M-1|M")
    assert [row[:3] for row in scenarios.rows[:2]] == [("REAL*", "75.0%", "75.0%"), ("REAL", "25.0%", "25.0%")]
    assert [row[0] for row in scenarios.rows[2:]] == ["cases", "share", "share in the paper"]
    assert contexts.rows[-2] == ("share", "50.0%", "0.0%", "0.0%", "0.0%", "50.0%")
    assert optimism.rows[0][:4] == ("REAL* - REAL", "ALL", "2", "+50.00 pp")
    assert types.rows == [("T", "2", "75.0%", "25.0%")]
    assert all(len(row) == len(each.columns) for each in tables(found) for row in each.rows)


def test_the_papers_shares_add_up() -> None:
    scenarios = [share for name, share in PAPER.items() if "|" in name or name == "NEW"]
    assert abs(sum(scenarios) - 1) < 1e-9
    assert abs(sum(PAPER.values()) - sum(scenarios) + PAPER["NEW"] - 1) < 2e-3
