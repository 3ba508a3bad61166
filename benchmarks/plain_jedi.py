"""Calls jedi by itself, without ci-eval, at the places of a workspace's sessions: what ci-eval must agree with.

    python benchmarks/plain_jedi.py WORKSPACE PROJECT-ROOT      → JSON: one [id, rank, ms] per session

Uses jedi's public interface only, and of ci-eval only the workspace's files. The same standard library is visible.
"""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jedi
import parso.cache

from ci_eval.core.base import stored


def complete(text: str, offset: int, path: Path, project: jedi.Project, environment: Any) -> list[str]:
    """The names jedi suggests at an offset."""
    line = text.count("\n", 0, offset) + 1
    column = offset - (text.rfind("\n", 0, offset) + 1)
    script = jedi.Script(text, path=path, project=project, environment=environment)
    return [found.name for found in script.complete(line, column)]


def sessions(workspace: Path, root: Path) -> Iterator[list[Any]]:
    """Ask at every place, file by file."""
    library = Path(sys.base_prefix, "lib", f"python{sys.version_info.major}.{sys.version_info.minor}")
    project = jedi.Project(root, sys_path=[str(library), str(library / "lib-dynload")])
    environment = jedi.InterpreterEnvironment()
    complete("import os\nos.", 13, root / "warm_up.py", project, environment)
    for packed in sorted(workspace.glob("sessions/*.jsonl.*")):
        head, *rest = map(json.loads, stored.lines(packed))
        for session in rest:
            begin, expected = session["offset"], session["expectedText"]
            text = head["text"][:begin] + head["text"][begin + len(expected) :]
            started = time.perf_counter()
            names = complete(text, begin, root / head["path"], project, environment)
            took = (time.perf_counter() - started) * 1000
            unique = list(dict.fromkeys(name.rstrip("=") for name in names))
            yield [session["id"], unique.index(expected) + 1 if expected in unique else None, took]
        # jedi would show the last text of this file, with its token missing, to the files that import it.
        for files in parso.cache.parser_cache.values():
            files.pop(root / head["path"], None)


if __name__ == "__main__":
    begun = time.perf_counter()
    asked = list(sessions(Path(sys.argv[1]), Path(sys.argv[2])))
    print(json.dumps({"seconds": time.perf_counter() - begun, "sessions": asked}))
