"""The settings that `init` writes for TeamCity."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from ci_eval.jobs.workflows.origin import CONFIG, LOGS, NIGHT, NOTICE, PULL_REQUEST, SITE, CiPlan, Request

PURPOSES = (NIGHT, PULL_REQUEST, LOGS, SITE, NOTICE)
SETTINGS = Path(".teamcity/settings.kts")
LIBRARY = Path(".teamcity/CiEval.kt")
PACKED = Path(__file__).with_name("CiEval.kt")
SOURCE = Path(__file__).parents[3] / ".teamcity" / "library" / "CiEval.kt"
IMPORT = "import ci_eval.*"
WIDTH = 108


def files(plan: CiPlan) -> Iterator[tuple[Path, str]]:
    lines = [
        f"// Measures code completion as {CONFIG} says. All options are described in CiEval.kt, in this folder.",
        IMPORT,
        "import jetbrains.buildServer.configs.kotlin.*",
        'version = "2025.11"',
        f"ciEval = {_text(f'{plan.request.origin.address}@{plan.request.origin.commit}')}",
        "project {",
        *(f"    {line}" for part in _project(plan) for line in part.splitlines()),
        "}",
    ]
    yield SETTINGS, "\n".join(lines) + "\n"
    yield LIBRARY, (PACKED if PACKED.is_file() else SOURCE).read_text(encoding="utf-8")


def steps(request: Request, address: str, key: str) -> Iterator[str]:
    yield f"In TeamCity: Create project → From a repository URL{f' ({address})' if address else ''} → Import settings"
    if key:
        yield f"The key:     make the parameter env.{key} of the project, of the type password"
    if SITE in request.purposes:
        yield "The trends:  the tab Trends of that project"


def _project(plan: CiPlan) -> Iterator[str]:
    purposes = plan.request.purposes
    options = {"config": _text(str(CONFIG))}
    if plan.request.build:
        output = plan.request.build_output
        of_engine = {"make": _text(plan.request.build)} | ({"output": _text(output)} if output != "build" else {})
        yield _call("ciEvalEngine", of_engine, "val built = ")
        folder = output.rstrip("/")
        program, blank, arguments = plan.command.removeprefix("./").partition(" ")
        # The artifact rule packs what is inside a folder, or a file without the folders above it.
        inside = program.removeprefix(f"{folder}/") if program != folder else Path(folder).name
        options |= {"engine": "built", "command": _text(inside + blank + arguments)}
        options |= {"like": _text(plan.like)} if plan.like else {}
    if LOGS in purposes:
        projects = ", ".join(map(_text, plan.training))
        yield _call("ciEvalLogs", options | {"projects": f"listOf({projects})"}, "val rankers = ")
    if NIGHT in purposes or NOTICE in purposes:
        of_night = options | ({"ranker": "rankers"} if LOGS in purposes else {})
        of_night |= {"reuse": "false"} if not plan.request.build and not plan.is_reusable else {}
        of_night |= {"mail": _text(plan.request.mail)} if NOTICE in purposes else {}
        of_night |= {"daily": "false"} if SITE in purposes else {}
        yield _call("ciEvalNight", of_night, "val night = " if SITE in purposes else "")
    if SITE in purposes:
        yield _call("ciEvalNights", {"nights": "listOf(night)"})
    if PULL_REQUEST in purposes:
        yield _call("ciEvalPullRequest", options)


def _call(function: str, values: Mapping[str, str], before: str = "") -> str:
    options = [f"{name} = {value}" for name, value in values.items()]
    line = f"{before}{function} {{ {'; '.join(options)} }}"
    if len(line) <= WIDTH:
        return line
    lines = options[:1]
    for option in options[1:]:
        if len(joined := f"{lines[-1]}; {option}") <= WIDTH:
            lines[-1] = joined
        else:
            lines.append(option)
    return "\n".join([f"{before}{function} {{", *(f"    {line}" for line in lines), "}"])


def _text(text: str) -> str:
    """Return a Kotlin string literal. CiEval.kt doubles per cent signs, which begin a parameter in TeamCity."""
    # Kotlin has the escapes of JSON, except for the form feed.
    json_text = re.sub(
        r"\\(.)", lambda match: r"\u000c" if match[1] == "f" else match[0], json.dumps(text, ensure_ascii=False)
    )
    return json_text.replace("$", "\\$")
