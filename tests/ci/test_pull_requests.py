"""Pull requests, of a fork and of a repository with an engine of its own: executed, with the comment."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pytest
import yaml

from tests.ci.documentation import documented
from tests.ci.expressions import evaluate, jobs
from tests.ci.stand_ins import OURS, ROOT, THEIRS, GitHub, github
from tests.ci.test_runs import CHECKOUT, UPLOAD
from tests.command import command
from tests.projects import GREETER, write

Test = TypeVar("Test", bound=Callable[..., None])
FORKS = (8, 9)
"""Numbers of pull requests whose branches are called the same."""
SERVER = "#!/usr/bin/env python3\n" + (ROOT / "tests" / "adapters" / "lsp" / "server.py").read_text()
MAKEFILE = "server:\n\tmkdir -p build\n\tcp server.py build/server\n\tchmod +x build/server\n"


def executed(test: Test) -> Test:
    """Mark what runs under act, in repositories that one worker makes once."""
    needs = pytest.mark.needs("go", "node", "npm")
    for mark in (pytest.mark.engine, pytest.mark.registry, needs, pytest.mark.xdist_group("pull requests")):
        test = mark(test)
    return test


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
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitHub]:
    """Ours, and another repository with the workflows of the documentation."""
    folder = tmp_path_factory.mktemp("github")
    project = write(folder / "p", **{f"file{i}__py": GREETER + f"x{i} = {i}\nprint(x{i}, Greeter)\n" for i in range(2)})
    config: dict[str, object] = {"language": "python", "engine": "words", "project": "path:new/project"}
    callers = {
        "change": documented("My own engine, built in this repository, on every pull request"),
        # Both engines are the same, of which there is no comment by default.
        "comment": documented("The result as a comment on the pull request") + "    with: {when: always}\n",
        "quiet": documented("The result as a comment on the pull request"),
    }
    with github(folder, {"python": config}, project, callers) as served:
        yield served


@pytest.fixture(scope="module")
def forked(hub: GitHub) -> str:
    """Pull request 8, evaluated by run 80 without any token, and its head: what needs none can do no harm with one that
    only reads."""
    event = proposed(hub, 8, "stranger")
    code, log = hub.run("pull-request", 80, event="pull_request", payload=event, token="")
    git(hub.repository(OURS), "checkout", "-q", "main")
    assert code == 0, log
    assert not hub.services.comments
    return str(event["pull_request"]["head"]["sha"])


@executed
def test_a_fork_is_evaluated_without_a_token(hub: GitHub, forked: str) -> None:
    assert hub.names(80) == {"comparison"}
    assert (hub.artifact(80, "comparison") / "number.txt").read_text() == "8\n"
    assert "RecallAt1" in (hub.artifact(80, "comparison") / "report.md").read_text()


def commented(hub: GitHub, run: int, of: int, head: str, workflow: str = "comment") -> tuple[int, str]:
    ended = {"id": of, "event": "pull_request", "head_sha": head, "head_branch": "patch-1"}
    return hub.run(workflow, run, event="workflow_run", repository=THEIRS, payload={"workflow_run": ended})


@executed
def test_a_fork_is_answered_where_it_asked_as_the_documentation_says(hub: GitHub, forked: str) -> None:
    hub.services.heads |= {8: forked}
    hub.services.comments.clear()
    code, log = commented(hub, 81, 80, forked)
    assert code == 0, log
    ((_, comment),) = hub.services.comments.items()
    assert comment["issue"] == 8
    assert comment["body"].startswith("<!-- ci-eval -->\n")
    assert "RecallAt1" in comment["body"]


@executed
def test_a_change_without_an_effect_is_not_commented(hub: GitHub, forked: str) -> None:
    hub.services.heads |= {8: forked}
    hub.services.comments.clear()
    code, log = commented(hub, 82, 80, forked, "quiet")
    assert code == 0, log
    assert not hub.services.comments


@executed
def test_a_run_that_failed_before_it_compared_is_not_commented(hub: GitHub) -> None:
    hub.services.comments.clear()
    code, log = commented(hub, 54, 49, "1" * 40)
    assert code == 0, log
    assert "nothing is posted" in log
    assert not hub.services.comments


@pytest.mark.registry
@pytest.mark.needs("node", "npm")
@pytest.mark.parametrize(("event", "is_answered"), [("pull_request", True), ("push", False)])
def test_only_the_end_of_a_pull_requests_run_is_commented(event: str, is_answered: bool) -> None:
    github = {"event_name": "workflow_run", "event": {"workflow_run": {"event": event, "id": 80, "head_sha": "1" * 40}}}
    assert bool(evaluate(jobs("comment")["comment"]["if"], github=github)) == is_answered


def test_a_comment_that_is_refused_fails_its_run() -> None:
    assert not [step for step in jobs("comment")["comment"]["steps"] if "continue-on-error" in step]


@executed
@pytest.mark.needs("make")
def test_an_engine_of_the_repository_is_built_and_measured_as_the_documentation_says(hub: GitHub) -> None:
    repository = hub.repository(THEIRS)
    engine = {"command": ["build/server", "--stdio"]}
    config = {"language": "python", "project": "path:project", "engine": engine}
    write(repository / "ci", completion__yaml=yaml.safe_dump(config))
    (repository / "Makefile").write_text(MAKEFILE)
    (repository / "server.py").write_text(SERVER)
    base = hub.commit(THEIRS)
    git(repository, "checkout", "-q", "-b", "forgetful")
    (repository / "server.py").write_text(SERVER.replace(r"\w+", r"\w{7,}"))
    head = hub.commit(THEIRS)
    pull = {"number": 3, "base": {"sha": base, "ref": "main"}, "head": {"sha": head, "ref": "forgetful"}}
    code, log = hub.run(
        "change", 33, event="pull_request", repository=THEIRS, payload={"number": 3, "pull_request": pull}
    )
    git(repository, "checkout", "-q", "main")
    assert code == 0, log
    report = json.loads((hub.artifact(33, "comparison") / "comparison.json").read_text())
    assert (hub.artifact(33, "comparison") / "number.txt").read_text() == "3\n"
    assert report["filters"]["ALL"]["metrics"]["Recall"]["difference"] < 0
    hub.call(THEIRS, "night", documented("A nightly build"))
    code, log = hub.run("night", 34, event="schedule", repository=THEIRS)
    assert code == 0, log
    assert {f"{kind}-completion-server-basic" for kind in ("workspace", "comparison", "good")} <= hub.names(34)


RUNNERS = """
on: pull_request
jobs:
  figures:
    permissions: {contents: read}
    uses: OWNER/ci-eval/.github/workflows/compare-engines.yml@COMMIT
    with:
      config: ci/completion.yaml
      build: make server
      command: build/server --stdio
      gates: Recall[all] >= -1pp
      working-directory: servers/py
      container: an-image
      runs-on: '["self-hosted", "gpu"]'
