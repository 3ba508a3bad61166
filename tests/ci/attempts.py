"""The second attempt of a run, as GitHub's "Re-run failed jobs" starts it.

GitHub runs "all failed jobs and their dependents", with the outputs of the jobs that passed, and "any artifacts that
were created in the initial run will be available"
(https://docs.github.com/en/actions/managing-workflow-runs/re-running-workflows-and-jobs). act has no attempts: here a
job that passed is one without steps, whose outputs are what the log of the first attempt says. act selects the failed
leg of a matrix itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

from tests.ci.stand_ins import OURS, GitHub

Jobs = Mapping[str, dict[str, Any]]


def again(hub: GitHub, workflow: str, run: int, log: str, failed: str, leg: str, **inputs: Any) -> tuple[int, str]:
    """Exit code and log of it; `failed` is a job, and `leg` (KEY:VALUE) what failed of its matrix."""
    found = yaml.safe_load((hub.repository(OURS) / ".github" / "workflows" / f"{workflow}.yml").read_text())
    # YAML takes `on` for true.
    found["on"] = found.pop(True)
    jobs = found["jobs"]
    found["jobs"] = {name: job if _runs(name, failed, jobs) else _passed(name, job, log) for name, job in jobs.items()}
    changed = hub.folder / f"{workflow}-again.yml"
    changed.write_text(yaml.safe_dump(found, sort_keys=False))
    return hub.run(workflow, run, attempt=2, options=["-W", str(changed), "--matrix", leg], **inputs)


def _runs(name: str, failed: str, jobs: Jobs) -> bool:
    """Whether a job is the one that failed, or needs it."""
    needs = jobs[name].get("needs", [])
    return name == failed or any(_runs(each, failed, jobs) for each in ([needs] if isinstance(needs, str) else needs))


def _passed(name: str, job: Mapping[str, Any], log: str) -> dict[str, Any]:
    """A job with the outputs that it had."""
    said = dict(re.findall(rf"\[[^]]*/{name}\s*\].*::set-output:: ([\w-]+)=(.*)", log))
    outputs = {
        key: said.get(re.findall(r"outputs\.([\w-]+)", text)[0], "") for key, text in job.get("outputs", {}).items()
    }
    kept = {key: job[key] for key in ("if", "needs", "runs-on") if key in job}
    return {**kept, "outputs": outputs, "steps": [{"run": "true"}]}
