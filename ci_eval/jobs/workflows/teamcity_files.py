"""The settings that `init` writes for TeamCity."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from ci_eval.jobs.workflows.ci_plan import CONFIG, LOGS, NIGHT, NOTICE, PULL_REQUEST, CiPlan

SETTINGS = Path(".teamcity/settings.kts")
LIBRARY = Path(".teamcity/CiEval.kt")
PACKED = Path(__file__).with_name("CiEval.kt")
"""The library as a wheel has it."""
SOURCE = Path(__file__).parents[3] / ".teamcity" / "library" / "CiEval.kt"
"""The library in a checkout."""
ARCHIVE = "engine.zip"
WIDTH = 108
"""Columns of a call, or of its options on lines of their own."""


def files(plan: CiPlan) -> Iterator[tuple[Path, str]]:
    """Yield the path and the text of the settings, and of the library they use."""
    yield SETTINGS, _settings(plan)
    yield LIBRARY, (PACKED if PACKED.is_file() else SOURCE).read_text(encoding="utf-8")


def _settings(plan: CiPlan) -> str:
    dsl = "jetbrains.buildServer.configs.kotlin"
    lines = [f"// Measures code completion as {CONFIG} says. All options are described in CiEval.kt beside this file."]
    lines += [
        "import ci_eval.*",
        f"import {dsl}.*",
        *([f"import {dsl}.buildSteps.script"] if plan.request.build else []),
    ]
    lines += ['version = "2025.11"', f"ciEval = {_text(f'{plan.request.origin.address}@{plan.request.origin.commit}')}"]
    if plan.request.build:
        rule, script = _text(f"{plan.request.build_output} => {ARCHIVE}"), _text(plan.request.build)
        lines += [
            "val engineBuild = BuildType {",
            f'    id("Engine"); name = "Engine"; artifactRules = {rule}',
            f"    vcs {{ root(DslContext.settingsRoot) }}; steps {{ script {{ scriptContent = {script} }} }}",
            "}",
        ]
    lines += ["project {", *(f"    {line}" for line in _project(plan)), "}"]
    return "\n".join(lines) + "\n"


def _project(plan: CiPlan) -> Iterator[str]:
    options = {"config": _text(str(CONFIG))}
    if plan.request.build:
        yield f"buildType(engineBuild); val built = BuiltEngine(engineBuild, {_text(ARCHIVE)})"
        options |= {"engine": "built", "command": _text(_command_in_archive(plan))}
        options |= {"like": _text(plan.like)} if plan.like else {}
    if LOGS in plan.request.purposes:
        projects = ", ".join(map(_text, plan.training))
        yield from _call("ciEvalLogs", options | {"projects": f"listOf({projects})"}, "val rankers = ")
    if NIGHT in plan.request.purposes or NOTICE in plan.request.purposes:
        of_nights = {"ranker": "rankers"} if LOGS in plan.request.purposes else {}
        of_nights |= {"reuse": "false"} if not plan.request.build and not plan.is_reusable else {}
        of_nights |= {"mail": _text(plan.request.mail)} if NOTICE in plan.request.purposes else {}
        yield from _call("ciEvalNight", options | of_nights)
    if PULL_REQUEST in plan.request.purposes:
        yield from _call("ciEvalPullRequest", options)


def _call(function: str, values: Mapping[str, str], before: str = "") -> list[str]:
    """Return a call with its options, on one line if they fit."""
    options = [f"{name} = {value}" for name, value in values.items()]
    line = f"{before}{function} {{ {'; '.join(options)} }}"
    if len(line) <= WIDTH:
        return [line]
    lines = options[:1]
    for option in options[1:]:
        if len(joined := f"{lines[-1]}; {option}") <= WIDTH:
            lines[-1] = joined
        else:
            lines.append(option)
    return [f"{before}{function} {{", *(f"    {line}" for line in lines), "}"]


def _command_in_archive(plan: CiPlan) -> str:
    """Return the command as it is in the folder that the archive is unpacked to."""
    output = plan.request.build_output.rstrip("/")
    program, blank, arguments = plan.command.removeprefix("./").partition(" ")
    # The rule packs what is in a folder, or a file without the folders above it.
    inside = program.removeprefix(f"{output}/") if program != output else Path(output).name
    return inside + blank + arguments


def _text(text: str) -> str:
    """Return a text as Kotlin has it, and as TeamCity reads it: a percent sign begins a parameter there."""
    # The escapes of JSON are Kotlin's, but for that of a form feed.
    json_text = re.sub(
        r"\\(.)", lambda match: r"\u000c" if match[1] == "f" else match[0], json.dumps(text, ensure_ascii=False)
    )
    return json_text.replace("$", "\\$").replace("%", "%%")
