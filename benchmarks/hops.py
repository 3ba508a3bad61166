"""Print the frames of ci-eval from `evaluate` to the request that a language server gets: a reader's hops.

python benchmarks/hops.py [OPTION…]      options are of `ci-eval evaluate`; without any, the tests' server is asked

Counts the distinct frames of the package: in the command from `main` to the hand-over of files to a worker process, and
in the worker from its start to the request.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "ci_eval"
OUTPUT = "CI_EVAL_HOPS"
"""The variable that names the folder of the stacks; Python processes below this one watch their own calls then."""
COMMAND = f"{shlex.quote(sys.executable)} {shlex.quote(str(ROOT / 'tests/adapters/lsp/server.py'))} plain"
SOURCE = "def area(width, height):\n    return width * height\n\n\nprint(area(1, 2))\n"


def watch() -> None:
    """Write down the stack when a file is first given to a worker process, and when completion is first requested."""
    folder = Path(os.environ[OUTPUT])

    def look(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event != "call" or code.co_name != "send":
            return
        if code.co_filename.endswith("multiprocessing/connection.py"):
            if type(frame.f_locals["obj"]).__name__ == "Turn":
                note(folder / "command", frame)
        elif (
            code.co_filename.endswith("adapters/process.py") and b'"textDocument/completion"' in frame.f_locals["body"]
        ):
            note(folder / "worker", frame)

    sys.setprofile(look)


def note(file: Path, frame: FrameType | None) -> None:
    """Write a line for each distinct frame of the package, the outermost first, unless the file is there already."""
    lines = []
    while frame and not file.exists():
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(PACKAGE) and path.name != "__main__.py":
            name = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
            lines.append(f"{path.relative_to(PACKAGE)}: {name}\n")
        frame = frame.f_back
    if lines:
        file.write_text("".join(dict.fromkeys(reversed(lines))))


def trace(options: list[str]) -> dict[str, list[str]]:
    """Run `evaluate` with these options; return the frames in the command and those in the worker."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "project").mkdir()
        (folder / "project" / "area.py").write_text(SOURCE)
        # Python imports this module at the start of each process.
        (folder / "sitecustomize.py").write_text(f"import sys; sys.path.append({str(ROOT / 'benchmarks')!r})\n")
        with (folder / "sitecustomize.py").open("a") as file:
            file.write("import hops; hops.watch()\n")
        default = ["--language", "python", "--project", f"path:{folder}/project", "--engine-command", COMMAND]
        command = [sys.executable, "-m", "ci_eval", "evaluate", *(options or default), "--output", str(folder / "out")]
        environment = os.environ | {OUTPUT: name, "PYTHONPATH": name}
        subprocess.run([*command, "--jobs", "1"], check=True, env=environment, stdout=subprocess.DEVNULL)
        return {kind: (folder / kind).read_text().splitlines() for kind in ("command", "worker")}


def main() -> None:
    """Print the frames and their number."""
    stacks = trace(sys.argv[1:])
    for kind, lines in stacks.items():
        print(f"in the {kind}:", *lines, sep="\n  ")
    frames = [line for lines in stacks.values() for line in lines]
    print(f"{len(frames)} hops in {len({line.partition(':')[0] for line in frames})} files")


if __name__ == "__main__":
    main()
