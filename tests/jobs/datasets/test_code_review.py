"""`ci-eval dataset code-review`: from review comments to a file of records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from ci_eval.plugins.mining.reviews import verdicts as human
from tests.adapters.endpoints.scripted import says
from tests.adapters.endpoints.scripted import serve as endpoint
from tests.command import command
from tests.mining.reviews.github import GitHub, serve


@pytest.fixture
def github(monkeypatch: pytest.MonkeyPatch) -> Iterator[GitHub]:
    with serve(GitHub()) as known:
        monkeypatch.setenv("GITHUB_API_URL", known.address)
        monkeypatch.setenv("GITHUB_TOKEN", "ghp_secret")
        known.comment("Why?")
        known.comment("Too short.", line=11)
        yield known


def made(tmp_path: Path, *arguments: object) -> tuple[int, str, str]:
    return command("dataset", "code-review", "--github", "o/r", "--output", tmp_path / "r.jsonl", *arguments)


def test_records_are_written_and_the_token_is_told_to_nobody_but_github(tmp_path: Path, github: GitHub) -> None:
    code, told, said = made(tmp_path)
    assert code == 0
    lines = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert [line["references"] for line in lines] == [["Why?"], ["Too short."]]
    assert told.splitlines()[-1] == str(tmp_path / "r.jsonl")
    assert "ghp_secret" not in told + said + (tmp_path / "r.jsonl").read_text()
    assert {headers["authorization"] for _, headers in github.asked} == {"Bearer ghp_secret"}


def test_what_people_reject_is_left_out_of_the_next_run(tmp_path: Path, github: GitHub) -> None:
    review = tmp_path / "verdicts.csv"
    assert "2 records wait for a verdict" in made(tmp_path, "--review", review)[2]
    rejected = next(name for name, row in human.read(review).items() if row["comment"] == "Why?")
    review.write_text(review.read_text().replace(f"{rejected},,", f"{rejected},reject,"))
    assert made(tmp_path, "--review", review)[0] == 0
    (line,) = (tmp_path / "r.jsonl").read_text().splitlines()
    assert json.loads(line)["references"] == ["Too short."]


def test_records_that_must_be_accepted_wait_in_the_table(tmp_path: Path, github: GitHub) -> None:
    code, told, _ = made(tmp_path, "--review", tmp_path / "v.csv", "--only-accepted")
    assert code == 3
    assert "- not accepted yet 2" in " ".join(told.split())
    assert len(human.read(tmp_path / "v.csv")) == 2


def test_a_record_is_accepted_by_all_reviewers_and_their_agreement_is_printed(tmp_path: Path, github: GitHub) -> None:
    github.comment("Why not?", line=6)
    paths = [tmp_path / "ann.csv", tmp_path / "bo.csv"]
    options = [option for path in paths for option in ("--review", path)]
    assert "3 records wait for a verdict" in made(tmp_path, *options)[2]
    verdicts = {"Why?": "accept accept", "Too short.": "accept reject", "Why not?": "reject reject"}
    for number, path in enumerate(paths):
        rows = human.read(path)
        for row in rows.values():
            row["verdict"] = verdicts[row["comment"]].split()[number]
        human.write(path, rows, ())
    code, told, _ = made(tmp_path, *options, "--only-accepted")
    assert code == 0
    (line,) = (tmp_path / "r.jsonl").read_text().splitlines()
    assert json.loads(line)["references"] == ["Why?"]
    printed = " ".join(told.split())
    assert "- reviewers disagree 1" in printed
    # Two of three alike; by chance (2 * 1 + 1 * 2) / 9.
    assert "ann, bo 3 66.7% 0.40 - 1 accept/reject" in printed.replace("—", "-")


def keeps(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    """A model that drops what only asks why."""
    asked = body["messages"][0]["content"]
    says(f"As I see it.\nVERDICT: {'drop' if 'Why?' in asked else 'keep'}")(handler, body)


def test_a_model_leaves_out_what_the_change_alone_does_not_explain(tmp_path: Path, github: GitHub) -> None:
    with endpoint(keeps) as model:
        (tmp_path / "judge.yaml").write_text(f"judge: {{endpoint: '{model.address}', model: m}}\n")
        code, told, _ = made(tmp_path, "--judge", tmp_path / "judge.yaml")
    assert code == 0
    (line,) = (tmp_path / "r.jsonl").read_text().splitlines()
    assert json.loads(line)["references"] == ["Too short."]
    assert "1 records" in told


def test_a_configuration_without_a_judge_is_refused(tmp_path: Path, github: GitHub) -> None:
    (tmp_path / "none.yaml").write_text("language: go\n")
    code, _, said = made(tmp_path, "--judge", tmp_path / "none.yaml")
    assert (code, "has no `judge:`" in said) == (2, True)


def test_a_repository_that_does_not_let_its_code_be_passed_on_is_left_out(tmp_path: Path, github: GitHub) -> None:
    github.licence = None
    code, _, warned = made(tmp_path)
    assert code == 3
    assert "its licence is not known" in " ".join(warned.split())
    assert made(tmp_path, "--any-licence")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--github", "https://github.com/o/r"), "is not a repository: write OWNER/REPOSITORY"),
        (("--splits", 80, 10, 20), "must add up to 100"),
        (("--only-accepted",), "needs --review"),
    ],
)
def test_what_does_not_fit_is_refused(
    tmp_path: Path, github: GitHub, arguments: tuple[object, ...], message: str
) -> None:
    code, _, said = made(tmp_path, *arguments)
    assert code == 2
    assert message in " ".join(said.split())