"""


@executed
@pytest.mark.needs("make")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")
def test_a_worse_engine_is_red_until_it_is_mended_in_a_container_on_own_runners_in_a_folder(hub: GitHub) -> None:
    repository = hub.repository(THEIRS)
    hub.call(THEIRS, "runners", RUNNERS)
    folder = repository / "servers" / "py"
    config = {"language": "python", "project": "path:code", "engine": {"command": ["build/server", "--stdio"]}}
    write(folder / "ci", completion__yaml=yaml.safe_dump(config))
    write(folder / "code", **{f"file{i}__py": f"{GREETER}x{i} = {i}\nprint(x{i})\n" for i in range(2)})
    (folder / "Makefile").write_text(MAKEFILE)
    (folder / "server.py").write_text(SERVER)
    hub.commit(THEIRS)
    git(repository, "checkout", "-q", "-b", "worse")
    codes, logs, verdicts = [], [], []
    # The base stays: what was built of it is taken from the cache.
    for number, server in enumerate((SERVER.replace(r"\w+", r"\w{7,}"), SERVER + "# mended\n")):
        (folder / "server.py").write_text(server)
        git(repository, "add", "-A")
        git(repository, "commit", "-q", *(["--amend"] if number else []), "-m", "a change")
        code, log = hub.run(
            "runners", 60 + number, event="pull_request", repository=THEIRS, label="gpu",
            caches=hub.folder / "base", variables={"CHECKOUT_OWNER": "65534"}, payload={"number": 6},
        )  # fmt: skip
        codes.append(code)
        logs.append(log)
        report = json.loads((hub.artifact(60 + number, "comparison") / "comparison.json").read_text())
        verdicts.append([gate["passed"] for gate in report["gates"]])
    git(repository, "checkout", "-q", "main")
    assert [code != 0 for code in codes] == [True, False], "\n".join(logs)
    assert verdicts == [[False], [True]]
    assert [log.count("mkdir -p build") for log in logs] == [2, 1]
    assert "Cache restored from key: ci-eval-base-" in logs[1]


CASES = "class A:\n    count = 1\n\n\nA().co\n#     ^ expect: count\nA().co\n#     ^ not: A\n"
CASES_JOB = f"""
on: pull_request
jobs:
  cases:
    runs-on: ubuntu-latest
    permissions: {{contents: read}}
    steps:
      - uses: {CHECKOUT}
