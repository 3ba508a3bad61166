"""Whether presence and rank of the expected text are what a second, minimal client of JDT finds at the same places.

python benchmarks/minimal_jdt.py WORKSPACE --root FOLDER [--jars FOLDER] [--places 300] [--index]

WORKSPACE: of an evaluation with engine jdt, NoPrefix and the client `editor`; root: the folder of its sources; jars:
those its project needs. The minimal client shares nothing with the engine but JDT's jars: MinimalJdt.java
starts Eclipse another way, copies the sources, opens and closes the file for every place anew, and prints proposals as
they come, of which a list is made here. A place that differs is asked again in a process of its own. With --index JDT
indexes everything first, as an IDE does: this shows what the index changes.
"""

from __future__ import annotations

import argparse
import base64
import random
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ci_eval.core import machine
from ci_eval.core.catalogs import engines
from ci_eval.core.model import Session
from ci_eval.core.workspace import Workspace

DRIVER = Path(__file__).parent / "MinimalJdt.java"
JUPITER = ("Assertions", "Assumptions", "DynamicContainer", "DynamicTest")
FAVOURITES = ["org.junit.Assert.*", "org.junit.Assume.*", *(f"org.junit.jupiter.api.{name}.*" for name in JUPITER)]
UNWANTED = ("com.sun.", "io.micrometer.shaded.", "java.awt.", "jdk.", "org.graalvm.", "sun.")
IMPORT = re.compile(r"^import\s+(static\s+)?([\w.*]+)\s*;", re.MULTILINE)
WEIGHT = {4: 1, 3: 2, 9: 3, 1: 3, 27: 3, 6: 4, 26: 4, 12: 4, 7: 4, 13: 4, 2: 5, 5: 6, 10: 6}
"""Kind of a proposal, by its number in CompletionProposal → what SortTextHelper adds to 16 times its relevance."""
FIELD, METHOD, OVERRIDE, PACKAGE, TYPE, ACCESSOR, CONSTRUCTORS = 2, 6, 7, 8, 9, 11, (1, 26, 27)


@dataclass(frozen=True)
class Case:
    """A session: where it is, and what was found there."""

    path: str
    text: str
    """Without the expected text."""
    offset: int
    expected: str
    kind: str
    rank: int | None


def cases_of(workspace: Path, number: int) -> list[Case]:
    """A seeded sample of a workspace's sessions."""
    found = [
        Case(
            source.path,
            source.text[: session.offset] + source.text[session.offset + len(session.expected_text) :],
            session.offset,
            session.expected_text,
            session.properties.kind.name,
            session.lookups[0].rank,
        )
        for source, sessions in Workspace.open(workspace).sessions(Session)
        for session in sessions
        if session.lookups
    ]
    return random.Random(0).sample(found, min(number, len(found)))


class Minimal:
    """A process of MinimalJdt."""

    def __init__(self, streams: tuple[IO[str], IO[str]]) -> None:
        self._in, self._out = streams

    def names(self, case: Case) -> list[str]:
        """What an editor would list."""
        imports = IMPORT.findall(case.text)
        favourites = [*FAVOURITES, *(name.rpartition(".")[0] + ".*" for static, name in imports if static)]
        place = len(case.text[: case.offset].encode("utf-16-le")) // 2
        text = base64.b64encode(case.text.encode()).decode()
        self._in.write(f"{place} {case.path} {text} {','.join(favourites)}\n")
        self._in.flush()
        unwanted = tuple(each for each in UNWANTED if not any(name.startswith(each) for _, name in imports))
        own = next(iter(re.findall(r"^package\s+([\w.]+)", case.text, re.MULTILINE)), "")
        listed: dict[str, tuple[int, str]] = {}
        for fields in iter(lambda: self._out.readline().rstrip("\n").split("\t"), [""]):
            if word := word_of(fields, case, unwanted):
                relevance = int(fields[1]) + (fields[0] == str(PACKAGE) and fields[3] == own)
                place_in_list = (-max(0, 16 * relevance + WEIGHT.get(int(fields[0]), 0)), word.lower())
                listed[word] = min(listed.get(word, place_in_list), place_in_list)
        return sorted(listed, key=listed.__getitem__)


