"""What engines were told, in words."""

from __future__ import annotations

import pytest

from ci_eval.core.model.engine.sent import Condition, MachineState, SentConfiguration
from ci_eval.core.rendering.engine.conditions import busy_text, conditions_line, sentence, told_rows


@pytest.mark.parametrize(
    ("name", "base", "new", "said"),
    [
        ("autoImport", "off", None, "base was told `autoImport: off`, new was not"),
        ("settings.a", None, "1", "new was told `settings.a: 1`, base was not"),
        ("limits.timeout", "10.0", "5.0", "base was told `limits.timeout: 10.0`, new `limits.timeout: 5.0`"),
        (
            "dependencies",
            "told",
            "not told",
            "base was told where the packages are that the project needs, new was not",
        ),
    ],
)
def test_a_difference_is_said_of_both_sides(name: str, base: str | None, new: str | None, said: str) -> None:
    assert sentence([Condition(name=name, base=base, new=new)]) == said


def test_of_many_differences_the_sentence_names_three() -> None:
    many = [Condition(name=f"settings.{number}", base="x" * 500, new=None) for number in range(5)]
    said = conditions_line(many, only_told=True)
    assert said.startswith(
        "The engine is the same, the runs differ only in what it was told: base was told `settings.0"
    )
    assert said.endswith("and 2 more, which the report lists.")
    assert len(said) < 700
    assert not conditions_line([], only_told=False)


def test_a_report_has_a_row_for_each_part_that_there_is() -> None:
    sent = SentConfiguration(
        arguments=("serve", "-x"), settings={"a": {"b": 1}}, limits={"timeout": 10.0}, auto_import="on"
    )
    rows = dict(told_rows(sent))
    assert rows == {
        "Auto-import": "on",
        "Dependencies": "none",
        "Arguments": "serve -x",
        "Settings": '{"a":{"b":1}}',
        "Limits": "timeout 10",
    }
    assert told_rows(None) == []


def test_of_a_busy_machine_a_sentence_says_so_and_why() -> None:
    busy = MachineState(load=14.2, pressure=0.93, cores=2, busy=True)
    assert busy_text(busy).startswith(
        "The machine was busy (load 14.2 on 2 cores, for 93% of the time something waited"
    )
    assert not busy_text(MachineState(load=0.1, cores=2))
