"""The workflows that `init` writes for GitHub."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from ci_eval.jobs.workflows import ci_plan
from ci_eval.jobs.workflows.ci_plan import CONFIG, CiPlan, Request

PURPOSES = ci_plan.PURPOSES
FOLDER = Path(".github/workflows")
NIGHT = FOLDER / "completion.yml"
LOGS = FOLDER / "completion-logs.yml"
PULL_REQUEST = FOLDER / "completion-pull-request.yml"
COMMENT = FOLDER / "completion-comment.yml"
SITE = FOLDER / "completion-site.yml"
KEYS = "CI_EVAL"
"""The repository's secret that holds the key of a language model."""


def files(plan: CiPlan) -> Iterator[tuple[Path, str]]:
    if {ci_plan.NIGHT, ci_plan.NOTICE, ci_plan.ALGORITHMS} & {*plan.request.purposes}:
        yield NIGHT, _night(plan)
    if ci_plan.PULL_REQUEST in plan.request.purposes:
        yield PULL_REQUEST, _pull_request(plan)
        yield COMMENT, _comment(plan)
    if ci_plan.LOGS in plan.request.purposes:
        yield LOGS, _logs(plan)
    if ci_plan.SITE in plan.request.purposes:
        yield SITE, _site(plan)


def steps(request: Request, address: str, key: str) -> Iterator[str]:
    """Yield the lines that say what somebody does at the CI; see `starting.next_steps`."""
    if key:
        yield f"The key:     make the secret {KEYS} of the repository, with the line {key}=VALUE"
    if ci_plan.SITE in request.purposes:
        yield "The site:    Settings, Pages, Source: GitHub Actions"
    if {ci_plan.NIGHT, ci_plan.NOTICE, ci_plan.ALGORITHMS} & {*request.purposes}:
        page = f"{address}/actions/workflows/{NIGHT.name}"
        yield f"Start it:    {page if address else 'at GitHub: Actions, completion, Run workflow'}"
    elif ci_plan.PULL_REQUEST in request.purposes:
        yield "See it:      open a pull request; the figures become a comment"
    else:
        yield f"See it:      {address + '/actions' if address else 'at GitHub: Actions'}"


def _uses(plan: CiPlan, workflow: str) -> str:
    origin = plan.request.nameable_origin
    release = f" # {origin.release}" if origin.release else ""
    return f"uses: {origin.repository}/.github/workflows/{workflow}.yml@{origin.commit}{release}"


def _with(plan: CiPlan, inputs: Mapping[str, str]) -> str:
    if plan.request.folder != ".":
        inputs = {**inputs, "working-directory": plan.request.folder}
    # A value of JSON is one of YAML, whatever signs are in it. GitHub would evaluate an expression.
    values = {name: json.dumps(text.replace("${{", "${{ '${{' }}")) for name, text in inputs.items() if text}
    return "    with:\n" + "".join(f"      {name}: {text}\n" for name, text in values.items())


def _secrets(plan: CiPlan) -> str:
    if not plan.key:
        return ""
    return f'    secrets: {{registries: "${{{{ secrets.{KEYS} }}}}"}} # a secret with the line {plan.key}=VALUE\n'


def _night(plan: CiPlan) -> str:
    inputs = {"configs": " ".join(map(str, plan.request.configs)), "gates": "RecallAt1 >= -2pp"}
    if plan.request.build:
        inputs |= {"build": plan.request.build, "build-output": plan.request.build_output}
    if ci_plan.LOGS in plan.request.purposes:
        inputs["ml-configs"] = str(CONFIG)
    text = f"""\
# Every night: evaluate {CONFIG}, and compare with the last good night.
name: completion
on: {{schedule: [{{cron: "23 2 * * *"}}], workflow_dispatch: {{}}}}
permissions: {{}}
concurrency: {{group: completion}}
jobs:
  night:
    permissions: {{contents: read, actions: read}}
    {_uses(plan, "nightly")}
{_with(plan, inputs)}{_secrets(plan)}"""
    return text + _notice(plan) if ci_plan.NOTICE in plan.request.purposes else text


def _notice(plan: CiPlan) -> str:
    return f"""\
  notice: # a red night opens an issue, a green one closes it
    needs: night
    if: ${{{{ !cancelled() }}}}
    permissions: {{contents: read, actions: read, issues: write}}
    {_uses(plan, "notice")}
    with: {{result: "${{{{ needs.night.result }}}}"}}
"""


def _pull_request(plan: CiPlan) -> str:
    inputs = {
        "config": str(CONFIG),
        "build": plan.request.build,
        "build-output": plan.request.build_output if plan.request.build_output != "build" else "",
        "command": plan.command.removeprefix("./"),
        "engine-like": plan.like,
        "gates": "RecallAt1 >= -1pp",
    }
    return f"""\
# On every pull request: its engine and the base's are asked in turns.
name: completion-pull-request
on: pull_request
permissions: {{}}
concurrency: {{group: "completion-${{{{ github.event.pull_request.number || github.ref }}}}", cancel-in-progress: true}}
jobs:
  figures:
    permissions: {{contents: read}}
    {_uses(plan, "compare-engines")}
{_with(plan, inputs)}"""


def _comment(plan: CiPlan) -> str:
    # Of the runs of a group that wait, GitHub keeps one: each workflow needs its own group.
    run = "github.event.workflow_run"
    group = f"completion-comment-${{{{ {run}.workflow_id }}}}-${{{{ {run}.head_sha }}}}"
    return f"""\
# The figures of a pull request become a comment on it.
name: completion-comment
on:
  workflow_run: # zizmor: ignore[dangerous-triggers] nothing of the pull request is executed
    workflows: [completion-pull-request]
    types: [completed]
permissions: {{}}
concurrency:
  group: {group}
jobs:
  comment:
    permissions: {{contents: read, actions: read, pages: read, pull-requests: write}}
    {_uses(plan, "comment")}
"""


def _logs(plan: CiPlan) -> str:
    inputs = {"configs": str(CONFIG), "build": plan.request.build}
    inputs |= {"build-output": plan.request.build_output} if plan.request.build else {}
    return f"""\
# Every week: log what a modelled user is shown in the trainingProjects, and train the nights' ranker.
name: completion-logs
on: {{schedule: [{{cron: "47 0 * * 0"}}], workflow_dispatch: {{}}}}
permissions: {{}}
concurrency: {{group: completion-logs}}
jobs:
  logs:
    permissions: {{contents: read}}
    {_uses(plan, "generate-ml-logs")}
{_with(plan, inputs)}{_secrets(plan)}"""


def _site(plan: CiPlan) -> str:
    return f"""\
# After each night: the trends as a site, once Pages is turned on (Settings, Pages, Source: GitHub Actions).
name: completion-site
on:
  workflow_run: # zizmor: ignore[dangerous-triggers] only histories of the default branch are read
    workflows: [completion]
    types: [completed]
permissions: {{}}
concurrency: {{group: completion-site}}
jobs:
  site:
    permissions: {{contents: read, actions: read, pages: write, id-token: write}}
    {_uses(plan, "site")}
"""
