"""A stand-in for an IDE with the evaluation plugin: the same command line, variables, output, files and exit codes.

What it does is taken from the plugin's public source (`CompletionEvaluationStarter`, `CommandLineProgress`,
`CheckProjectSdkStep`, `HeadlessEvaluationAbortHandler`, `EvaluationWorkspace` and their successors): command and
arguments, the lines of its progress, its last lines, exit code 1 for any fatal error and 0 also where it was cancelled,
`config.json` in a workspace named by the time, `data/files.json`, gzipped sessions and actions. What it says about
licences, and of a command that it does not know, is made up.
"""

from __future__ import annotations

import json
import shutil
import stat
from pathlib import Path

from ci_eval.plugins.adapters.process import interpreter

PROGRAM = Path(__file__).with_name("stand_in_program.py")
BUILD = "IC-233.11799.241"


def make(folder: Path, fault: str = "") -> Path:
    """An IDE in that folder, which shows the fault."""
    (folder / "bin").mkdir(parents=True)
    shutil.copy(PROGRAM, folder / "bin/program.py")
    (folder / "bin/fault").write_text(fault)
    product, build = BUILD.split("-")
    launch = [{"os": "Windows", "launcherPath": "bin/idea.exe"}, {"os": "Linux", "launcherPath": "bin/idea.sh"}]
    info = {
        "name": "IntelliJ IDEA",
        "productCode": product,
        "buildNumber": build,
        "envVarBaseName": "IDEA",
        "launch": launch,
    }
    (folder / "product-info.json").write_text(json.dumps(info))
    launcher = folder / "bin/idea.sh"
    launcher.write_text(f'#!/bin/sh\nexec "{interpreter()}" -I -S "${{0%/*}}/program.py" "$@"\n')
    launcher.chmod(launcher.stat().st_mode | stat.S_IXUSR)
    return folder
