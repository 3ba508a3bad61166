"""The check whether the imports of Java and Kotlin are there."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path, PurePosixPath

from ci_eval.core.base.files import is_own, read_own
from ci_eval.core.import_syntax import Imports

IMPORT = re.compile(r"^[ \t]*import[ \t]+(?:static[ \t]+)?([\w.]+)", re.MULTILINE)
PACKAGE = re.compile(r"^[ \t]*package[ \t]+([\w.]+)", re.MULTILINE)
JDK = re.compile(
    r"(?:java|jdk|javax\.(?:accessibility|annotation\.processing|crypto|imageio|lang|management|naming|net|print|rmi|"
    r"script|security|sound|sql|swing|tools|transaction\.xa|xml)|org\.(?:w3c\.dom|xml\.sax|ietf\.jgss)|kotlin)\."
)
"""The packages of the JDK, and of Kotlin's own library."""


def imports(root: Path, environment: Path | None) -> Imports:
    """Return a check of a file's imports. A class is there if its package is: declared by a file of the project, or in
    a jar."""
    packages = {*_declared_packages(root), *_packages_in_jars(environment)}

    def there(_path: str, text: str) -> Iterator[tuple[str, bool]]:
        for name in IMPORT.findall(text):
            # A nested class or a static member has more than its package in front of its name.
            prefixes = [name, *(".".join(name.split(".")[:count]) for count in range(name.count("."), 0, -1))]
            known = bool(JDK.match(name)) or any(prefix.rstrip(".") in packages for prefix in prefixes)
            yield ".".join(takewhile(lambda part: not part[:1].isupper(), name.rstrip(".").split("."))), known

    return there


def _declared_packages(root: Path) -> Iterator[str]:
    for path in sorted(root.rglob("*")):
        if path.suffix in (".java", ".kt") and is_own(path, root):
            text = read_own(root, str(path.relative_to(root))).decode(errors="replace")
            yield from PACKAGE.findall(text)[:1]


def _packages_in_jars(environment: Path | None) -> Iterator[str]:
    for jar in environment.rglob("*.jar") if environment else ():
        with zipfile.ZipFile(jar) as archive:
            classes = [PurePosixPath(name) for name in archive.namelist() if name.endswith(".class")]
            yield from {".".join(path.parent.parts) for path in classes}
