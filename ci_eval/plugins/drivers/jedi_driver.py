"""A server that completes code with one release of jedi.

Usage: jedi_driver.py LIBRARY-FOLDER PROJECT-ROOT CACHE-FOLDER [PACKAGES…]. CACHE-FOLDER must not be used by another
process: parso, jedi's parser, stores parsed files there. PACKAGES are folders with the project's dependencies.

Imports only the standard library and jedi. Requests on standard input and answers on standard output are JSON lines:

    ["open", path, text]                                      → {}
    ["complete", [[offset, deleted, inserted], …], offset]    → {"ms": …, "items": [[name, kind], …]}
    ["define", offset]                                        → {"defined": [[path, line, column], …]}, from 0

An exception becomes {"error": …}. Works with every jedi since 0.18.
"""

import gc
import json
import os
import sys
import sysconfig
import time
import traceback
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

library, root, cache, *packages = sys.argv[1:]

# jedi must find only the project, its dependencies and the standard library, but no package installed here.
base = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}
base |= {"installed_base": sys.base_prefix, "installed_platbase": sys.base_exec_prefix}
PLATFORM = sysconfig.get_path("platstdlib", vars=base)
STANDARD = [sysconfig.get_path("stdlib", vars=base), PLATFORM, os.path.join(PLATFORM, "lib-dynload")]

sys.path[:] = [library, *dict.fromkeys(STANDARD)]
import jedi
import parso.cache
from jedi.inference import base_value

sys.path[:] = list(dict.fromkeys(STANDARD))
jedi.settings.cache_directory = cache
# By default, jedi imports the module `gi` to analyse it, and so runs its code.
jedi.settings.auto_import_modules = []


class InOrder(dict[Any, None]):
    """A set that keeps the order of insertion."""

    def __init__(self, items: Iterable[Any] = ()) -> None:
        super().__init__(dict.fromkeys(items))

    def __or__(self, other: Any) -> Any:
        return InOrder(chain(self, other))

    __ior__ = __or__

    def __ror__(self, other: Any) -> Any:
        return InOrder(chain(other, self))

    def __and__(self, other: Any) -> Any:
        return InOrder(item for item in self if item in other)

    def __eq__(self, other: object) -> bool:
        return self.keys() == other

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self))


# jedi stores the possible values of a name in a set, and takes the first value. A set's order depends on the addresses
# of its objects, so without InOrder the kind of a suggestion (class, variable …) would differ from run to run.
setattr(base_value, "frozenset", InOrder)


def kind(completion: Any) -> str:
    """Return the kind of a completion: class, function, import, instance, keyword, module, param …"""
    # The result is jedi's `type` except for imported names: following each to its definition would take a quarter of
    # the whole time.
    name = completion._name
    definition = name.tree_name.get_definition() if name.tree_name is not None else None
    if definition is not None and definition.type == "import_from":
        return "import"
    return str(name.api_type)


class OpenedFile:
    """The open file. Each public method answers the request of the same name."""

    def __init__(self) -> None:
        # jedi could read the project's extension modules only by importing them, which would run their code.
        self.project = jedi.Project(root, sys_path=[*sys.path, *packages], load_unsafe_extensions=False)
        # By default, jedi would look for virtual environments and start their Python.
        self.environment = jedi.InterpreterEnvironment()
        self.path: Path | None = None
        self.text = ""

    def open(self, path: str, text: str) -> dict[str, Any]:
        # parso caches the last text of the previous file, in which a token is missing. If a file that imports
        # the previous file got this text, answers would depend on earlier requests.
        for files in parso.cache.parser_cache.values():
            for known in [known for known in files if known is not None and Path(known) == self.path]:
                del files[known]
        self.path = Path(root, path)
        self.text = text
        return {}

    def complete(self, edits: list[tuple[int, int, str]], offset: int) -> dict[str, Any]:
        for begin, deleted, inserted in edits:
            self.text = self.text[:begin] + inserted + self.text[begin + deleted :]
        started = time.perf_counter()
        script, line, column = self._script(offset)
        items = [(completion.name, kind(completion)) for completion in script.complete(line, column)]
        return {"ms": (time.perf_counter() - started) * 1000, "items": items}

    def define(self, offset: int) -> dict[str, Any]:
        script, line, column = self._script(offset)
        names = script.goto(line, column, follow_imports=True)
        # A definition in a compiled module has no file.
        return {
            "defined": [
                (str(name.module_path or name.full_name), (name.line or 1) - 1, name.column or 0) for name in names
            ]
        }

    def _script(self, offset: int) -> tuple[Any, int, int]:
        line = self.text.count("\n", 0, offset) + 1
        column = offset - (self.text.rfind("\n", 0, offset) + 1)
        script = jedi.Script(self.text, path=self.path, project=self.project, environment=self.environment)
        return script, line, column


def serve(requests: Iterable[bytes], answers: BinaryIO) -> None:
    session = OpenedFile()
    # The first completion reads the stubs of the builtins. Do this now, so that it does not count as a session's time.
    session.open("ci_eval_warm_up.py", "")
    session.complete([(0, 0, "import os\nos.")], 13)
    # Objects that exist now are never freed, so the garbage collector can skip them.
    gc.collect()
    gc.freeze()
    for line in requests:
        name, *arguments = json.loads(line)
        try:
            answer = getattr(session, name)(*arguments)
        except Exception:
            answer = {"error": traceback.format_exc(limit=-5)}
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    # Send whatever jedi prints to standard error, so that it does not mix with the answers.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, out)