def word_of(fields: list[str], case: Case, unwanted: tuple[str, ...]) -> str:
    """The word that a proposal would put at the place; "" for one that is not shown."""
    kind, start, completion, name = int(fields[0]), int(fields[2]), fields[3], fields[4]
    declared, signature, type_start, type_completion, needs_more = fields[5:10]
    is_import = completion.endswith((";", "."))
    filtered = kind in (TYPE, 26, 27) or (kind == METHOD and needs_more == "true")
    unwelcome = filtered and not is_import and qualified(signature if kind == TYPE else declared).startswith(unwanted)
    if unwelcome or kind == ACCESSOR:
        return ""
    if kind == OVERRIDE:
        return "@Override"
    if kind == METHOD and completion.endswith(")"):
        completion = name
    if (kind == TYPE or kind in CONSTRUCTORS) and signature:
        start, completion = int(type_start), type_completion
        if not completion.endswith((";", ".")) and "." in completion and "." not in case.text[start : case.offset]:
            completion = completion.rpartition(".")[2]
    typed = case.text[start : case.offset]
    rest = completion[len(typed) :] if completion.startswith(typed) else completion
    found = re.match(r"[\w$]+", rest)
    return found[0] if found else rest


def qualified(signature: str) -> str:
    """`Ljava.util.List<TE;>;` → `java.util.List`."""
    return re.sub(r"<.*|;$", "", signature.lstrip("[")).removeprefix("L")


@contextmanager
def minimal(root: Path, jars: Path | None, *, index: bool) -> Iterator[Minimal]:
    """The process, compiled and started over the sources below `root`."""
    engine = engines.CATALOG.load("jdt").install(None, machine.cache_folder()).folder
    assert engine
    own = [str(path) for path in sorted((engine / "jars").rglob("*.jar"))]
    with tempfile.TemporaryDirectory() as folder:
        compiler = ["java", "-cp", ":".join(own), "org.eclipse.jdt.internal.compiler.batch.Main"]
        options = ["-proc:none", "-nowarn", "--release", "17", "-cp", ":".join(own), "-d", f"{folder}/classes"]
        subprocess.run([*compiler, *options, str(DRIVER)], check=True)
        needed = ":".join(str(path) for path in sorted(jars.rglob("*.jar"))) if jars else ""
        command = ["java", "-Xmx2g", "-cp", ":".join([f"{folder}/classes", *own]), "MinimalJdt", str(engine / "jars")]
        arguments = [f"{folder}/area", str(root), needed, *(["index"] if index else [])]
        pipe = subprocess.PIPE
        with subprocess.Popen([*command, *arguments], encoding="utf-8", stdin=pipe, stdout=pipe) as process:
            assert process.stdin
            assert process.stdout
            yield Minimal((process.stdin, process.stdout))
            process.stdin.close()


def main() -> None:
    """Print the share that agrees, and each place that does not."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("workspace", type=Path)
    options.add_argument("--places", type=int, default=300)
    options.add_argument("--jars", type=Path)
    options.add_argument("--root", type=Path, required=True, help="where the sources are")
    options.add_argument("--index", action="store_true")
    asked = options.parse_args()
    cases = cases_of(asked.workspace, asked.places)
    with minimal(asked.root, asked.jars, index=asked.index) as client:
        found = [rank_in(client.names(case), case) for case in cases]
    for place, case in enumerate(cases):
        if found[place] != case.rank:
            # JDT remembers something of the places before: what counts is what it says to one who asks nothing else.
            with minimal(asked.root, asked.jars, index=asked.index) as client:
                found[place] = rank_in(client.names(case), case)
        if found[place] != case.rank:
            told = f"engine {case.rank}, minimal {found[place]}"
            print(f"{case.path}:{case.offset} {case.kind} {case.expected!r}: {told}")
    present = sum((rank is None) == (case.rank is None) for rank, case in zip(found, cases, strict=True))
    ranks = sum(rank == case.rank for rank, case in zip(found, cases, strict=True))
    print(f"{len(cases)} places: presence {present / len(cases):.1%}, rank {ranks / len(cases):.1%}")


def rank_in(names: list[str], case: Case) -> int | None:
    """That of the expected text."""
    return names.index(case.expected) + 1 if case.expected in names else None


if __name__ == "__main__":
    main()