"""


@executed
@pytest.mark.needs("make")
def test_a_broken_case_is_an_error_at_the_pull_request_until_it_is_mended(hub: GitHub) -> None:
    repository = hub.repository(THEIRS)
    steps = documented("Cases on every pull request")
    upload = f"      - if: always()\n        uses: {UPLOAD}\n        with: {{name: case-reports, path: case-reports}}\n"
    hub.call(THEIRS, "cases", CASES_JOB + steps + upload)
    write(repository / "cases", a__py=CASES)
    (repository / "Makefile").write_text(MAKEFILE)
    (repository / "server.py").write_text(SERVER)
    here = ("cases", repository / "cases", "--engine-command", f"{sys.executable} {repository / 'server.py'} --stdio")
    assert command(*here, "--snapshot", repository / "cases" / "lists.json", "--update")[0] == 0
    hub.commit(THEIRS)
    git(repository, "checkout", "-q", "-b", "broken")
    codes, logs, pages = [], [], []
    for number, server in enumerate((SERVER.replace(r"\w+", r"\w{7,}"), SERVER + "# mended\n")):
        (repository / "server.py").write_text(server)
        git(repository, "commit", "-q", *(["--amend"] if number else []), "-a", "-m", "a change")
        code, log = hub.run("cases", 90 + number, event="pull_request", repository=THEIRS, payload={"number": 9})
        codes.append(code)
        logs.append(log)
        pages.append((hub.artifact(90 + number, "case-reports") / "cases.md").read_text())
    git(repository, "checkout", "-q", "main")
    assert [code != 0 for code in codes] == [True, False], "\n".join(logs)
    assert ["a.py:5 expect: count: count is not offered" in log for log in logs] == [True, False], logs[0]
    assert ["-count (2)" in page for page in pages] == [True, False], pages[0]
    assert max(len(page.splitlines()) for page in pages) <= 20


def rendered(group: str, values: Mapping[str, Any]) -> str:
    """A concurrency group, with what `github.event` holds."""

    def value(expression: re.Match[str]) -> str:
        place: Any = values
        for key in expression[1].split("."):
            place = place[key]
        return str(place)

    return re.sub(r"\$\{\{ github\.event\.([\w.]+) \}\}", value, group)


@pytest.mark.parametrize("workflow", ["pull-request", "comment"])
def test_forks_with_equal_names_of_branches_do_not_cancel_each_other(workflow: str) -> None:
    group = yaml.safe_load((ROOT / ".github" / "workflows" / f"{workflow}.yml").read_text())["concurrency"]["group"]
    heads = {number: {"sha": str(number) * 40, "ref": "patch-1"} for number in FORKS}
    groups = {
        rendered(
            group,
            {
                "pull_request": {"number": number, "head": head},
                "workflow_run": {"head_sha": head["sha"], "workflow_id": 1},
            },
        )
        for number, head in heads.items()
    }
    assert len(groups) == len(FORKS)
    assert not any("github." in group for group in groups)


def test_comments_of_several_workflows_of_a_pull_request_do_not_cancel_each_other() -> None:
    own = yaml.safe_load((ROOT / ".github" / "workflows" / "comment.yml").read_text())
    for workflow in (own, yaml.safe_load(documented("The result as a comment on the pull request"))):
        runs = [{"workflow_run": {"head_sha": "1" * 40, "workflow_id": number}} for number in (1, 2, 3)]
        assert len({rendered(workflow["concurrency"]["group"], run) for run in runs}) == 3
