"""None"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from urllib.parse import parse_qs, urlsplit

import pytest

from ci_eval.ci.repository import Repository
from ci_eval.jobs.workflows import posts
from tests.ci.conftest import NIGHT
from tests.ci.github_api import Services
from tests.ci.github_description import (
    FILE,
    body,
    examples,
    mistakes,
    operation,
    parameters,
    response,
)
from tests.ci.github_rest import EXAMPLES, REPOSITORY, ROUTES, matching

pytestmark = [pytest.mark.registry, pytest.mark.needs("npm")]
ISSUE = {"title": "t", "body": "b"}
ANSWERS: list[tuple[str, str, int, dict[str, Any]]] = [
    ("GET", "", 200, {}),
    ("GET", "/actions/artifacts?name=x", 200, {}),
    ("GET", "/actions/artifacts?per_page=1", 200, {}),
    ("GET", "/actions/artifacts/NUMBER/zip", 302, {}),
    ("GET", "/actions/runs/9", 200, {}),
    ("GET", "/actions/runs/9/artifacts?name=x&per_page=100", 200, {}),
    ("GET", "/actions/runs/9/jobs", 200, {}),
    ("GET", "/actions/workflows/night.yml/runs?branch=main&status=completed", 200, {}),
    ("GET", "/pulls/7", 200, {}),
    ("GET", "/pulls/8", 404, {}),
    ("GET", "/issues?state=all&creator=github-actions[bot]", 200, {}),
    ("POST", "/issues", 201, ISSUE),
    ("PATCH", "/issues/1", 200, {"state": "closed"}),
    ("PATCH", "/issues/9", 404, {"state": "closed"}),
    ("GET", "/issues/7/comments", 200, {}),
    ("POST", "/issues/7/comments", 201, {"body": "b"}),
    ("PATCH", "/issues/comments/1", 200, {"body": "b"}),
    ("GET", "/pages", 200, {}),
]


@pytest.fixture
def known(github: Services) -> Services:
    """Two artifacts and jobs of run 9, pull request 7 with a comment, an issue, and a site."""
    github.workflows[9], github.heads[7] = NIGHT, "0" * 40
    github.site.mkdir()
    github.jobs[9] = [("a", "failure"), ("b", None)]
    github.issue(**ISSUE)
    github.commented(7, body="c")
    (github.artifacts / "9").mkdir()
    for name in ("x", "y"):
        with zipfile.ZipFile(github.artifacts / "9" / f"{name}.zip", "w") as archive:
            archive.writestr("number.txt", "7")
            archive.writestr("report.md", "text")
    return github


@pytest.mark.parametrize(("method", "template"), ROUTES)
def test_every_route_and_parameter_of_the_stand_in_is_one_of_github(method: str, template: str) -> None:
    route, found = ROUTES[method, template], operation(method, template)
    assert found
    assert route.query <= set(parameters(found, "query"))
    assert route.body <= set(body(found).get("properties", {}))
    assert set(body(found).get("required", [])) <= route.body


@pytest.mark.parametrize(("method", "path", "status", "sent"), ANSWERS, ids=lambda value: str(value)[:40])
def test_every_answer_of_the_stand_in_is_one_that_github_describes(
    known: Services, method: str, path: str, status: int, sent: dict[str, Any]
) -> None:
    path = path.replace("NUMBER", str(next(iter(known.listed("9")))["id"]))
    answered, data, headers = known.answer(method, f"/repos/o/r{path}", json.dumps(sent).encode())
    found = operation(*route_of(method, path))
    assert found
    schema = response(found, status)
    assert answered == status
    assert schema is not None
    assert mistakes(json.loads(data), schema) == [] if data else headers["location"]


def route_of(method: str, target: str) -> tuple[str, str]:
    found = matching(method, f"/repos/o/r{urlsplit(target).path}")
    assert found
    return found[0]


def test_an_answer_of_each_route_is_looked_at() -> None:
    assert {route_of(method, path.replace("NUMBER", "1")) for method, path, *_ in ANSWERS} == set(ROUTES)


def asked(known: Services, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[tuple[str, str, bytes]]:
    """All that we ask GitHub for: of artifacts, of a red night and a green one, and for two comments."""
    answering = Mock(side_effect=known.answer)
    monkeypatch.setattr(known, "answer", answering)
    repository = Repository(os.environ)
    newest = repository.artifacts("x")[0]
    folder = repository.fetch(newest, tmp_path / "x")
    assert repository.is_of_this_workflow(newest)
    assert repository.find_artifact(9, "x") == newest
    assert list(repository.earlier_runs()) == []
    for result in ("failure", "success"):
        assert "issue 2" in posts.report_result(repository, result, 9)
    for _ in range(2):
        assert "the comment on #7" in posts.post(repository, folder, "0" * 40)
    yield from (call.args for call in answering.call_args_list if call.args[1].startswith("/repos/"))


def test_every_request_of_ours_is_one_that_github_describes(
    known: Services, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen = set()
    for method, target, data in asked(known, monkeypatch, tmp_path):
        route = route_of(method, target.removeprefix("/repos/o/r"))
        found = operation(*route)
        assert found
        for name, values in parse_qs(urlsplit(target).query).items():
            schema = parameters(found, "query")[name]
            assert mistakes(int(values[0]) if schema["type"] == "integer" else values[0], schema) == []
        assert mistakes(json.loads(data or b"{}"), body(found)) == []
        seen.add(route)
    assert seen == set(ROUTES)


def test_what_the_answers_are_made_of_are_the_examples_of_the_description() -> None:
    assert json.loads(FILE.read_text()) == examples()


def test_a_parameter_that_github_does_not_have_is_refused(known: Services) -> None:
    assert known.answer("GET", "/repos/o/r/issues?author=x", b"")[0] == 422
    assert known.answer("POST", "/repos/o/r/issues", b'{"titel": "t"}')[0] == 422


@pytest.mark.parametrize("planted", [{"title": None}, {"number": "1"}, {"user": "github-actions[bot]"}, {"state": 1}])
def test_a_planted_mistake_in_an_answer_is_found(planted: dict[str, Any]) -> None:
    found = operation("GET", f"{REPOSITORY}/issues")
    assert found
    schema = response(found, 200)
    assert schema
    assert mistakes([EXAMPLES["issue"]], schema) == []
    assert mistakes([{**EXAMPLES["issue"], **planted}], schema)
    assert mistakes([{name: each for name, each in EXAMPLES["issue"].items() if name not in planted}], schema)
