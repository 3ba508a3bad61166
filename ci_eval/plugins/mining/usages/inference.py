"""The type inference by jedi before a dot, for Python code in which local rules do not determine the type."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections import OrderedDict
from functools import cache
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ci_eval.plugins.mining.usages.contract import Receiver

if TYPE_CHECKING:
    import jedi

LIBRARY = Path(os.__file__).parent
NONE = "builtins.NoneType"
"""Type of None, which is ignored: the first value of a variable seldom says what it is for."""
KEPT = 200_000
"""Number of answers that the cache holds."""
IMPORT = re.compile(rb"^[ \t]*(?:from|import)\b.*$", re.MULTILINE)
BLOCK = re.compile(rb"^(?:[ \t]+)?(?:async[ \t]+)?(?:def|class)\b", re.MULTILINE)
SORTS: dict[str, Receiver] = {"module": "module", "namespace": "module", "class": "class"}
Answer = tuple[Receiver, str]


# jedi takes about 26 ms for an answer, and most of a file is the same from snapshot to snapshot.
class JediInference:
    """An inference of types in texts of one project, with a cache of its answers."""

    def __init__(self, root: Path | None = None) -> None:
        """Start jedi. `root` is the project's folder, whose other modules jedi may read. None of them is run."""
        import jedi  # Takes long, and most commands infer nothing.

        # jedi would import these modules rather than read them, and so run their code.
        jedi.settings.auto_import_modules = []
        jedi.settings.cache_directory = _parser_cache().name
        # It sees the standard library and the project, not what happens to be installed beside ci-eval.
        path = [str(LIBRARY), str(LIBRARY / "lib-dynload")]
        folder = root or Path(_parser_cache().name)
        self._project = jedi.Project(folder, sys_path=path, load_unsafe_extensions=False)
        self._environment = jedi.InterpreterEnvironment()
        self._answers: OrderedDict[bytes, Answer] = OrderedDict()
        self._script: tuple[bytes, jedi.Script] | None = None
        self.asked = 0
        """Number of calls of jedi."""

    def __call__(self, source: bytes, at: int) -> Answer:
        key = _key(source, at)
        if key not in self._answers:
            self.asked += 1
            self._answers[key] = self._ask(source, at)
            while len(self._answers) > KEPT:
                self._answers.popitem(last=False)
        return self._answers[key]

    def _ask(self, source: bytes, at: int) -> Answer:
        begin = source.rfind(b"\n", 0, at) + 1
        column = len(source[begin:at].decode(errors="replace"))
        try:
            names = self._open_script(source).infer(source.count(b"\n", 0, at) + 1, column)
        except Exception:  # noqa: BLE001 - jedi fails in many ways on broken code: then it does not know, either
            return "unknown", ""
        for name in names:
            if name.type == "instance" and name.full_name and name.full_name != NONE:
                return "object", str(name.full_name)
            if name.type in SORTS:
                return SORTS[name.type], str(name.full_name or "")
        return "unknown", ""

    def _open_script(self, source: bytes) -> jedi.Script:
        import jedi

        if self._script is None or self._script[0] is not source:
            text = source.decode(errors="replace")
            self._script = source, jedi.Script(text, project=self._project, environment=self._environment)
        return self._script[1]


@cache
def _parser_cache() -> TemporaryDirectory[str]:
    # Each process has its own folder, since parso trusts what it finds there by the date of the file alone.
    return TemporaryDirectory(prefix="ci-eval-", ignore_cleanup_errors=True)


def _key(source: bytes, at: int) -> bytes:
    """Return the digest that decides an answer: the function or class around, the position in it, and the imports."""
    begins = [0, *(match.start() for match in BLOCK.finditer(source))]
    number = bisect_right(begins, at) - 1
    end = begins[number + 1] if number + 1 < len(begins) else len(source)
    digest = blake2b(digest_size=16)
    for part in (source[begins[number] : end].rstrip(), str(at - begins[number]).encode(), *IMPORT.findall(source)):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()
