"""The parameter types for workspaces: a folder, or a URL, for which a folder of the cache stands while a command
works."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import Any

import click

from ci_eval.ci import Screen
from ci_eval.jobs.remote import stores


class _Place(click.Path):
    """A folder; `_local` turns a URL into one."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the folder that the value stands for; see `click.ParamType.convert`."""
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

        def send_or_remove(before: stores.State) -> None:
            # An unchanged copy has no use once the command ends.
            if not _send_changes(folder, url, before):
                shutil.rmtree(folder)

        context.call_on_close(partial(send_or_remove, stores.state(folder)))
        return folder


class _New(_Place):
    """A workspace that is made; it is sent if the command has sealed it."""

    def _local(self, url: str, context: click.Context) -> Path | None:
        stores.check_free(url)
        folder = stores.local_folder(url)
        # Also called if the command fails because of its result, such as a broken gate: the workspace is complete then.
        context.call_on_close(partial(_send_changes, folder, url, stores.state(folder)))
        return folder


class _Earlier(_Place):
    """A workspace that is read if it is there."""

    def _local(self, url: str, context: click.Context) -> Path | None:  # noqa: ARG002
        folder = stores.fetch_if_there(url)
        if folder is None:
            Screen().say(f"Nothing is reused: there is no workspace at {url} yet")
        return folder


def _send_changes(folder: Path, url: str, before: stores.State) -> bool:
    """Send the workspace if the command has written anything; return whether it has."""
    if stores.state(folder) == before:
        return False
    screen = Screen()
    if stores.send(folder, url):
        screen.say(f"Sent {folder}")
        screen.result(url)
    else:
        screen.warn(f"nothing is sent to {url}: the workspace {folder} is not finished")
    return True


SOURCE, CHANGED, NEW, EARLIER = _Source(), _Changed(), _New(), _Earlier()
