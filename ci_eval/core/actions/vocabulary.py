"""The vocabulary of a project: the texts of its tokens, and how many of them no other file has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from ci_eval.core.model import Vocabulary


@dataclass
class Texts:
    tokens: int = 0
    files: Counter[str] = field(default_factory=Counter)
    """The number of files that each text is in."""
    alone: dict[str, int] = field(default_factory=dict)
    """The number of occurrences of each text that is in a single file."""

    def add(self, of_file: Mapping[str, int]) -> None:
        """Count the texts of a file. `of_file`: text → the number of its occurrences."""
        self.files.update(of_file.keys())
        for text, times in of_file.items():
            self.tokens += times
            if self.files[text] == 1:
                self.alone[text] = times
            else:
                # The text is in a second file now, so no longer alone.
                self.alone.pop(text, None)

    def summed(self) -> Vocabulary | None:
        if not self.tokens:
            return None
        return Vocabulary(
            tokens=self.tokens,
            texts=len(self.files),
            open=sum(self.alone.values()) / self.tokens,
            new=len(self.alone) / self.tokens,
        )
