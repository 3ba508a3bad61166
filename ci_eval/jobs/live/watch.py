"""Watches a run: its report is made anew as files get through, until the run is complete.

The report stands in a folder of its own, so that nothing is in the way of the one that the run writes at its end.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

from ci_eval import atomic
from ci_eval.ci import Screen
from ci_eval.jobs import pipeline, runs
from ci_eval.rendering.htmldata import script
from ci_eval.workspace import Workspace

FOLDER = "live"
PAUSE = 2.0
"""Seconds between two looks at the workspace, at least."""
SHARE = 3
"""After a report, so many times as long as it took goes by before the next one: the run needs the machine."""

Shown = Callable[[dict[str, Path]], None]


class Moment(Workspace):
    """A workspace of a run that goes on, with the files that were through at one moment: every page of a report is
    about the same ones."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.through = super()._session_files()

    def _session_files(self) -> list[Path]:
        return self.through


def watch(folder: Path, *, screen: Screen, shown: Shown, pause: float = PAUSE) -> dict[str, Path]:
    """Write reports until the run in `folder` is complete; by reporter, the path of the last one. `shown` is called
    with those of the first. Raises WorkspaceError where there is no workspace."""
    edition, seen = 0, 0
    if not Workspace.open(folder).manifest().complete:
        screen.say(f"Watching {folder}, in which a report begins with the first file that is through; Ctrl-C ends it")
    while not (now := Moment(folder)).manifest().complete:
        took = 0.0
        if len(now.through) != seen:
            edition, seen, began = edition + 1, len(now.through), monotonic()
            reports = _written(now, edition)
            took = monotonic() - began
            screen.say(f"Report {edition}: {seen:,} {'file' if seen == 1 else 'files'} through, {reports['html']}")
            if edition == 1:
                shown(reports)
        sleep(max(pause, SHARE * took))
    # Opened again: files may have got through after they were listed above.
    reports = _written(Workspace.open(folder), 0)
    if not edition:
        shown(reports)
    return reports


def _written(workspace: Workspace, edition: int) -> dict[str, Path]:
    """`edition`: the number of the report, from 1; 0 = the last one."""
    config = runs.stored_config(workspace)
    _, reports = pipeline.make_reports(workspace, config, folder=workspace.folder / FOLDER, edition=edition)
    # Pages that are open ask for it again and again: nothing but a script can be read from disk.
    atomic.write(reports["html"].parent / "edition.js", script("ciEvalEdition", edition))
    return reports
