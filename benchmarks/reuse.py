"""What a night costs on which nothing has changed: processor time with the answers of the night before, and without.

python benchmarks/reuse.py [CONFIG…] [-- OPTION…]      options are of `ci-eval evaluate`
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from ci_eval.core.workspace import Workspace


def night(*arguments: str) -> float:
    """Seconds of processor time of an evaluation, its engine and workers included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "ci_eval", "evaluate", *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("options", nargs="*", default=["--project", "pypi:flask==3.0.3"])
    options = parser.parse_args().options
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder, "first"), Path(folder, "second")
        night(*options, "--set", "interpret.sessionsLimit=2", "--output", f"{folder}/prepares-engine-and-project")
        whole = night(*options, "--output", str(first))
        again = night(*options, "--output", str(second), "--reuse", str(first))
        manifest = Workspace.open(second).manifest()
    print(f"{manifest.reused:,} of {manifest.finished:,} sessions reused: {again:.1f} s instead of {whole:.1f} s of")
    print(f"processor time, {again / whole:.1%}")
