"""A folder of HTML pages from templates, first written beside its final path, then moved there as a whole."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import jinja2
from markupsafe import Markup

from ci_eval.core.base import atomic
from ci_eval.core.filters import label

COMMON = ("style.css", "theme.js")
"""The assets that every page has."""


class HtmlSite:
    """A report being written; paths are relative to its folder."""

    def __init__(self, folder: Path, templates: Path, **known: object) -> None:
        """Set up the templates. `known`: values that all templates may use."""
        self._folder = folder
        self._templates = templates
        self._environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(templates),
            autoescape=True,
            # A misspelt name must fail instead of leaving a gap in the page.
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals.update(known)
        self._environment.filters.update({"breakable": breakable, "label": label})
        self._environment.filters["label"] = label

    def assets(self, names: Sequence[str]) -> None:
        """Copy styles and scripts into the folder `assets`."""
        folder = self._folder / "assets"
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            shutil.copyfile(self._templates / name, folder / name)

    def render(self, template: str, target: str, **values: object) -> None:
        """Write a page from a template."""
        text = self._environment.get_template(template).render(**values)
        # UTF-8 has no lone surrogates, and one in a text must not cost the page.
        self.write(target, text.encode("utf-8", "backslashreplace"))

    def write(self, target: str, data: bytes) -> None:
        """Write a file, with the folders it is in."""
        path = self._folder / target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def breakable(path: str) -> Markup:
    """Return a path that may be broken behind its slashes if it does not fit into a line."""
    return Markup("/<wbr>").join(path.split("/"))


def report_link(workspace: Path, folder: Path) -> str:
    """Return the address of an evaluation's report as seen from a page in `folder`; "" if it has none."""
    page = workspace / "reports" / "html" / "index.html"
    return quote(Path(os.path.relpath(page.resolve(), folder.resolve())).as_posix()) if page.is_file() else ""


@contextmanager
def replace_folder(folder: Path) -> Iterator[Path]:
    """Yield a folder to write to, which replaces `folder` at the end, unless something fails.

    Raises WorkspaceError if it cannot be written.
    """
    partial, former = (folder.with_name(f"{folder.name}.{os.getpid()}.{name}") for name in ("tmp", "old"))
    try:
        with atomic.writing(folder):
            partial.mkdir(parents=True)
            yield partial
            if folder.exists():
                # Renamed, not removed in its place: a reader finds either the old report or the new one.
                folder.rename(former)
            partial.rename(folder)
    finally:
        for path in (partial, former):
            shutil.rmtree(path, ignore_errors=True)
