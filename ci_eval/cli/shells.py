"""The completion of words in shells, as far as click does not know it."""

from __future__ import annotations

import os

from click.shell_completion import BashComplete, CompletionItem, add_completion_class, split_arg_string


class Bash(BashComplete):
    """A completion for bash, which takes `=` for a word of its own, and replaces what stands behind it: KEY=VALUE comes
    in three words, and only the value goes back."""

    _kept = ""
    """The beginning of the word that bash keeps."""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the one to complete, and that one; see `BashComplete.get_completion_args`."""
        place = int(os.environ["COMP_CWORD"])
        words = [*split_arg_string(os.environ["COMP_WORDS"]), ""][: place + 1]
        whole: list[str] = []
        behind = False
        for word in words:
            if whole and (behind or word == "="):
                whole[-1] += word
            else:
                whole.append(word)
            behind = word == "="
        if whole[-1] != words[-1]:
            self._kept = whole[-1][: whole[-1].rindex("=") + 1]
        return whole[1:-1], whole[-1]

    def format_completion(self, item: CompletionItem) -> str:
        """Return the line that bash reads; see `BashComplete.format_completion`."""
        return f"{item.type},{item.value.removeprefix(self._kept)}"


def register() -> None:
    """Let click use `Bash` for completions."""
    add_completion_class(Bash)
