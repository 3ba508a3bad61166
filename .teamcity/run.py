"""Runs this checkout's ci-eval in a build of TeamCity: python3 run.py ARGUMENT...

As .github/actions/run.py does it, by the lock; where it cannot be installed, the build has a problem that says so.
"""

from __future__ import annotations

import fcntl
import os
import runpy
import subprocess
import sys
from pathlib import Path

RUN = runpy.run_path(str(Path(__file__).resolve().parents[1] / ".github" / "actions" / "run.py"))
PROBLEM = "##teamcity[buildProblem identity='ci_eval_bootstrap' description='ci-eval could not be installed. {NEEDS}']"


def main() -> int:
    """The exit code of ci-eval."""
    try:
        # Agents of one machine may share a checkout that recipes keep, and the environment in it.
        folder = Path(os.environ.get("RUNNER_TEMP") or RUN["ROOT"] / ".runner")
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "ci-eval.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            python = RUN["program"](RUN["needs_ml"](sys.argv[1:], os.environ), os.environ)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.stderr.write(f"{error}\n")
        sys.stdout.write(f"{PROBLEM.format(**RUN)}\n")
        return int(RUN["PREPARATION"])
    # Isolated: a file of the build's own checkout must not stand for one of Python's modules.
    return subprocess.run([str(python), "-I", "-m", "ci_eval", *sys.argv[1:]], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
