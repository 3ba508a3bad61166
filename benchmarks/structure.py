"""Figures of the package's structure: python benchmarks/structure.py [CHECKOUT], of this or another checkout."""

from __future__ import annotations

import ast
import statistics
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = Path(sys.argv[1] if sys.argv[1:] else ROOT) / "ci_eval"
# The rules for words are those of the tests.
sys.path.insert(0, str(ROOT))
from tests.size import code_lines, lines_of  # noqa: E402
from tests.words import count_comments, read_words  # noqa: E402

Graph = dict[str, set[str]]


def modules() -> dict[str, Path]:
    """Every module with a line in it, by its dotted name."""
    found = {path: ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in PACKAGE.rglob("*.py")}
    return {name.removesuffix(".__init__"): path for path, name in sorted(found.items()) if path.stat().st_size}


def functions(path: Path) -> Iterator[int]:
    """The lines of each function."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            yield (node.end_lineno or node.lineno) - node.lineno + 1


def imports(path: Path, known: set[str]) -> set[str]:
    """The modules of ours that one imports."""
    named = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{name.name}" for name in node.names}
            named |= {each if each in known else node.module for each in inner}
        elif isinstance(node, ast.Import):
            named |= {name.name for name in node.names}
    return named & known


def print_words(paths: list[Path], lines: int) -> None:
    """Print the shares of docstrings, functions and names that break the rules for words."""
    words = [read_words(path) for path in paths]
    docstrings = sum(len(module.docstrings) for module in words)
    functions = sum(len(module.functions) for module in words)
    names = sum(len(module.names) for module in words)
    inverted = sum(len(module.inverted) for module in words) / docstrings
    participles = sum(len(module.participles) for module in words) / functions
    empty = 100_000 * sum(len(module.empty_names) for module in words) / names
    print(f"| docstrings that are inverted, of {docstrings:,} | {inverted:.1%} |")
    print(f"| functions named by a participle or a preposition | {participles:.1%} |")
    print(f"| names that say nothing (`found`, `each` …), of 100,000 | {empty:,.0f} |")
    print(f"| comments, of 100 lines | {100 * sum(map(count_comments, paths)) / lines:.1f} |")


def cycles(graph: Graph) -> int:
    """Modules that import themselves by way of others."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = list(graph[start])
        while waiting:
            if (name := waiting.pop()) not in seen:
                seen.add(name)
                waiting += graph[name]
        return seen

    return sum(name in reached(name) for name in graph)


def package_of(path: Path) -> str:
    """Return the folder that a module is counted in: the second level of `core` and `plugins`, else the first."""
    folders = path.relative_to(PACKAGE).parts[:-1]
    return "/".join(folders[: 2 if folders[:1] in {("core",), ("plugins",)} else 1])


def main() -> None:
    paths = modules()
    lines = {name: lines_of(path) for name, path in paths.items()}
    longest = max((max(functions(path), default=0), name) for name, path in paths.items())
    lengths = [length for path in paths.values() for length in functions(path)]
    packages: Counter[str] = Counter()
    for name, path in paths.items():
        packages[package_of(path)] += lines[name]
    ((largest, most),) = packages.most_common(1)
    inner = sum(count for package, count in packages.items() if not package.startswith("plugins"))
    print("| figure | value |\n|---|--:|")
    print(f"| modules | {len(paths):,} |\n| lines | {sum(lines.values()):,} |")
    print(f"| lines of code, without docstrings | {sum(map(code_lines, paths.values())):,} |")
    print(f"| lines of a module: median, most | {statistics.median(lines.values()):.0f}, {max(lines.values())} |")
    print(f"| lines of a function: median, most | {statistics.median(lengths):.0f}, {longest[0]} (`{longest[1]}`) |")
    print(f"| modules in a cycle of imports | {cycles({name: imports(paths[name], set(paths)) for name in paths})} |")
    print(f"| share of the largest package | {most / sum(lines.values()):.0%} (`{largest}/`) |")
    print(f"| lines outside of `plugins/` | {inner:,} |")
    print_words(list(paths.values()), sum(lines.values()))
    print("\n| folder | lines | of code | modules |\n|---|--:|--:|--:|")
    for package in sorted(packages):
        inside = [path for path in paths.values() if package_of(path) == package]
        print(f"| `{package}/` | {packages[package]:,} | {sum(map(code_lines, inside)):,} | {len(inside)} |")


if __name__ == "__main__":
    main()
