"""Projects full of tricks, by language; nothing of them may run because an engine looks at them."""

from __future__ import annotations

from collections.abc import Callable

from tests.engines.hostile import cpp, ecmascript, go, jvm, php, python
from tests.engines.hostile.trap import Trap

PROJECTS: dict[str, Callable[[Trap], None]] = {
    "python": python.configured_in_one_file,
    "typescript": ecmascript.typescript,
    "javascript": ecmascript.javascript,
    "php": php.project,
    "cpp": cpp.project,
    "go": go.project,
    "java": jvm.java,
    "kotlin": jvm.kotlin,
    "scala": jvm.scala,
}
