"""Runs one release of jedi: jedi_driver.py LIBRARY-FOLDER PROJECT-ROOT CACHE-FOLDER. Standard library and jedi only.

Each line on standard input is a request, each line on standard output its answer, both JSON:

    ["open", path, text]                                      → {}
    ["complete", [[offset, deleted, inserted], …], offset]    → {"ms": …, "items": [[name, kind], …]}

An exception becomes {"error": …}. Works with every jedi since 0.18.
"""

import gc
import itertools
import json
import os
import sys
import sysconfig
import time
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

library, root, cache = sys.argv[1:]

# Only the standard library and the project are there to be completed, whatever is installed beside ci-eval.
base = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}
base |= {"installed_base": sys.base_prefix, "installed_platbase": sys.base_exec_prefix}
PLATFORM = sysconfig.get_path("platstdlib", vars=base)
STANDARD = [sysconfig.get_path("stdlib", vars=base), PLATFORM, os.path.join(PLATFORM, "lib-dynload")]

sys.path[:] = [library, *dict.fromkeys(STANDARD)]
import jedi
import parso.cache
import parso.python.tree
from jedi.inference.base_value import HelperValueMixin
from jedi.inference.names import AbstractNameDefinition

sys.path[:] = list(dict.fromkeys(STANDARD))
jedi.settings.cache_directory = cache
# By default jedi imports `gi` for better answers; nothing of the project's world is to be run.
jedi.settings.auto_import_modules = []


age = itertools.count()


def by_age(self: Any) -> int:
    # Not getattr: jedi's wrappers pass that on to what they wrap.
    known = self.__dict__
    if "ci_eval_age" not in known:
        known["ci_eval_age"] = next(age)
    return int(known["ci_eval_age"])


def by_place(node: Any) -> int:
    return hash((node.type, node.start_pos))


# jedi keeps values in sets, and of two ways to the same name the first one in the set wins. Objects hash by their
# address, so the kind of a suggestion would differ from run to run; hashed by age, it does not.
HelperValueMixin.__hash__ = by_age
AbstractNameDefinition.__hash__ = by_age
setattr(parso.tree.BaseNode, "__hash__", by_place)
setattr(parso.python.tree.Name, "__hash__", by_place)


class Session:
    """One open file and the jedi that completes in it."""

    def __init__(self) -> None:
        self.project = jedi.Project(root, sys_path=sys.path, load_unsafe_extensions=False)
        self.environment = jedi.InterpreterEnvironment()
        self.path: Path | None = None
        self.text = ""

    def open(self, path: str, text: str) -> dict[str, Any]:
        self._forget()
        self.path = Path(root, path)
        self.text = text
        return {}

    def complete(self, edits: list[tuple[int, int, str]], offset: int) -> dict[str, Any]:
        for begin, deleted, inserted in edits:
            self.text = self.text[:begin] + inserted + self.text[begin + deleted :]
        global age
        age = itertools.count()
        started = time.perf_counter()
        line = self.text.count("\n", 0, offset) + 1
        column = offset - (self.text.rfind("\n", 0, offset) + 1)
        script = jedi.Script(self.text, path=self.path, project=self.project, environment=self.environment)
        items = [(found.name, found.type) for found in script.complete(line, column)]
        return {"ms": (time.perf_counter() - started) * 1000, "items": items}

    def _forget(self) -> None:
        # parso keeps the last text it saw under the file's path and date, so a later import of this file would see the
        # text with a token missing: results would depend on which files a worker had done before.
        for files in parso.cache.parser_cache.values():
            for path in [path for path in files if path is not None and Path(path) == self.path]:
                del files[path]


def serve(requests: Iterable[bytes], answers: BinaryIO) -> None:
    session = Session()
    # The first completion reads the stubs of the builtins; no session should pay for that.
    session.open("ci_eval_warm_up.py", "")
    session.complete([(0, 0, "import os\nos.")], 13)
    gc.collect()
    gc.freeze()
    # jedi makes many small objects; looking for garbage less often saves a tenth of the time.
    gc.set_threshold(50_000, 20, 50)
    for line in requests:
        name, *arguments = json.loads(line)
        try:
            answer = getattr(session, name)(*arguments)
        except Exception:
            answer = {"error": traceback.format_exc(limit=-5)}
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    # Whatever prints must not end up between the answers.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, out)
