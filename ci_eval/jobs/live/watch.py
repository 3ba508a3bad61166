"""The job `watch`: it writes the report of each run again as files get through, until the run is complete.

Each report has a folder of its own, so that it does not hinder the report that the run writes at its end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic, sleep

from ci_eval.ci import Screen
from ci_eval.core.base import atomic
from ci_eval.core.rendering.htmldata import script
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import pipeline, runs

FOLDER = "live"
PAUSE = 2.0
"""The least number of seconds between two looks at the workspaces."""
SHARE = 3
"""The pause after a report, as a multiple of the time that the report took: the run needs the machine."""

Shown = Callable[[dict[str, Path]], None]


class Moment(Workspace):
    """A workspace of an unfinished run, with the files that were through at one moment. So every page of a report is
    about the same files."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.through = super().session_files()

    def session_files(self) -> list[Path]:
        return self.through


def watch(folders: Sequence[Path], *, screen: Screen, shown: Shown, pause: float = PAUSE) -> list[dict[str, Path]]:
    """Write reports until the runs in all `folders` are complete. Return the paths of each run's last report, by
    reporter.

    `shown` is called with the paths of each run's first report. Raises WorkspaceError if a folder holds no workspace.
    """
    watched_runs = [_Watched(folder, screen, shown) for folder in folders]
    while unfinished := [run for run in watched_runs if run.goes_on]:
        began = monotonic()
        reported = [run.look() for run in unfinished]
        took = monotonic() - began if any(reported) else 0.0
        if any(run.goes_on for run in unfinished):
            sleep(max(pause, SHARE * took))
    return [run.reports for run in watched_runs]


class _Watched:
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
        """Write a report if the run is complete or more files are through; return whether a report was written."""
        now = Moment(self._folder)
        if now.manifest().complete:
            # Opened again: files may have got through after they were listed above.
            self.reports = _write_reports(Workspace.open(self._folder), 0)
            self.goes_on = False
            if not self._edition:
                self._shown(self.reports)
            return True
        if len(now.through) == self._seen:
            return False
        self._edition, self._seen = self._edition + 1, len(now.through)
        self.reports = _write_reports(now, self._edition)
        files = "file" if self._seen == 1 else "files"
        self._screen.say(f"Report {self._edition}: {self._seen:,} {files} through, {self.reports['html']}")
        if self._edition == 1:
            self._shown(self.reports)
        return True


def _write_reports(workspace: Workspace, edition: int) -> dict[str, Path]:
    """Write the report number `edition`, from 1; 0 is the last one. Return the paths by reporter."""
    config = runs.stored_config(workspace)
    _, reports = pipeline.make_reports(workspace, config, folder=workspace.folder / FOLDER, edition=edition)
    # Pages that are open ask for it again and again: nothing but a script can be read from disk.
    atomic.write(reports["html"].parent / "edition.js", script("ciEvalEdition", edition))
    return reports
