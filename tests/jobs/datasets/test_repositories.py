"""`ci-eval dataset repositories`: a line for each, which other commands take."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.command import command
from tests.mining.reviews.github import HEAD, GitHub, serve


@pytest.fixture
def github(monkeypatch: pytest.MonkeyPatch) -> Iterator[GitHub]:
    with serve(GitHub()) as known:
        monkeypatch.setenv("GITHUB_API_URL", known.address)
        known.repository_found("o/r", 70)
        known.repository_found("o/copy", 60, fork=True)
        known.repository_found("o/gpl", 50, "GPL-3.0")
        yield known


def test_names_or_specs_go_to_standard_output_and_counts_elsewhere(github: GitHub) -> None:
    code, told, said = command("dataset", "repositories", "--language", "Go")
    assert (code, told) == (0, "o/r\n")
    assert "1 repositories; left out: 1 by fork, 1 by licence" in " ".join(said.split())
    assert command("dataset", "repositories", "--language", "Go", "--specs")[1] == (
        f"git:https://github.com/o/r.git@{HEAD}\n"
    )
    assert command("dataset", "repositories", "--language", "Go", "--any-licence")[1] == "o/r\no/gpl\n"
    assert command("dataset", "repositories", "--language", "Go", "--licence", "GPL-3.0")[1] == "o/gpl\n"


def test_none_is_nothing_to_evaluate(github: GitHub) -> None:
    assert command("dataset", "repositories", "--language", "Go", "--stars", 100)[0] == 3


def test_a_licence_and_any_licence_exclude_each_other(github: GitHub) -> None:
    assert command("dataset", "repositories", "--language", "Go", "--licence", "MIT", "--any-licence")[0] == 2
