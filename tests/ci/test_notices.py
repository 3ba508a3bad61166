"""Red nights told of by the workflows, executed as the documentation says them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.ci.documentation import documented
from tests.ci.expressions import evaluate, jobs
from tests.ci.stand_ins import THEIRS, GitHub, github
from tests.projects import GREETER, write

pytestmark = [pytest.mark.registry, pytest.mark.needs("node", "npm")]

BROKEN = {"language": "python", "engine": "words", "project": "path:nowhere"}


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[GitHub]:
    """Another repository with the workflow of the documentation, and a configuration whose project is not there."""
    project = write(tmp_path / "p", main__py=GREETER)
    with github(tmp_path / "github", {}, project, {"night": documented("A notice of a red night")}) as served:
        (served.repository(THEIRS) / "ci").mkdir()
        (served.repository(THEIRS) / "ci" / "completion.yaml").write_text(yaml.safe_dump(BROKEN))
        served.commit(THEIRS)
        yield served


@pytest.mark.engine
@pytest.mark.needs("go")
def test_a_red_night_opens_an_issue_as_the_documentation_says(hub: GitHub) -> None:
    # As GitHub knows them.
    hub.services.jobs[61] = [("night / evaluate / plan", "failure")]
    code, log = hub.run("night", 61, event="schedule", repository=THEIRS)
    assert code != 0, log
    ((_, issue),) = hub.services.issues.items()
    assert issue["state"] == "open", log
    assert issue["title"] == "ci-eval: .github/workflows/night.yml is red"
    assert "[run 61](https://github.com/maintainer/engine/actions/runs/61)" in issue["body"]
    assert "[night / evaluate / plan](" in issue["body"]


@pytest.mark.parametrize("result", ["success", "failure"])
def test_a_night_is_reported_of_by_a_job_after_it_whatever_its_result(result: str) -> None:
    notice = yaml.safe_load(documented("A notice of a red night"))["jobs"]["notice"]
    assert evaluate(notice["if"])
    inputs = {"result": evaluate(notice["with"]["result"], needs={"night": {"result": result}})}
    assert notice_of(inputs, {"event_name": "schedule", "run_id": 63, "event": {}}) == (True, result, 63)


@pytest.mark.parametrize(("event", "is_reported"), [("schedule", True), ("workflow_dispatch", False)])
def test_the_end_of_a_scheduled_run_of_ours_is_reported_by_itself(event: str, is_reported: bool) -> None:
    ended = {"id": 70, "event": event, "conclusion": "failure", "workflow_id": 1}
    context = {"event_name": "workflow_run", "run_id": 71, "event": {"workflow_run": ended}}
    assert notice_of({}, context) == (is_reported, "failure", 70)


def notice_of(inputs: dict[str, Any], context: dict[str, Any]) -> tuple[bool, str, int]:
    """Return whether notice.yml tells of a run, the result that it tells, and the number of the run."""
    job = jobs("notice")["notice"]
    env = job["steps"][-1]["env"]
    result, run = (evaluate(env[name], inputs=inputs, github=context) for name in ("RESULT", "RUN_ID"))
    return bool(evaluate(job["if"], inputs=inputs, github=context)), result, run
