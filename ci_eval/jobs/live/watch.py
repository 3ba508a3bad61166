"""Watches runs: the report of each is made anew as files get through, until the run is complete.

Each report stands in a folder of its own, so that nothing is in the way of the one that the run writes at its end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic, sleep

from ci_eval import atomic
from ci_eval.ci import Screen
from ci_eval.jobs import pipeline, runs
from ci_eval.rendering.htmldata import script
from ci_eval.workspace import Workspace

FOLDER = "live"
PAUSE = 2.0
"""Seconds between two looks at the workspaces, at least."""
SHARE = 3
"""After a report, so many times as long as it took goes by before the next one: the run needs the machine."""

Shown = Callable[[dict[str, Path]], None]


class Moment(Workspace):
    """A workspace of a run that goes on, with the files that were through at one moment: every page of a report is
    about the same ones."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.through = super().session_files()

    def session_files(self) -> list[Path]:
        return self.through


def watch(folders: Sequence[Path], *, screen: Screen, shown: Shown, pause: float = PAUSE) -> list[dict[str, Path]]:
    """Write reports until the runs in all `folders` are complete; of each run, by reporter, the path of the last one.
    `shown` is called with those of each run's first. Raises WorkspaceError if there is no workspace."""
    watched = [_Watched(folder, screen, shown) for folder in folders]
    while going := [each for each in watched if each.goes_on]:
        began = monotonic()
        made = [each.look() for each in going]
        took = monotonic() - began if any(made) else 0.0
        if any(each.goes_on for each in going):
            sleep(max(pause, SHARE * took))
    return [each.reports for each in watched]


class _Watched:
    """One run."""

    def __init__(self, folder: Path, screen: Screen, shown: Shown) -> None:
        self._folder, self._screen, self._shown = folder, screen, shown
        self._edition = self._seen = 0
        self.goes_on = True
        self.reports: dict[str, Path] = {}
        if not Workspace.open(folder).manifest().complete:
            screen.say(
                f"Watching {folder}, in which a report begins with the first file that is through; Ctrl-C ends it"
            )

    def look(self) -> bool:
        """Whether a report was written, since the run is complete now or more files are through."""
        now = Moment(self._folder)
        if now.manifest().complete:
            # Opened again: files may have got through after they were listed above.
            self.reports = _written(Workspace.open(self._folder), 0)
            self.goes_on = False
            if not self._edition:
                self._shown(self.reports)
            return True
        if len(now.through) == self._seen:
            return False
        self._edition, self._seen = self._edition + 1, len(now.through)
        self.reports = _written(now, self._edition)
        files = "file" if self._seen == 1 else "files"
        self._screen.say(f"Report {self._edition}: {self._seen:,} {files} through, {self.reports['html']}")
        if self._edition == 1:
            self._shown(self.reports)
        return True


def _written(workspace: Workspace, edition: int) -> dict[str, Path]:
    """`edition`: the number of the report, from 1; 0 = the last one."""
    config = runs.stored_config(workspace)
    _, reports = pipeline.make_reports(workspace, config, folder=workspace.folder / FOLDER, edition=edition)
    # Pages that are open ask for it again and again: nothing but a script can be read from disk.
    atomic.write(reports["html"].parent / "edition.js", script("ciEvalEdition", edition))
    return reports
