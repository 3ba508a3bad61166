"""The pipeline that `init` writes for GitLab."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from ci_eval.jobs.workflows.origin import CONFIG, NIGHT, PULL_REQUEST, UNKNOWN, CiPlan, Request

PURPOSES = (NIGHT, PULL_REQUEST)
PIPELINE = Path(".gitlab-ci.yml")
ENGINES = Path(__file__).with_name("gitlab") / "engines.yml"
"""The template of the job that builds both engines. The included jobs wait for it."""


def files(plan: CiPlan) -> Iterator[tuple[Path, str]]:
    lines = [
        f"# Measures code completion as {CONFIG} says. CI_EVAL_GITLAB_TOKEN is a masked variable of the project.\n"
    ]
    built = {"build": plan.request.build} if plan.request.build else {}
    lines.append("include:\n")
    if NIGHT in plan.request.purposes:
        lines.append(_include(plan, "nightly", config=str(CONFIG), gates="RecallAt1 >= -2pp", **built))
    if PULL_REQUEST in plan.request.purposes:
        command = plan.command.removeprefix("./")
        sides = {side: f".engines/{side}/{command}" for side in ("base", "new")}
        like = {"engine-like": plan.like} if plan.like else {}
        lines.append(_include(plan, "compare-engines", config=str(CONFIG), gates="RecallAt1 >= -1pp", **sides, **like))
        lines.append(_include(plan, "note", comparison="engines/comparison"))
        values = {"<build>": json.dumps(plan.request.build), "<output>": json.dumps(plan.request.build_output)}
        text = ENGINES.read_text(encoding="utf-8")
        lines.append(re.sub("<build>|<output>", lambda match: values[match[0]], text))
    yield PIPELINE, "".join(lines)


def steps(request: Request, address: str, key: str) -> Iterator[str]:
    at = f"{address}/-/" if address else "at GitLab: "
    if key:
        yield f"The key:     make the masked variable {key} of the project"
    yield "The token:   make a project token with the scope api, as the masked variable CI_EVAL_GITLAB_TOKEN"
    if NIGHT in request.purposes:
        yield f"Start it:    {at}pipeline_schedules"


def _include(plan: CiPlan, component: str, **inputs: str) -> str:
    origin = plan.request.origin
    of_github, of_gitlab = "https://raw.githubusercontent.com/{}/{}", f"{origin.server}/{{}}/-/raw/{{}}"
    raw = of_github if origin.server == UNKNOWN.server else of_gitlab
    inputs["package"] = f"ci-eval[ml] @ git+{origin.address}@{origin.commit}"
    # JSON strings are valid YAML. GitLab inserts these values for $[[ inputs.NAME ]] in the included file.
    values = "".join(f"      {name}: {json.dumps(text)}\n" for name, text in inputs.items())
    return (
        f"  - remote: {raw.format(origin.repository, origin.commit)}/templates/{component}.yml\n    inputs:\n{values}"
    )
