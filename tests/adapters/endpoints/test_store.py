"""The store of answers."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from ci_eval.core.base.errors import ConfigError, PreparationError
from ci_eval.core.model.settings import PriceConfig
from ci_eval.plugins.adapters.endpoints.messages import Reply
from ci_eval.plugins.adapters.endpoints.store import Answers, Request, compute_cost

WHEN = "2026-11-22T08:00:00+00:00"


def question(number: int) -> Request:
    return Request(address="https://host/v1", body={"prompt": f"{number} \u2028 \U0001f600", "temperature": 0.1})


def store(path: Path, **answers: str) -> Answers:
    """With an answer for each question `qN`."""
    made = Answers(path)
    for name, text in answers.items():
        made.keep(question(int(name[1:])), Reply(text=text, last_token=1.5), WHEN)
    return made


def test_an_export_taken_elsewhere_gives_the_same_export(tmp_path: Path) -> None:
    here, there = store(tmp_path / "a", q1="one", q2="\ttwo\n"), Answers(tmp_path / "b")
    lines = list(here.export_lines())
    assert there.take(lines, "x") == 2
    assert list(there.export_lines()) == lines
    assert there.find(question(2)) == Reply(text="\ttwo\n", last_token=1.5)


def test_stores_of_several_machines_are_merged_and_what_is_there_stays(tmp_path: Path) -> None:
    merged = store(tmp_path / "a", q1="one")
    for number, other in enumerate(
        (store(tmp_path / "b", q1="ONE", q2="two"), store(tmp_path / "c", q2="TWO", q3="3"))
    ):
        assert merged.take(other.export_lines(), "x") == [1, 1][number]
    assert [getattr(merged.find(question(n)), "text", None) for n in (1, 2, 3, 4)] == ["one", "two", "3", None]


@pytest.mark.parametrize(
    "bad", [b"nothing\n", b'{"request": {}}\n', b"\xff\n", b'{"request": {"address": 5, "body": {}}, "reply": {}}\n']
)
def test_of_a_file_with_a_bad_line_nothing_is_taken(tmp_path: Path, bad: bytes) -> None:
    lines = [*store(tmp_path / "a", q1="one").export_lines(), bad]
    empty = Answers(tmp_path / "b")
    with pytest.raises(ConfigError, match="file, line 2 is not a stored answer"):
        empty.take(lines, "file")
    assert list(empty.export_lines()) == []


def test_the_order_in_which_a_body_is_written_makes_no_other_question(tmp_path: Path) -> None:
    kept = store(tmp_path / "a")
    kept.keep(Request(address="a", body={"x": 1, "y": [1, {"b": 2, "a": 3}]}), Reply(text="one"), WHEN)
    assert kept.find(Request(address="a", body={"y": [1, {"a": 3, "b": 2}], "x": 1})) is not None
    assert kept.find(Request(address="a", body={"y": [1, {"a": 3, "b": 2}], "x": 1}, repeat=1)) is None


def test_a_file_that_is_no_store_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"something else, and long enough to be looked at by whoever reads it" * 100)
    with pytest.raises(PreparationError, match=r"cannot use .*a: "):
        Answers(tmp_path / "a")


def test_rows_are_plain_text(tmp_path: Path) -> None:
    store(tmp_path / "a", q1="one").close()
    connection = sqlite3.connect(tmp_path / "a")
    types = connection.execute("SELECT typeof(key), typeof(request), typeof(reply), typeof(asked) FROM answers")
    assert set(types.fetchone()) == {"text"}
    connection.close()


def test_cached_and_thought_tokens_have_prices_of_their_own() -> None:
    reply = Reply(prompt_tokens=1000, cached_tokens=400, answer_tokens=100, thought_tokens=60)
    plain = PriceConfig(input=10.0, output=100.0)
    assert compute_cost(reply, plain) == pytest.approx(0.02)
    assert compute_cost(reply, PriceConfig(input=10.0, output=100.0, cached=1.0)) == pytest.approx(0.0164)
    assert compute_cost(reply, PriceConfig(input=10.0, output=100.0, thoughts=0.0)) == pytest.approx(0.014)
