"""A report of many sessions: CPU seconds, memory, and the size of its pages, beside that of before.

python benchmarks/report_scale.py [--sessions N] [--files N]

The workspace is generated, with 20 suggestions in each session. Before, what a page loads for an opened token was not
packed; the pages themselves were larger by a tenth, which is not counted.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import zlib
from base64 import b64decode
from pathlib import Path

from compare_scale import generate


def unpacked(script: Path) -> int:
    """Bytes of the sessions in a script."""
    packed = re.search(rb'"([A-Za-z0-9+/=]+)"', script.read_bytes())
    assert packed, script
    return len(zlib.decompress(b64decode(packed[1])))


def main() -> None:
    """Generate, report, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=100_000)
    parser.add_argument("--files", type=int, default=100)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder, "workspace")
        generate(workspace, given.sessions, given.files, new=False)
        command = [sys.executable, "-m", "ci_eval", "report", str(workspace)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"exit code {process.returncode}: {' '.join(command)}")
        html = workspace / "reports" / "html"
        size = sum(path.stat().st_size for path in html.rglob("*") if path.is_file())
        scripts = [path for path in (html / "files" / "data").glob("*.js") if not path.stem.endswith("-places")]
        before = size - sum(path.stat().st_size for path in scripts) + sum(map(unpacked, scripts))
    print(f"{given.sessions:,} sessions in {given.files:,} files")
    print(f"{used.ru_utime + used.ru_stime:.1f} s CPU, {used.ru_maxrss / 1e3:.0f} MB of memory at most")
    print(f"HTML: {size / 1e6:.1f} MB, {size / given.sessions:.0f} bytes a session; before / now {before / size:.1f}")


if __name__ == "__main__":
    main()
