"""The settings that `init` writes for TeamCity."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from ci_eval.jobs.workflows.plugin_set import CONFIG, LOGS, NIGHT, NOTICE, PULL_REQUEST, PluginSet

SETTINGS = Path(".teamcity/settings.kts")
LIBRARY = Path(".teamcity/CiEval.kt")
PACKED = Path(__file__).with_name("CiEval.kt")
"""The library as a wheel has it."""
SOURCE = Path(__file__).parents[3] / ".teamcity" / "library" / "CiEval.kt"
"""The library in a checkout."""
ARCHIVE = "engine.zip"


def files(plugins: PluginSet) -> Iterator[tuple[Path, str]]:
    """Yield the path and the text of the settings, and of the library they use."""
    yield SETTINGS, _settings(plugins)
    yield LIBRARY, (PACKED if PACKED.is_file() else SOURCE).read_text(encoding="utf-8")


def _settings(plugins: PluginSet) -> str:
    dsl = "jetbrains.buildServer.configs.kotlin"
    lines = ["import ci_eval.*", f"import {dsl}.*", *([f"import {dsl}.buildSteps.script"] if plugins.build else [])]
    lines += ['version = "2025.11"', f"ciEval = {_text(f'{plugins.origin.address}@{plugins.origin.commit}')}"]
    if plugins.build:
        rule, script = _text(f"{plugins.build_output} => {ARCHIVE}"), _text(plugins.build)
        lines += [
            "val engineBuild = BuildType {",
            f'    id("Engine"); name = "Engine"; artifactRules = {rule}',
            f"    vcs {{ root(DslContext.settingsRoot) }}; steps {{ script {{ scriptContent = {script} }} }}",
            "}",
        ]
    lines += ["project {", *(f"    {line}" for line in _project(plugins)), "}"]
    return "\n".join(lines) + "\n"


def _project(plugins: PluginSet) -> Iterator[str]:
    common = {"config": _text(str(CONFIG))}
    if plugins.build:
        yield f"buildType(engineBuild); val built = BuiltEngine(engineBuild, {_text(ARCHIVE)})"
        common |= {"engine": "built", "command": _text(_command_in_archive(plugins))}
        common |= {"like": _text(plugins.like)} if plugins.like else {}
    if LOGS in plugins.purposes:
        projects = ", ".join(map(_text, plugins.training))
        yield f"val rankers = {_call('ciEvalLogs', common | {'projects': f'listOf({projects})'})}"
    if NIGHT in plugins.purposes or NOTICE in plugins.purposes:
        more = {"ranker": "rankers"} if LOGS in plugins.purposes else {}
        more |= {"reuse": "false"} if not plugins.build and not plugins.is_reusable else {}
        more |= {"mail": _text(plugins.mail)} if NOTICE in plugins.purposes else {}
        yield _call("ciEvalNight", common | more)
    if PULL_REQUEST in plugins.purposes:
        yield _call("ciEvalPullRequest", common)


def _call(function: str, values: Mapping[str, str]) -> str:
    return f"{function} {{ {'; '.join(f'{name} = {value}' for name, value in values.items())} }}"


def _command_in_archive(plugins: PluginSet) -> str:
    """Return the command as it is in the folder that the archive is unpacked to."""
    output = plugins.build_output.rstrip("/")
    program, blank, arguments = plugins.command.removeprefix("./").partition(" ")
    # The rule packs what is in a folder, or a file without the folders above it.
    inside = program.removeprefix(f"{output}/") if program != output else Path(output).name
    return inside + blank + arguments


def _text(text: str) -> str:
    """Return a text as Kotlin has it, and as TeamCity reads it: a percent sign begins a parameter there."""
    return json.dumps(text, ensure_ascii=False).replace("$", "\\$").replace("%", "%%")
