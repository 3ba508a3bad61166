"""The tokens of a language against the language's own parser: missed, invented, and of the wrong kind.

python benchmarks/languages.py LANGUAGE [PROJECT…]        projects as --project takes them; default: see ORACLES
    --examples N        the disagreements of each kind that are printed (5)
    --files N           the files of each project, sampled (40)

Prints the rows of docs/results/languages.md for the projects and for the snippets of tests/languages/modern/, and below
them the disagreements. Files that the language's parser refuses are left out.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from ci_eval.core import machine
from ci_eval.core.actions import declarations, source_files
from ci_eval.core.catalogs import languages
from ci_eval.core.contracts import Language
from ci_eval.core.grammar.document import decode
from ci_eval.core.model import ActionsConfig
from ci_eval.fetch import project
from ci_eval.fetch.clients import run_client
from ci_eval.fetch.download import hash_file
from ci_eval.fetch.packages import npm_run, pip_install
from ci_eval.plugins.adapters import jars
from ci_eval.plugins.adapters.recipes import once

FOLDER = Path(__file__).parent / "oracles"
SNIPPETS = Path(__file__).parent.parent / "tests" / "languages" / "modern"
LARGEST = 200_000
SEED = 0
PREFIXES = {"php": "<?php\n", "go": "package p\n"}
"""Language → what a snippet lacks."""

Tokens = dict[int, tuple[str, str]]
"""Offset in code points → text and kind; an oracle's kind may be several, between `|`, of which any is right, or
UNDECIDED."""


class Unavailable(Exception):
    """A program or package that the oracle needs is not installed."""


class Oracle(NamedTuple):
    """A parser that the makers of a language publish, as a program that prints tokens."""

    title: str
    projects: tuple[str, ...]
    command: Callable[[], list[str]]
    unit: str = "code points"
    """The unit of its offsets: code points, bytes or UTF-16."""


@dataclass
class Result:
    """The comparison over some files."""

    files: int = 0
    refused: int = 0
    tokens: int = 0
    undecided: int = 0
    """The tokens of ours that the oracle cannot judge."""
    missed: int = 0
    invented: int = 0
    wrong: int = 0
    examples: dict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))
    """Our kind and the oracle's, "" for none → places."""

    def add(self, path: str, text: str, ours: Tokens, theirs: Tokens) -> None:
        """Compare the tokens of a file."""
        self.files += 1
        for offset in sorted(ours.keys() | theirs.keys()):
            (mine, kind), (name, expected) = ours.get(offset, ("", "")), theirs.get(offset, ("", ""))
            if expected == "UNDECIDED":
                self.undecided += bool(kind)
                continue
            kinds = set(expected.split("|")) - {"DEFINITION", ""}
            is_optional = "DEFINITION" in expected
            self.tokens += bool(kinds)
            if (not kind and (is_optional or not kinds)) or (kind in kinds and mine == name):
                continue
            if not kind:
                self.missed += 1
            elif not kinds:
                self.invented += 1
            else:
                self.wrong += 1
            line = text.count("\n", 0, offset) + 1
            self.examples[kind, expected].append(f"{path}:{line} `{mine or name}`")

    def row(self) -> str:
        """Return the cells of the table."""
        shares = (f"{count / max(self.tokens, 1):.2%}" for count in (self.missed, self.invented, self.wrong))
        refused = f" (+{self.refused} refused)" if self.refused else ""
        undecided = f" (+{self.undecided:,} undecided)" if self.undecided else ""
        return " | ".join([f"{self.files:,}{refused}", f"{self.tokens:,}{undecided}", *shares])


def program(*names: str) -> str:
    """Return the first of these programs that runs."""
    for name in names:
        location = shutil.which(name)
        # Some are there only in name, as those of pyenv.
        version = "version" if name == "go" else "--version"
        if location and not subprocess.run([location, version], capture_output=True, check=False).returncode:
            return location
    raise Unavailable(f"{' or '.join(names)} is not installed")


def java() -> list[str]:
    """Return the command of the oracle of Java, by the newest JDK: it reads what its elders refuse."""
    locations = [shutil.which("java"), *map(str, Path("/usr/lib/jvm").glob("*/bin/java"))]
    versions = {location: java_version(location) for location in locations if location}
    if not versions:
        raise Unavailable("java is not installed")
    exports = [
        f"--add-exports=jdk.compiler/com.sun.tools.javac.{part}=ALL-UNNAMED" for part in ("file", "parser", "util")
    ]
    return [max(versions, key=versions.__getitem__), *exports, str(FOLDER / "Oracle.java")]


