"""A run that goes on, by hand: files get through, and it ends, when a test says so."""

from __future__ import annotations

import shutil
from pathlib import Path

from msgspec.structs import replace

from ci_eval.core.workspace import Workspace
from tests.command import command
from tests.here import one_process
from tests.projects import GREETER, write


class GoingOn:
    """The folder of a run of `words` over three files, none of which is through yet."""

    def __init__(self, root: Path) -> None:
        project = write(root / "p", a__py=GREETER, b__py="import os\nprint(os.path)\n", c__py=GREETER)
        self._whole, self.folder = root / "whole", root / "w"
        options = ("--project", f"path:{project}", "--engine", "words", "--output", self._whole, "--jobs", 1)
        with one_process():
            ended, _, said = command("evaluate", *options)
        assert ended == 0, said
        shutil.copytree(self._whole, self.folder)
        shutil.rmtree(self.folder / "reports")
        workspace = Workspace.open(self.folder)
        made = {"actions": workspace.manifest().stages["actions"]}
        workspace.write_manifest(replace(workspace.manifest(), stages=made))
        self._waiting = sorted((self._whole / "sessions").iterdir())
        for path in self._waiting:
            (self.folder / "sessions" / path.name).unlink()

    def get_through(self) -> None:
        """The next file is."""
        shutil.copyfile(path := self._waiting.pop(0), partial := self.folder / path.name)
        partial.rename(self.folder / "sessions" / path.name)

    def end(self) -> None:
        """All files are through, and the run is complete."""
        while self._waiting:
            self.get_through()
        shutil.copyfile(self._whole / "manifest.json", partial := self.folder / "manifest.tmp")
        partial.rename(self.folder / "manifest.json")
