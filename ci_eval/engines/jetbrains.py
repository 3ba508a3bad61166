"""The IDEs of JetBrains, whose evaluation plugin types and asks by itself."""

from __future__ import annotations

from ci_eval.adapters.ide.engine import IdeEngine
from ci_eval.contracts import Engine

ENGINE: Engine = IdeEngine(
    name="jetbrains",
    summary="an IDE of JetBrains with its evaluation plugin, over whole projects; never tried with a real IDE",
)