def java_version(location: str) -> int:
    """Return the feature release of a JDK, 0 if it does not run."""
    run = subprocess.run([location, "-version"], capture_output=True, text=True, check=False)
    match = re.search(r'version "(\d+)', run.stderr)
    return int(match[1]) if match else 0


def npm_package(name: str, version: str) -> Path:
    """Return the folder of an npm package, installed once into the cache."""

    def install(folder: Path) -> dict[str, str]:
        options = ("--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(folder))
        npm_run(("install", *options, f"{name}@{version}"), cwd=folder)
        return {name: version}

    tools = machine.cache_folder() / "oracles" / f"{name.replace('/', '_')}@{version}"
    return once(tools, version, install).folder / "node_modules" / name


def kotlin() -> list[str]:
    """Return the command of the oracle of Kotlin."""
    return ["java", "-cp", maven(KOTLIN), str(FOLDER / "Kotlin.java")]


def scala() -> list[str]:
    """Return the command of the oracle of Scala."""
    return ["java", "-cp", maven(SCALA), "Scala"]


def maven(recipe: jars.Maven) -> str:
    """Return the class path of a compiler, and of what was compiled by it, installed once into the cache."""
    for name in recipe.needs:
        program(name)
    folder = recipe.make(None, machine.cache_folder() / "oracles").folder
    return jars.classpath([folder / jars.DRIVER, *jars.list_jars(folder)])


KOTLIN = jars.Maven(artifact="org.jetbrains.kotlin:kotlin-compiler-embeddable", version="2.4.21")
SCALA = jars.Maven(
    artifact="org.scala-lang:scala3-compiler_3",
    version="3.9.0",
    driver=jars.Driver(
        file=FOLDER / "Scala.scala", compiler="dotty.tools.dotc.Main", options=("-usejavacp", "-color:never")
    ),
)


def php() -> list[str]:
    """Return the command of the oracle of PHP, with the library of Debian's package, unpacked once into the cache."""

    def install(folder: Path) -> dict[str, str]:
        apt = program("apt-get")
        # A new machine does not know yet which packages there are.
        for command in ([apt, "download", "php-parser"], [apt, "update", "-q"], [apt, "download", "php-parser"]):
            if not list(folder.glob("*.deb")):
                subprocess.run(command, cwd=folder, capture_output=True, check=False)
        archive = next(folder.glob("*.deb"), None)
        if archive is None:
            raise Unavailable("Debian's package php-parser cannot be downloaded")
        subprocess.run([program("dpkg"), "-x", archive, folder], check=True)
        return {"php-parser": archive.name}

    folder = once(machine.cache_folder() / "oracles" / "php-parser", "", install).folder
    return [program("php"), str(FOLDER / "php.php"), str(folder / "usr/share/php/PhpParser/autoload.php")]


def ecmascript() -> list[str]:
    """Return the command of the oracle of JavaScript and TypeScript."""
    # Version 7 has no interface for JavaScript.
    return [program("node"), str(FOLDER / "ecmascript.cjs"), str(npm_package("typescript", "5.9.3"))]


def cpp() -> list[str]:
    """Return the command of the oracle of C++, with the headers of the machine's compiler: libclang has none."""
    requirement = "libclang==18.1.1"
    folder = once(
        machine.cache_folder() / "oracles" / requirement, "18.1.1", lambda new: pip_install([requirement], new)
    ).folder
    search = subprocess.run(
        [program("c++", "g++", "clang++"), "-E", "-x", "c++", "-v", "/dev/null"],
        capture_output=True,
        text=True,
        check=True,
    )
    headers = search.stderr.partition("#include <...>")[2].partition("End of search list")[0].splitlines()[1:]
    options = [f"-isystem{header.strip()}" for header in headers]
    # LevelDB's makefile defines the system.
    return [sys.executable, str(FOLDER / "cpp.py"), str(folder), *options, "-DLEVELDB_PLATFORM_POSIX", "-DOS_LINUX"]


def rust() -> list[str]:
    """Return the command of the oracle of Rust, built once into the cache."""

    def install(folder: Path) -> dict[str, str]:
        (folder / "src").mkdir()
        shutil.copy(FOLDER / "rust.rs", folder / "src" / "main.rs")
        (folder / "Cargo.toml").write_text(
            '[package]\nname = "oracle"\nedition = "2021"\n'
            f'[dependencies]\nra_ap_syntax = "={RA_SYNTAX}"\nserde_json = "=1.0.154"\n'
        )
        run_client((program("cargo"), "build", "--quiet", "--release"), cwd=folder)
        return {"ra_ap_syntax": RA_SYNTAX}

    source = hash_file(FOLDER / "rust.rs")[:16]
    folder = once(machine.cache_folder() / "oracles" / f"ra_ap_syntax@{RA_SYNTAX}-{source}", RA_SYNTAX, install).folder
    return [str(folder / "target" / "release" / "oracle")]


# The newest that Rust 1.95 builds.
RA_SYNTAX = "0.0.349"

ORACLES = {
    "python": Oracle(
        "`ast` and `tokenize`",
        ("pypi:flask==3.0.3", "pypi:click==8.1.7", "pypi:jinja2==3.1.4", "pypi:networkx==3.3"),
        # Python 3.14, whatever is installed: it reads what its elders refuse.
        lambda: [program("node"), str(FOLDER / "python.mjs"), str(npm_package("pyodide", "314.0.6"))],
    ),
    "typescript": Oracle(
        "TypeScript's compiler API 5.9.3", ("npm:rxjs@7.8.1", "npm:immer@10.1.1", "npm:zod@4.0.0"), ecmascript, "UTF-16"
    ),
    "javascript": Oracle(
        "TypeScript's compiler API 5.9.3",
        ("npm:eslint@8.57.0", "npm:express@4.19.2", "npm:koa@2.15.3", "npm:commander@12.1.0", "npm:mathjs@3.20.2"),
        ecmascript,
        "UTF-16",
    ),
    "go": Oracle(
        "`go/types`",
        (
            "go:github.com/spf13/cobra@v1.8.1",
            "go:github.com/sirupsen/logrus@v1.9.3",
            "go:github.com/gorilla/mux@v1.8.1",
        ),
        lambda: [program("go"), "run", str(FOLDER / "go.go")],
        "bytes",
    ),
    "java": Oracle(
        "javac",
        (
            "maven:org.apache.commons:commons-lang3:3.14.0",
            "maven:com.google.code.gson:gson:2.11.0",
            "maven:commons-io:commons-io:2.16.1",
        ),
        java,
        "UTF-16",
    ),
    "kotlin": Oracle(
        "Kotlin's PSI 2.4.21",
        (
            "maven:org.jetbrains.kotlinx:kotlinx-coroutines-core-jvm:1.8.1",
            "maven:com.squareup.okio:okio-jvm:3.9.0",
            "maven:com.github.ajalt.clikt:clikt-jvm:4.4.0",
            "maven:org.jetbrains.kotlinx:kotlinx-coroutines-core-jvm:1.10.2",
        ),
        kotlin,
        "UTF-16",
    ),
    "ruby": Oracle(
        "Prism 1.9.0",
        ("maven:org.asciidoctor:asciidoctorj:3.0.0:jar",),
        lambda: [program("node"), "--no-warnings", str(FOLDER / "ruby.mjs"), str(npm_package("@ruby/prism", "1.9.0"))],
        "bytes",
    ),
    "cpp": Oracle("libclang 18.1.1", ("npm:leveldown@6.1.1", "npm:re2@1.21.4"), cpp, "bytes"),
    "scala": Oracle(
        "Scala's compiler 3.9.0",
        (
            "maven:org.scala-lang:scala-library:2.13.14",
            "maven:org.typelevel:cats-core_2.13:2.12.0",
            "maven:org.scala-lang:scala3-library_3:3.3.7",
        ),
        scala,
        "UTF-16",
    ),
    "rust": Oracle(
        f"rust-analyzer's parser {RA_SYNTAX}",
        (
            "crate:serde_json==1.0.118",
            "crate:clap_builder==4.5.2",
            "crate:tokio==1.38.0",
            "crate:regex-automata==0.4.7",
            "crate:syn==2.0.68",
        ),
        rust,
        "bytes",
    ),
    "php": Oracle("nikic/php-parser", ("npm:@wordpress/block-library@11.1.0",), php, "bytes"),
}


def ask(oracle: Oracle, paths: Sequence[Path]) -> Iterator[tuple[Path, Tokens | None]]:
    """Yield what an oracle says of each file, None if it refuses the file."""
    run = subprocess.run(
        oracle.command(), input="".join(f"{path}\n" for path in paths), capture_output=True, text=True, check=False
    )
    if run.returncode:
        raise RuntimeError(f"the oracle ended with {run.returncode}: {run.stderr[-2000:]}")
    for line in run.stdout.splitlines():
        answer = json.loads(line)
        path = Path(answer["path"])
        if "error" in answer:
            yield path, None
            continue
        points = code_points(decode(path.read_bytes()), oracle.unit)
        yield path, {points(offset): (text, kind) for offset, text, kind in answer.get("tokens", [])}


def code_points(text: str, unit: str) -> Callable[[int], int]:
    """Return the function from offsets in a unit to offsets in code points."""
    if unit == "code points" or text.isascii():
        return lambda offset: offset
    width = (lambda c: len(c.encode())) if unit == "bytes" else (lambda c: 1 + (c > "\uffff"))
    begins = list(accumulate(map(width, text), initial=0))
    return lambda offset: bisect_left(begins, offset)


def compare(oracle: Oracle, language: Language, root: Path, paths: Sequence[str], result: Result) -> None:
    """Add the files of a folder to a result."""
    declared = declarations(root, language, ActionsConfig())
    for path, theirs in ask(oracle, [root / path for path in paths]):
        if theirs is None:
            result.refused += 1
            continue
        text, name = decode(path.read_bytes()), path.relative_to(root).as_posix()
        tokens = language.extract(text, name, declared).tokens
        result.add(name, text, {t.offset: (t.text, t.properties.kind.value) for t in tokens}, theirs)


def compare_projects(name: str, specs: Sequence[str], files: int) -> Result:
    """Return the comparison over sampled files of projects."""
    language = languages.CATALOG.load(name)
    result = Result()
    for spec in specs:
        root = project.prepare(spec, cache=machine.cache_folder()).root
        every = source_files(root, language, ActionsConfig())
        paths = [path for path in sorted(every) if 200 < (root / path).stat().st_size < LARGEST]
        compare(
            ORACLES[name], language, root, sorted(random.Random(SEED).sample(paths, min(files, len(paths)))), result
        )
    return result


def compare_snippets(name: str) -> Result:
    """Return the comparison over the snippets of newer syntax, a file each."""
    language = languages.CATALOG.load(name)
    result = Result()
    suffix = next(iter(language.grammars))
    with tempfile.TemporaryDirectory(prefix="ci-eval-") as folder:
        blocks = (SNIPPETS / f"{name}.txt").read_text().split("\n# ")
        for number, block in enumerate(blocks):
            code = block.partition("\n")[2].rsplit("\n=> ", 1)[0]
            text = f"{PREFIXES.get(name, '')}{code}\n"
            # Files of one folder may be one program.
            path = Path(folder, f"{number:03}", f"snippet{suffix}")
            path.parent.mkdir()
            path.write_text(text)
        root = Path(folder).resolve()
        compare(
            ORACLES[name], language, root, sorted(f"{path.name}/snippet{suffix}" for path in root.iterdir()), result
        )
    return result


def main() -> None:
    """Print the rows of the table, then each disagreement."""
    parser = argparse.ArgumentParser()
    parser.add_argument("language", choices=sorted(ORACLES))
    parser.add_argument("project", nargs="*")
    parser.add_argument("--examples", type=int, default=5)
    parser.add_argument("--files", type=int, default=40)
    options = parser.parse_args()
    oracle = ORACLES[options.language]
    try:
        results = {
            "projects": compare_projects(options.language, options.project or oracle.projects, options.files),
            "snippets": compare_snippets(options.language),
        }
    except Unavailable as error:
        sys.exit(str(error))
    print(
        "| language | oracle | | files | tokens | missed | invented | wrong kind |\n|---|---|---|--:|--:|--:|--:|--:|"
    )
    title = languages.CATALOG.load(options.language).title
    for what, result in results.items():
        print(f"| {title} | {oracle.title} | {what} | {result.row()} |")
    for what, result in results.items():
        print(f"\n{what}:")
        counts = Counter({pair: len(places) for pair, places in result.examples.items()})
        for (kind, expected), count in counts.most_common():
            places = ", ".join(result.examples[kind, expected][: options.examples])
            print(f"{count:6,} {kind or '-'} instead of {expected or '-'}: {places}")


if __name__ == "__main__":
    main()
