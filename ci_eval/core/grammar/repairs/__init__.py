"""The rewriting of newer syntax into older, of the same length and with the same names, before a grammar reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ci_eval.core.grammar.repairs import cpp, ecmascript, java, kotlin, php, python, rust, scala
from ci_eval.core.grammar.repairs.repair import Rewritten


class Rewriting(Protocol):
    @property
    def always(self) -> bool: ...
    def apply(self, source: bytes, /) -> Rewritten: ...


REPAIRS: Mapping[str, tuple[Rewriting, ...]] = {
    "cpp": cpp.REPAIRS,
    "javascript": ecmascript.PLAIN,
    "tsx": ecmascript.TYPESCRIPT,
    "typescript": ecmascript.TYPESCRIPT,
    "java": java.REPAIRS,
    "kotlin": kotlin.REPAIRS,
    "php": php.REPAIRS,
    "python": python.REPAIRS,
    "rust": rust.REPAIRS,
    "scala": scala.REPAIRS,
}
