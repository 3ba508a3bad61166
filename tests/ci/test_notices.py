"""Red nights and pull requests told by the workflows, executed as the documentation says them."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator

import pytest
import yaml

from tests.ci.documentation import documented
from tests.ci.stand_ins import THEIRS, GitHub, github
from tests.projects import GREETER, write

pytestmark = [pytest.mark.engine, pytest.mark.registry, pytest.mark.needs("go", "node", "npm")]

GOOD = {"language": "python", "engine": "words", "project": "path:project"}
BROKEN = {**GOOD, "project": "path:nowhere"}


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitHub]:
    """Another repository with the workflows of the documentation."""
    folder = tmp_path_factory.mktemp("notices")
    callers = {
        "night": documented("A notice of a red night"),
        "told": documented("The result as a comment on the pull request"),
    }
    with github(folder, {}, write(folder / "p", main__py=GREETER), callers) as served:
        yield served


def night(hub: GitHub, run: int, config: dict[str, str]) -> tuple[int, str]:
    """A scheduled run of theirs, whose jobs GitHub would know."""
    file = hub.repository(THEIRS) / "ci" / "completion.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(yaml.safe_dump(config))
    hub.commit(THEIRS)
    hub.services.jobs[run] = [("night / evaluate / plan", "success" if config == GOOD else "failure")]
    return hub.run("night", run, event="schedule", repository=THEIRS)


def test_a_red_night_opens_one_issue_a_second_one_updates_it_and_a_green_one_closes_it(hub: GitHub) -> None:
    hub.services.issues.clear()
    hub.services.comments.clear()
    for run, config, state in ((61, BROKEN, "open"), (62, BROKEN, "open"), (63, GOOD, "closed")):
        code, log = night(hub, run, config)
        assert (code == 0) == (config == GOOD), log
        ((_, issue),) = hub.services.issues.items()
        assert issue["state"] == state, log
        assert issue["title"] == "ci-eval: .github/workflows/night.yml is red"
        assert f"[run {run}](https://github.com/maintainer/engine/actions/runs/{run})" in issue["body"]
        assert ("[night / evaluate / plan](" in issue["body"]) == (config == BROKEN)
    ((_, comment),) = hub.services.comments.items()
    assert "green again: [run 63]" in comment["body"]


@pytest.mark.parametrize(("event", "told"), [("schedule", 1), ("workflow_dispatch", 0)])
def test_the_end_of_a_scheduled_run_of_ours_is_told_by_itself(hub: GitHub, event: str, told: int) -> None:
    hub.services.issues.clear()
    hub.services.workflows[70] = ".github/workflows/nightly.yml"
    ended = {"id": 70, "event": event, "conclusion": "failure", "workflow_id": 1}
    code, log = hub.run("notice", 71, event="workflow_run", payload={"workflow_run": ended})
    assert code == 0, log
    assert [issue["title"] for issue in hub.services.issues.values()] == [
        "ci-eval: .github/workflows/nightly.yml is red"
    ] * told


@pytest.mark.parametrize(("of", "at", "posted"), [("pull_request", "1", 1), ("pull_request", "2", 0), ("push", "1", 0)])
def test_another_repository_has_comments_as_the_documentation_says(hub: GitHub, of: str, at: str, posted: int) -> None:
    hub.services.comments.clear()
    hub.services.heads[7] = at * 40
    stored = hub.zip(80, "comparison")
    stored.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(stored, "w") as archive:
        archive.writestr("number.txt", "7\n")
        archive.writestr("report.md", "the report")
    ended = {"id": 80, "event": of, "head_sha": "1" * 40}
    code, log = hub.run("told", 81, event="workflow_run", repository=THEIRS, payload={"workflow_run": ended})
    assert code == 0, log
    assert [each["body"] for each in hub.services.comments.values()] == ["<!-- ci-eval -->\nthe report"] * posted
