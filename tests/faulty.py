"""An engine with one fault: a real process that speaks the drivers' protocol, and does what it must not."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from ci_eval.core.contracts import Installation, Running, Surroundings
from ci_eval.core.model import EngineInfo
from ci_eval.plugins.adapters.process import LineProcess
from ci_eval.plugins.engines.jedi import RunningJedi
from tests.fake import Fake

PROGRAM = Path(__file__).parent / "faulty_program.py"


class RunningFaulty(RunningJedi):
    """The client is jedi's; only the program is another."""

    fault = ""

    def _start(self) -> LineProcess:
        argv = [sys.executable, str(PROGRAM), self.fault]
        return LineProcess(argv, cwd=self._surroundings.root, environment={"PATH": os.defpath})


@dataclass(frozen=True)
class Faulty(Fake):
    """Misbehaves in the way that `fault` says."""

    fault: str
    name: str = "faulty"

    def install(self, version: str | None, cache: Path) -> Installation:
        return Installation(info=EngineInfo(name=self.name, version=self.fault))

    def start(self, installation: Installation, surroundings: Surroundings) -> Running:
        kind = type("RunningFaulty", (RunningFaulty,), {"fault": self.fault})
        running: Running = kind(Path(), surroundings)
        return running
