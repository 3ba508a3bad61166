"""The workflows that `init` writes for GitHub."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from ci_eval.jobs.workflows import origin
from ci_eval.jobs.workflows.origin import CONFIG, CiPlan, Request

PURPOSES = origin.PURPOSES
FOLDER = Path(".github/workflows")
NIGHT = FOLDER / "completion.yml"
LOGS = FOLDER / "completion-logs.yml"
PULL_REQUEST = FOLDER / "completion-pull-request.yml"
COMMENT = FOLDER / "completion-comment.yml"
SITE = FOLDER / "completion-site.yml"
KEYS = "CI_EVAL"
TEXTS = Path(__file__).with_name("github")
"""The folder of the templates. Their placeholders are `<uses WORKFLOW>`, `<inputs>` and `<secrets>`."""


def files(plan: CiPlan) -> Iterator[tuple[Path, str]]:
    request = plan.request
    built = {"build": request.build, "build-output": request.build_output} if request.build else {}
    if {origin.NIGHT, origin.NOTICE, origin.ALGORITHMS} & {*request.purposes}:
        inputs = {"configs": " ".join(map(str, request.configs)), "gates": "RecallAt1 >= -2pp", **built}
        inputs |= {"ml-configs": str(CONFIG)} if origin.LOGS in request.purposes else {}
        notice = _fill(plan, "notice.yml") if origin.NOTICE in request.purposes else ""
        yield NIGHT, _fill(plan, NIGHT.name, inputs) + notice
    if origin.PULL_REQUEST in request.purposes:
        inputs = {
            "config": str(CONFIG),
            "build": request.build,
            "build-output": request.build_output if request.build_output != "build" else "",
            "command": plan.command.removeprefix("./"),
            "engine-like": plan.like,
            "gates": "RecallAt1 >= -1pp",
        }
        yield PULL_REQUEST, _fill(plan, PULL_REQUEST.name, inputs)
        yield COMMENT, _fill(plan, COMMENT.name)
    if origin.LOGS in request.purposes:
        yield LOGS, _fill(plan, LOGS.name, {"configs": str(CONFIG), **built})
    if origin.SITE in request.purposes:
        yield SITE, _fill(plan, SITE.name)


def steps(request: Request, address: str, key: str) -> Iterator[str]:
    if key:
        yield f"The key:     make the secret {KEYS} of the repository, with the line {key}=VALUE"
    if origin.SITE in request.purposes:
        yield "The site:    Settings, Pages, Source: GitHub Actions"
    if {origin.NIGHT, origin.NOTICE, origin.ALGORITHMS} & {*request.purposes}:
        page = f"{address}/actions/workflows/{NIGHT.name}"
        yield f"Start it:    {page if address else 'at GitHub: Actions, completion, Run workflow'}"
    elif origin.PULL_REQUEST in request.purposes:
        yield "See it:      open a pull request; the figures become a comment"
    else:
        yield f"See it:      {address + '/actions' if address else 'at GitHub: Actions'}"


def _fill(plan: CiPlan, name: str, inputs: Mapping[str, str] = MappingProxyType({})) -> str:
    source, folder = plan.request.nameable_origin, plan.request.folder
    release = f" # {source.release}" if source.release else ""
    inputs = {**inputs, "working-directory": "" if folder == "." else folder}
    # JSON strings are valid YAML. `${{` is escaped, since GitHub would evaluate the expression.
    values = {key: json.dumps(text.replace("${{", "${{ '${{' }}")) for key, text in inputs.items() if text}
    secrets = f'    secrets: {{registries: "${{{{ secrets.{KEYS} }}}}"}} # a secret with the line {plan.key}=VALUE\n'
    parts = {
        "<inputs>\n": "    with:\n" + "".join(f"      {key}: {text}\n" for key, text in values.items()),
        "<secrets>\n": secrets if plan.key else "",
    }
    uses = rf"uses: {source.repository}/.github/workflows/{{}}.yml@{source.commit}{release}"
    return re.sub(
        r"<uses ([\w-]+)>|<inputs>\n|<secrets>\n",
        lambda match: uses.format(match[1]) if match[1] else parts[match[0]],
        (TEXTS / name).read_text(encoding="utf-8"),
    )
