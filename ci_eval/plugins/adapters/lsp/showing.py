"""The files of a project, shown to a server after its start, so that an answer does not depend on what it has seen."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from string import ascii_lowercase

from ci_eval.core.base.errors import EngineRaised
from ci_eval.core.base.files import below
from ci_eval.core.contracts import Surroundings
from ci_eval.core.grammar.document import NotText, read_text
from ci_eval.plugins.adapters.lsp.client import Client

ERROR = "\n)"
"""A bracket that closes none, which is an error."""
NO_FILE = "untitled"
"""The stem of the name of a document that is not stored in a file."""
ROUNDS = 4
"""The most times that lists are asked for."""


def show_project(
    client: Client, root: Path, surroundings: Surroundings, language_id: Callable[[str, str], str], ending: str
) -> None:
    """Open each source file of the project in turn, and wait until it is checked. Then ask for lists until none grows:
    for a list, too, a server looks into modules.

    `ending`: what each file ends with while it is open. Ends after `Surroundings.ready` seconds; then the client is
    unready. Raises EngineFailure.
    """
    deadline = time.monotonic() + surroundings.ready
    paths = sorted(below(root, root, surroundings.suffixes, surroundings.ignored))
    texts = {path: text + ending for path in paths if (text := _read_text(root, path))}
    if not texts:
        return

    def open_file(path: str, text: str) -> None:
        client.open(root / path, language_id(surroundings.language, path), text, deadline)

    *_, last = texts
    # basedpyright loses a file that is closed before it has found the files of the project. Once it has answered, it
    # has found them. It may publish nothing about a file that is opened again, so this one is not of the project.
    open_file(str(Path(last).with_stem(NO_FILE)), "")
    _count_names(client, "", "a", deadline)
    for path, text in texts.items():
        open_file(path, text)
        if not client.await_check(deadline):
            return
    total = -1
    for _ in range(ROUNDS):
        former, total = total, sum(_count_names(client, texts[last], letter, deadline) for letter in ascii_lowercase)
        if total == former:
            return


def _read_text(root: Path, path: str) -> str:
    """Return the text of a file; "" if it has none, or cannot be read."""
    with suppress(OSError, NotText):
        return read_text(root, path)
    return ""


def _count_names(client: Client, text: str, letter: str, deadline: float) -> int:
    """Return how many names the server lists for a letter in a new line behind `text`, that of the open document."""
    line = f"\n{letter}"
    client.change(text, [(len(text), 0, line)], text + line, deadline)
    try:
        return len(client.complete(text + line, len(text + line), deadline)[0].items)
    except EngineRaised:
        return 0
    finally:
        client.change(text + line, [(len(text), len(line), "")], text, deadline)
