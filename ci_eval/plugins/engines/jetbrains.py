"""The IDEs of JetBrains, whose evaluation plugin types and asks by itself."""

from __future__ import annotations

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.ide.engine import IdeEngine

ENGINE: Engine = IdeEngine(
    name="jetbrains",
    summary="an IDE of JetBrains with its evaluation plugin, over whole projects; never tried with a real IDE",
)
