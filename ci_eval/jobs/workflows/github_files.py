"""The workflows that `init` writes for GitHub."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from ci_eval.jobs.workflows import plugin_set
from ci_eval.jobs.workflows.plugin_set import CONFIG, PluginSet

FOLDER = Path(".github/workflows")
NIGHT = FOLDER / "completion.yml"
LOGS = FOLDER / "completion-logs.yml"
PULL_REQUEST = FOLDER / "completion-pull-request.yml"
COMMENT = FOLDER / "completion-comment.yml"
SITE = FOLDER / "completion-site.yml"
KEYS = "CI_EVAL"
"""The repository's secret that holds the key of a language model."""


def files(plugins: PluginSet) -> Iterator[tuple[Path, str]]:
    """Yield the path and the text of each workflow."""
    if plugin_set.NIGHT in plugins.purposes or plugin_set.NOTICE in plugins.purposes:
        yield NIGHT, _night(plugins)
    if plugin_set.PULL_REQUEST in plugins.purposes:
        yield PULL_REQUEST, _pull_request(plugins)
        yield COMMENT, _comment(plugins)
    if plugin_set.LOGS in plugins.purposes:
        yield LOGS, _logs(plugins)
    if plugin_set.SITE in plugins.purposes:
        yield SITE, _site(plugins)


def _uses(plugins: PluginSet, workflow: str) -> str:
    origin = plugins.origin
    release = f" # {origin.release}" if origin.release else ""
    return f"uses: {origin.repository}/.github/workflows/{workflow}.yml@{origin.commit}{release}"


def _with(inputs: Mapping[str, str]) -> str:
    # A value of JSON is one of YAML, whatever signs are in it.
    return "    with:\n" + "".join(f"      {name}: {json.dumps(text)}\n" for name, text in inputs.items() if text)


def _secrets(plugins: PluginSet) -> str:
    if not plugins.key:
        return ""
    return f'    secrets: {{registries: "${{{{ secrets.{KEYS} }}}}"}} # a secret with the line {plugins.key}=VALUE\n'


def _night(plugins: PluginSet) -> str:
    inputs = {"configs": str(CONFIG), "gates": "RecallAt1 >= -2pp"}
    if plugins.build:
        inputs |= {"build": plugins.build, "build-output": plugins.build_output}
    if plugin_set.LOGS in plugins.purposes:
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
    {_uses(plugins, "nightly")}
{_with(inputs)}{_secrets(plugins)}"""
    return text + _notice(plugins) if plugin_set.NOTICE in plugins.purposes else text


def _notice(plugins: PluginSet) -> str:
    return f"""\
  notice: # a red night opens an issue, a green one closes it
    needs: night
    if: ${{{{ !cancelled() }}}}
    permissions: {{contents: read, actions: read, issues: write}}
    {_uses(plugins, "notice")}
    with: {{result: "${{{{ needs.night.result }}}}"}}
"""


def _pull_request(plugins: PluginSet) -> str:
    inputs = {
        "config": str(CONFIG),
        "build": plugins.build,
        "build-output": plugins.build_output if plugins.build_output != "build" else "",
        "command": plugins.command.removeprefix("./"),
        "engine-like": plugins.like,
        "gates": "RecallAt1 >= -1pp",
    }
    return f"""\
# On every pull request: its engine and the base's are asked in turns.
name: completion-pull-request
on: pull_request
permissions: {{}}
concurrency: {{group: "completion-${{{{ github.event.pull_request.number }}}}", cancel-in-progress: true}}
jobs:
  figures:
    permissions: {{contents: read}}
    {_uses(plugins, "compare-engines")}
{_with(inputs)}"""


def _comment(plugins: PluginSet) -> str:
    return f"""\
# The figures of a pull request become a comment on it.
name: completion-comment
on:
  workflow_run: # zizmor: ignore[dangerous-triggers] nothing of the pull request is executed
    workflows: [completion-pull-request]
    types: [completed]
permissions: {{}}
concurrency: {{group: "completion-comment-${{{{ github.event.workflow_run.head_sha }}}}"}}
jobs:
  comment:
    permissions: {{contents: read, actions: read, pages: read, pull-requests: write}}
    {_uses(plugins, "comment")}
"""


def _logs(plugins: PluginSet) -> str:
    inputs = {"configs": str(CONFIG), "setup": plugins.build}
    return f"""\
# Every week: log what a modelled user is shown in the trainingProjects, and train the nights' ranker.
name: completion-logs
on: {{schedule: [{{cron: "47 0 * * 0"}}], workflow_dispatch: {{}}}}
permissions: {{}}
concurrency: {{group: completion-logs}}
jobs:
  logs:
    permissions: {{contents: read}}
    {_uses(plugins, "generate-ml-logs")}
{_with(inputs)}{_secrets(plugins)}"""


def _site(plugins: PluginSet) -> str:
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
    {_uses(plugins, "site")}
"""
