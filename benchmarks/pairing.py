"""Files per second that `ci-eval dataset unit-tests` reads and pairs, of the projects of docs/results/datasets.md.

python benchmarks/pairing.py [LANGUAGE …]: downloads the projects unless they are in the cache.
"""

import statistics
import sys
import time

from ci_eval.core import machine
from ci_eval.core.base.files import below
from ci_eval.fetch import project
from ci_eval.plugins.mining.unit_tests.languages import CATALOG
from ci_eval.plugins.mining.unit_tests.records import Contents, Origin, Selection, read_file, records

PROJECTS = {
    "python": "pypi:networkx==3.3",
    "java": "debian:libcommons-lang3-java=3.12.0-2+deb12u1",
    "go": "go:github.com/spf13/cobra@v1.8.1",
    "javascript": "npm:mathjs@3.20.2",
    "csharp": "debian:newtonsoft-json=6.0.8+dfsg-1.1",
}
ROUNDS = 3


def main() -> None:
    """Print the medians over the rounds, in processor time of one process."""
    for language in sys.argv[1:] or PROJECTS:
        found = project.prepare(PROJECTS[language], cache=machine.cache_folder())
        rates, sizes = [], (0, 0, 0)
        for _ in range(ROUNDS):
            started = time.process_time()
            sizes = once(found, language)
            rates.append(sizes[0] / (time.process_time() - started))
        shown = ", ".join(f"{rate:.0f}" for rate in rates)
        files, tests, lines = sizes
        print(f"{language:10} {files:4} files, {tests:5} tests, {lines:4} records: "
              f"{statistics.median(rates):4.0f} files/s per core ({shown})")  # fmt: skip


def once(found: project.Project, language: str) -> tuple[int, int, int]:
    """Files, tests, records."""
    dialect = CATALOG.load(language)
    paths = sorted(below(found.root, found.root, tuple(dialect.grammars)))
    parsed = [each for path in paths if not isinstance(each := read_file(found.root, language, path), str)]
    contents = Contents(
        paths=paths,
        functions=[function for each in parsed for function in each.functions],
        tests=[test for each in parsed for test in each.tests],
        broken=[],
        troubles=[],
    )
    origin = Origin(info=found.info, root=found.root, licence="")
    mined = records(contents, origin, dialect, Selection(), set())
    return len(paths), len(contents.tests), len(mined.lines)


if __name__ == "__main__":
    main()
