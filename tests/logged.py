"""Runs that log, and what they logged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ci_eval.core.model import Session
from ci_eval.core.workspace import Workspace
from tests.command import command
from tests.needs import need_module
from tests.projects import GREETER


def run(*arguments: object) -> tuple[int, str, str]:
    """Return the exit code of a command and what it printed. One worker does its work if it does not say how many."""
    asks = arguments[0] in {"evaluate", "generate-ml-logs"} and "--jobs" not in arguments
    return command(*arguments, *(("--jobs", 1) if asks else ()))


def lines(number: int) -> str:
    """Code in which what is typed can be learned: the newest name is the likeliest."""
    body = "".join(f"    value_{i} = make_{number}(value_{i - 1})\n    print(value_{i})\n" for i in range(1, 9))
    return f"{GREETER}\ndef make_{number}(value_0):\n{body}    return value_0\n"


def sides(folder: Path) -> list[Any]:
    """Return the logs for training and for validation as tables of pandas."""
    pandas = need_module("pandas")
    tables = [pandas.read_parquet(folder / "logs" / f"{side}.parquet") for side in ("train", "validation")]
    return [_plain(table, pandas.CategoricalDtype) for table in tables]


def _plain(table: Any, categorical: type) -> Any:
    """With texts for categories, whose order depends on how the logs were put together."""
    return table.astype({name: "object" for name in table.columns if isinstance(table[name].dtype, categorical)})


def sessions_of(folder: Path) -> list[Session]:
    """All of a workspace."""
    return [each for _, sessions in Workspace.open(folder).sessions(Session) for each in sessions]
