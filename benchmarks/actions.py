"""Stage 1: megabytes of Python source per CPU second, over this Python's standard library.

python benchmarks/actions.py [FOLDER]
"""

import statistics
import sys
import sysconfig
import time
from pathlib import Path

from ci_eval.core.actions import SourceTree, make, source_files
from ci_eval.core.grammar.syntax import parse_tree
from ci_eval.core.model import ActionsConfig, FileError
from ci_eval.plugins.languages.python import LANGUAGE
from ci_eval.plugins.tasks import completion

ROUNDS = 5


def main() -> None:
    """Print the medians over the rounds; parsing alone beside it, as a measure of the machine."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else sysconfig.get_path("stdlib"))
    config = ActionsConfig(ignore_file_names=("test", "tests", "idlelib", "lib2to3"))
    paths = list(source_files(root, LANGUAGE, config))
    project = SourceTree(
        root=root, name="stdlib", language=LANGUAGE, config=config, declared={}, task=completion.COMPLETION
    )
    texts = [(root / path).read_bytes() for path in paths]
    size = sum(map(len, texts)) / 1e6
    ours, parsing, sessions = [], [], 0
    for _ in range(ROUNDS):
        started = time.process_time()
        made = [make(project, path) for path in paths]
        ours.append(size / (time.process_time() - started))
        sessions = sum(0 if isinstance(each, FileError) else each.kinds.total() for each in made)
        started = time.process_time()
        for text in texts:
            parse_tree(text, "python")
        parsing.append(size / (time.process_time() - started))
    print(f"{len(paths)} files, {size:.1f} MB, {sessions:,} sessions")
    for name, values, unit in (
        ("stage 1", ours, "MB per CPU second"),
        ("parsing alone", parsing, "MB per CPU second"),
        ("stage 1 takes", [alone / mine for alone, mine in zip(parsing, ours, strict=True)], "times parsing alone"),
    ):
        each = ", ".join(f"{value:.2f}" for value in values)
        print(f"{name:14}{statistics.median(values):6.2f} {unit}  ({each})")


if __name__ == "__main__":
    main()
