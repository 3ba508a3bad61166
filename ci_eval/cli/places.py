"""Where a workspace is or goes: a folder, or a URL, for which a folder of the cache stands while a command works."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import click

from ci_eval.ci import Screen
from ci_eval.jobs.remote import stores


class _Place(click.Path):
    """A folder; what a URL becomes, `_local` says."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See click.ParamType."""
        if ctx and isinstance(value, str) and stores.is_url(value):
            return self._local(value, ctx)
        return super().convert(value, param, ctx)

    def _local(self, url: str, context: click.Context) -> Path | None:
        raise NotImplementedError


class _Source(_Place):
    """A workspace that is read."""

    def _local(self, url: str, context: click.Context) -> Path | None:  # noqa: ARG002
        return stores.fetch(url)


class _Changed(_Place):
    """A workspace that is read and perhaps written to; it is then sent back."""

    def _local(self, url: str, context: click.Context) -> Path | None:
        folder = stores.to_change(url)
        before = stores.state(folder)

        def send_back() -> None:
            if stores.state(folder) == before:
                shutil.rmtree(folder)
            else:
                _send(folder, url)

        context.call_on_close(send_back)
        return folder


class _New(_Place):
    """A workspace that is made; it is sent where the command has sealed it."""

    def _local(self, url: str, context: click.Context) -> Path | None:
        stores.check_free(url)
        folder = stores.local_folder(url)
        # Also where the command fails because of what it found: the workspace is complete then.
        context.call_on_close(lambda: _send(folder, url))
        return folder


class _Earlier(_Place):
    """A workspace that is read if it is there."""

    def _local(self, url: str, context: click.Context) -> Path | None:  # noqa: ARG002
        folder = stores.fetch_if_there(url)
        if folder is None:
            Screen().say(f"Nothing is reused: there is no workspace at {url} yet")
        return folder


def _send(folder: Path, url: str) -> None:
    screen = Screen()
    if stores.send(folder, url):
        screen.say(f"Sent {folder}")
        screen.result(url)
    else:
        screen.warn(f"nothing is sent to {url}: the workspace {folder} is not finished")


SOURCE, CHANGED, NEW, EARLIER = _Source(), _Changed(), _New(), _Earlier()
