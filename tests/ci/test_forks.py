"""Pull requests from forks, whose branches are called the same: executed, each with a comment of its own."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.ci.stand_ins import OURS, ROOT, GitHub, github
from tests.projects import GREETER, write

pytestmark = [pytest.mark.engine, pytest.mark.registry, pytest.mark.needs("go", "node", "npm")]

FORKS = {8: ("stranger", 80), 9: ("other", 90)}
"""Number of the pull request → who opened it, and the run that evaluates it."""


def git(folder: Path, *arguments: str) -> str:
    argv = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
    return subprocess.run(argv, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def proposed(hub: GitHub, number: int, owner: str) -> dict[str, Any]:
    """The event of a pull request from a fork; ours has its merge checked out, as GitHub makes it."""
    ours, fork = hub.repository(OURS), hub.repository(f"{owner}/ci-eval")
    git(ours, "checkout", "-q", "main")
    git(hub.folder, "clone", "-q", str(ours), str(fork))
    git(fork, "checkout", "-q", "-b", "patch-1")
    (fork / "project" / f"{owner}.py").write_text("one = 1\nprint(one)\n")
    git(fork, "add", "-A")
    git(fork, "commit", "-q", "-m", "a change")
    git(ours, "checkout", "-q", "--detach")
    git(ours, "fetch", "-q", str(fork), "patch-1")
    git(ours, "merge", "-q", "--no-ff", "-m", "the merge", "FETCH_HEAD")
    head = {"sha": git(fork, "rev-parse", "HEAD"), "ref": "patch-1", "repo": {"full_name": f"{owner}/ci-eval"}}
    base = {"sha": git(ours, "rev-parse", "main"), "ref": "main", "repo": {"full_name": OURS}}
    return {"number": number, "pull_request": {"number": number, "base": base, "head": head}}


@pytest.fixture(scope="module")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[GitHub, dict[int, dict[str, Any]]]]:
    """Two pull requests, evaluated without any token: what needs none can do no harm with one that only reads."""
    folder = tmp_path_factory.mktemp("github")
    project = write(folder / "p", main__py=GREETER)
    config: dict[str, object] = {"language": "python", "engine": "words", "project": "path:new/project"}
    with github(folder, {"python": config}, project, {}) as hub:
        events = {}
        for number, (owner, run) in FORKS.items():
            events[number] = proposed(hub, number, owner)
            code, log = hub.run("pull-request", run, event="pull_request", payload=events[number], token="")
            assert code == 0, log
            # Later tests comment on them.
            assert not hub.services.comments
        git(hub.repository(OURS), "checkout", "-q", "main")
        yield hub, events


def test_a_fork_is_evaluated_without_a_token(
    forked: tuple[GitHub, dict[int, dict[str, Any]]],
) -> None:
    hub, _ = forked
    for number, (_, run) in FORKS.items():
        assert hub.names(run) == {"comparison"}
        assert (hub.artifact(run, "comparison") / "number.txt").read_text() == f"{number}\n"
        assert "RecallAt1" in (hub.artifact(run, "comparison") / "report.md").read_text()


def test_each_fork_is_answered_where_it_asked(forked: tuple[GitHub, dict[int, dict[str, Any]]]) -> None:
    hub, events = forked
    hub.services.heads |= {number: event["pull_request"]["head"]["sha"] for number, event in events.items()}
    hub.services.comments.clear()
    for number, (owner, run) in FORKS.items():
        head = events[number]["pull_request"]["head"]
        about = {"id": run, "event": "pull_request", "head_sha": head["sha"], "head_branch": head["ref"]}
        code, log = hub.run("comment", run + 1, event="workflow_run", payload={"workflow_run": about})
        assert code == 0, (owner, log)
    assert sorted(comment["issue"] for comment in hub.services.comments.values()) == [8, 9]


def rendered(group: str, values: Mapping[str, Any]) -> str:
    """A concurrency group, with what `github.event` holds."""

    def value(found: re.Match[str]) -> str:
        place: Any = values
        for key in found[1].split("."):
            place = place[key]
        return str(place)

    return re.sub(r"\$\{\{ github\.event\.([\w.]+) \}\}", value, group)


@pytest.mark.parametrize("workflow", ["pull-request", "comment"])
def test_forks_with_equal_names_of_branches_do_not_cancel_each_other(workflow: str) -> None:
    group = yaml.safe_load((ROOT / ".github" / "workflows" / f"{workflow}.yml").read_text())["concurrency"]["group"]
    heads = {number: {"sha": str(number) * 40, "ref": "patch-1"} for number in FORKS}
    groups = {
        rendered(group, {"pull_request": {"number": number, "head": head}, "workflow_run": {"head_sha": head["sha"]}})
        for number, head in heads.items()
    }
    assert len(groups) == len(FORKS)
    assert not any("github." in each for each in groups)
