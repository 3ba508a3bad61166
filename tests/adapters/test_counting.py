"""What predictors that count know of the project."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ci_eval.core.contracts import Surroundings
from ci_eval.plugins.adapters.counting import Counting, CountingOptions
from ci_eval.plugins.languages.python import KEYWORDS
from tests.projects import write


class Known(Counting):
    """Predicts what it knows."""

    def predict(self, before: str, after: str) -> Iterable[str]:
        self.around.read(before, after)
        return self.elsewhere


def known(root: Path, options: CountingOptions, ignored: frozenset[str] = frozenset()) -> dict[str, int]:
    surroundings = Surroundings(
        root=root,
        language="python",
        keywords=KEYWORDS,
        cache=root,
        timeout=1,
        memory=0,
        suffixes=(".py",),
        ignored=ignored,
    )
    running = Known(options, surroundings)
    running.open("a.py", "")
    return running.elsewhere


def test_the_tokens_of_the_other_files_are_counted(tmp_path: Path) -> None:
    write(tmp_path, a__py="mine = 1\n", b__py="x = y\n", c__py="x = z\n")
    assert known(tmp_path, CountingOptions()) == {"x": 2, "=": 2, "y": 1, "z": 1}
    assert known(tmp_path, CountingOptions(), frozenset({"c.py"})) == {"x": 1, "=": 1, "y": 1}
    assert known(tmp_path, CountingOptions(project=False)) == {}
