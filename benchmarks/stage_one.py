"""Stage 1 over a real project of each language: files, tokens by kind, unparsable text, megabytes per second and core.

python benchmarks/stage_one.py [LANGUAGE…]        prints the table of docs/results/languages.md

The projects are those of the nightly configurations. Speed, in one process, the best of three rounds: of finding the
tokens; of all of stage 1 (reading, declarations, tokens, actions, packing); and of parsing alone, one round.
"""

from __future__ import annotations

import gc
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ci_eval.core import machine
from ci_eval.core.actions import Source, SourceTree, declarations, make, source_files
from ci_eval.core.catalogs import languages
from ci_eval.core.config import Config, load
from ci_eval.core.contracts import Language
from ci_eval.core.grammar.document import decode
from ci_eval.core.grammar.syntax import bundle, parse_tree
from ci_eval.core.model import FileError, Kind
from ci_eval.fetch import project
from ci_eval.plugins.tasks.completion import COMPLETION as TASK

CONFIGS = Path(__file__).parent.parent / "configs"
ROUNDS = 3
KINDS = [kind for kind in Kind if kind is not Kind.LINE]


@dataclass(frozen=True)
class Row:
    """The files, tokens and speed of stage 1 over one project."""

    title: str
    spec: str
    files: int
    errors: int
    size: float
    """MB."""
    kinds: Counter[str]
    unparsable: float
    speed: float
    """MB/s."""
    parsing: float
    tokens: float


def measure(config: Config) -> Row:
    """Stage 1 over the project of a configuration."""
    language = languages.CATALOG.load(config.language)
    target = project.prepare(config.project.spec, cache=machine.cache_folder())
    paths = list(source_files(target.root, language, config.actions))
    best, made = float("inf"), []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        declared = declarations(target.root, language, config.actions)
        job = SourceTree(
            root=target.root, name="p", language=language, config=config.actions, declared=declared, task=TASK
        )
        made = [make(job, path) for path in paths]
        best = min(best, time.perf_counter() - started)
    good = [file for file in made if not isinstance(file, FileError)]
    size = sum(file.size for file in good) / 1e6
    return Row(
        title=language.title,
        spec=config.project.spec.partition("#")[0],
        files=len(good),
        errors=len(made) - len(good),
        size=size,
        kinds=sum((file.kinds for file in good), Counter()),
        unparsable=sum(file.unparsable * file.size for file in good) / max(size * 1e6, 1),
        speed=size / best,
        parsing=size / parse_time(language, target.root, paths),
        tokens=size / token_time(language, target.root, paths, config),
    )


def parse_time(language: Language, root: Path, paths: list[str]) -> float:
    """Seconds the grammar takes for all files."""
    sources = [Source(project="p", path=path, text="", language=language) for path in paths]
    texts = [((root / source.path).read_bytes(), source.grammar) for source in sources]
    started = time.perf_counter()
    for text, grammar in texts:
        parse_tree(text, grammar)
    return time.perf_counter() - started


def token_time(language: Language, root: Path, paths: list[str], config: Config) -> float:
    """Seconds it takes to find the tokens of all files; the best of the rounds."""
    texts = [(decode((root / path).read_bytes()), path) for path in paths]
    declared = declarations(root, language, config.actions)
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        for text, path in texts:
            # As stage 1 does: the collector would only look at what is no garbage.
            gc.disable()
            language.extract(text, path, declared)
            gc.enable()
        times.append(time.perf_counter() - started)
    return min(times)


def main() -> None:
    """Print the table of all languages, or of those named."""
    names = sys.argv[1:]
    configs = [config for path in sorted(CONFIGS.glob("*.yaml")) if (config := load(path).config).project.spec]
    rows = [measure(config) for config in configs if not names or config.language in names]
    print(f"{bundle()}, Python {machine.python()}, {machine.cpu()}\n")
    print("| language | project | files | MB | " + " | ".join(kind.value for kind in KINDS), end="")
    print(" | unparsable | tokens, MB/s | stage 1, MB/s | parsing alone, MB/s |\n|---|---|" + "--:|" * (len(KINDS) + 6))
    for row in rows:
        counts = " | ".join(f"{row.kinds[kind.value]:,}" for kind in KINDS)
        files = f"{row.files:,}" + (f" (+{row.errors} not read)" if row.errors else "")
        print(f"| {row.title} | `{row.spec}` | {files} | {row.size:.2f} | {counts}", end="")
        print(f" | {row.unparsable:.2%} | {row.tokens:.1f} | {row.speed:.1f} | {row.parsing:.1f} |")


if __name__ == "__main__":
    main()
