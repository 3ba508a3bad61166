"""The pipeline that `init` writes for GitLab."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from ci_eval.jobs.workflows import ci_plan
from ci_eval.jobs.workflows.ci_plan import CONFIG, CiPlan, Request
from ci_eval.jobs.workflows.origin import UNKNOWN

PURPOSES = (ci_plan.NIGHT, ci_plan.PULL_REQUEST)
PIPELINE = Path(".gitlab-ci.yml")
ENGINES = """\
engines:
  stage: build
  rules: [{{if: $CI_MERGE_REQUEST_IID}}]
  script:
    - git fetch --depth 1 origin "${{CI_MERGE_REQUEST_TARGET_BRANCH_SHA:-$CI_MERGE_REQUEST_DIFF_BASE_SHA}}"
    - git worktree add --detach .base FETCH_HEAD
    - |
      for side in base new; do
        mkdir -p "$CI_PROJECT_DIR/.engines/$side"
        if [ $side = base ]; then cd "$CI_PROJECT_DIR/.base"; else cd "$CI_PROJECT_DIR"; fi
        bash -euo pipefail -c "$BUILD"
        tar -cf - -- "$OUTPUT" | tar -xf - -C "$CI_PROJECT_DIR/.engines/$side"
      done
  variables: {{BUILD: {{value: {build}, expand: false}}, OUTPUT: {{value: {output}, expand: false}}}}
  artifacts: {{paths: [.engines]}}
ci-eval-compare-engines:
  rules: [{{if: $CI_MERGE_REQUEST_IID}}]
  needs: [engines]
ci-eval-note:
  needs: [ci-eval-compare-engines]
"""
"""The jobs for merge requests: one builds both engines, and the included ones wait for it."""


def files(plan: CiPlan) -> Iterator[tuple[Path, str]]:
    lines = [
        f"# Measures code completion as {CONFIG} says. CI_EVAL_GITLAB_TOKEN is a masked variable of the project.\n"
    ]
    built = {"build": plan.request.build} if plan.request.build else {}
    lines.append("include:\n")
    if ci_plan.NIGHT in plan.request.purposes:
        lines.append(_include(plan, "nightly", config=str(CONFIG), gates="RecallAt1 >= -2pp", **built))
    if ci_plan.PULL_REQUEST in plan.request.purposes:
        command = plan.command.removeprefix("./")
        sides = {side: f".engines/{side}/{command}" for side in ("base", "new")}
        like = {"engine-like": plan.like} if plan.like else {}
        lines.append(_include(plan, "compare-engines", config=str(CONFIG), gates="RecallAt1 >= -1pp", **sides, **like))
        lines.append(_include(plan, "note", comparison="engines/comparison"))
        output = json.dumps(plan.request.build_output)
        lines.append(ENGINES.format(build=json.dumps(plan.request.build), output=output))
    yield PIPELINE, "".join(lines)


def steps(request: Request, address: str, key: str) -> Iterator[str]:
    """Yield the lines that say what somebody does at the CI; see `starting.next_steps`."""
    at = f"{address}/-/" if address else "at GitLab: "
    if key:
        yield f"The key:     make the masked variable {key} of the project"
    yield "The token:   make a token of the project with api, and the masked variable CI_EVAL_GITLAB_TOKEN of it"
    if ci_plan.NIGHT in request.purposes:
        yield f"Start it:    {at}pipeline_schedules"


def _include(plan: CiPlan, component: str, **inputs: str) -> str:
    origin = plan.request.origin
    raw = (
        "https://raw.githubusercontent.com/{}/{}"
        if origin.server == UNKNOWN.server
        else f"{origin.server}/{{}}/-/raw/{{}}"
    )
    inputs["package"] = f"ci-eval[ml] @ git+{origin.address}@{origin.commit}"
    # A value of JSON is one of YAML. GitLab replaces what stands in $[[ ]].
    values = "".join(f"      {name}: {json.dumps(text)}\n" for name, text in inputs.items())
    return (
        f"  - remote: {raw.format(origin.repository, origin.commit)}/templates/{component}.yml\n    inputs:\n{values}"
    )
