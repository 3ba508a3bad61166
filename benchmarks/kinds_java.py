"""Java's tokens against javac: does ci-eval give each name the kind that the compiler gives it?

python benchmarks/kinds_java.py [SPEC]        a project as --project takes it; needs a JDK

Prints the share of names with the same kind (and static, and package, where both know), what only one of the two has,
and the disagreements with examples.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

from ci_eval.core import machine
from ci_eval.core.actions import declarations, source_files
from ci_eval.core.grammar.document import decode
from ci_eval.core.model import ActionsConfig, Kind, Properties
from ci_eval.fetch import project
from ci_eval.plugins.languages.java import LANGUAGE

PROGRAM = Path(__file__).parent / "JavacKinds.java"
DEFAULT = "maven:org.apache.commons:commons-lang3:3.14.0"
EXAMPLES = 3

Place = tuple[str, int]


def theirs(root: Path, paths: list[str]) -> dict[Place, list[str]]:
    """Of each name: itself, kind, static, package."""
    java = shutil.which("java")
    if java is None:
        sys.exit("java is not installed: a JDK of version 17 or newer is needed")
    done = subprocess.run([java, str(PROGRAM), str(root), *paths], capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return {(row[0], int(row[1])): row[2:] for row in rows}


def ours(root: Path, paths: list[str], config: ActionsConfig) -> dict[Place, tuple[str, Properties]]:
    """Of each token that is no keyword: its text and what is known of it."""
    declared = declarations(root, LANGUAGE, config)
    found = {}
    for path in paths:
        for token in LANGUAGE.extract(decode((root / path).read_bytes()), path, declared).tokens:
            if token.properties.kind is not Kind.KEYWORD:
                found[path, token.offset] = token.text, token.properties
    return found


def main() -> None:
    """Print the comparison."""
    root = project.prepare(sys.argv[1] if len(sys.argv) > 1 else DEFAULT, cache=machine.cache_folder()).root
    config = ActionsConfig()
    paths = [path for path in source_files(root, LANGUAGE, config) if not path.endswith("-info.java")]
    mine, javac = ours(root, paths, config), theirs(root, paths)
    both = sorted(mine.keys() & javac.keys())
    differing: dict[tuple[str, str], list[str]] = defaultdict(list)
    decided: Counter[str] = Counter()
    for place in both:
        text, known = mine[place]
        _, kind, static, package = javac[place]
        if known.kind.value != kind:
            differing[known.kind.value, kind].append(f"{place[0].rpartition('/')[2]}:{place[1]} {text}")
        if known.is_static is not None:
            decided["static"] += 1
            decided["static agrees"] += str(known.is_static).lower() == static
        if known.package is not None and package:
            decided["package"] += 1
            decided["package agrees"] += known.package == package
    wrong = sum(map(len, differing.values()))
    print(f"{len(both):,} names in {len(paths)} files; kinds agree on {1 - wrong / max(len(both), 1):.2%}")
    print(f"only ours {len(mine.keys() - javac.keys()):,}, only javac's {len(javac.keys() - mine.keys()):,}")
    for what in ("static", "package"):
        share = decided[f"{what} agrees"] / max(decided[what], 1)
        print(f"{what}: known of {decided[what] / max(len(both), 1):.1%}, agrees on {share:.2%} of these")
    print("\n| ours | javac | names | examples |\n|---|---|--:|---|")
    for (kind, other), places in sorted(differing.items(), key=lambda item: -len(item[1])):
        print(f"| {kind} | {other} | {len(places):,} | {', '.join(places[:EXAMPLES])} |")


if __name__ == "__main__":
    main()
