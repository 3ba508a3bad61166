"""Recall at member accesses of single files, for comparison with figures that others measured there.

python benchmarks/member_access.py [--sites N] [ENGINE…]

A site is `x.NAME` (also `->`, `::`) outside comments, imports and lines with quotes; NAME is deleted, the rest stays,
and the engine is asked. The column "trial" has what a plain script found on the same file with 200 such sites.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
from dataclasses import dataclass

from ci_eval.core import machine
from ci_eval.core.base.errors import EngineFailure
from ci_eval.core.catalogs import engines, languages
from ci_eval.core.contracts import Query, Surroundings
from ci_eval.core.fetch import project
from ci_eval.plugins.adapters import environments

SITE = re.compile(r"(?<=[\w)\]])(?:\.|->|::)([A-Za-z_]\w{2,})")
OTHER = re.compile(r"\s*(?:import|from|package|using|use|//|/?\*|#)|.*[\"'`]")


@dataclass(frozen=True)
class Place:
    """A file of a project, and what others found there, by engine."""

    language: str
    spec: str
    path: str
    trial: dict[str, float | None]
    """None: they did not look there."""


PLACES = (
    Place(
        "python",
        "pypi:flask==3.1.1",
        "flask/app.py",
        {
            "jedi": 0.88,
            "jedi-language-server": 0.88,
            "pylsp": 0.88,
            "pyright": 0.865,
            "basedpyright": 0.865,
            "ty": 0.83,
            "pyrefly": 0.845,
            "zuban": 0.86,
        },
    ),
    Place(
        "typescript",
        "npm:zod@3.25.76",
        "src/v4/core/schemas.ts",
        {"typescript-language-server": 0.928, "vtsls": 0.931, "typescript": 0.925},
    ),
    Place(
        "javascript",
        "npm:express@4.19.2",
        "lib/response.js",
        {"typescript-language-server": 0.925, "vtsls": 0.955, "typescript": 0.95},
    ),
    Place("php", "debian:php-twig=3.5.1-1+deb12u3", "src/Environment.php", {"intelephense": 0.76}),
    Place("cpp", "debian:tinyxml2=9.0.0+dfsg-3.1", "tinyxml2.cpp", {"clangd": 0.925}),
    Place("go", "go:github.com/gorilla/mux@v1.8.0", "route.go", {"gopls": 0.99}),
    Place(
        "java",
        "maven:org.apache.commons:commons-lang3:3.12.0",
        "org/apache/commons/lang3/mutable/MutableInt.java",
        {"jdt": None},
    ),
    *(
        Place("java", spec, path, {"jdt": None})
        for spec, path in (
            ("maven:org.apache.commons:commons-lang3:3.14.0", "org/apache/commons/lang3/builder/ToStringStyle.java"),
            ("maven:org.apache.commons:commons-lang3:3.14.0", "org/apache/commons/lang3/time/FastDateParser.java"),
            ("maven:org.apache.commons:commons-lang3:3.14.0", "org/apache/commons/lang3/reflect/TypeUtils.java"),
            ("maven:com.google.guava:guava:33.0.0-jre", "com/google/common/cache/LocalCache.java"),
            ("maven:com.google.guava:guava:33.0.0-jre", "com/google/common/collect/Iterators.java"),
            ("maven:com.google.guava:guava:33.0.0-jre", "com/google/common/reflect/TypeToken.java"),
        )
    ),
)


def sites_of(text: str, number: int) -> list[tuple[int, int]]:
    """Begin and end of the names, drawn by a seed."""
    found = []
    for match in SITE.finditer(text):
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if not OTHER.match(line):
            found.append(match.span(1))
    random.Random(0).shuffle(found)
    return found[:number]


def measure(name: str, place: Place, number: int) -> str:
    """A line of the table."""
    cache = machine.cache_folder()
    target = project.prepare(place.spec, cache=cache)
    kind = languages.CATALOG.load(place.language).dependencies
    needs = environments.prepare(kind, target.root, target.info, dependencies=True, cache=cache)
    engine = engines.CATALOG.load(name)
    running = engine.start(
        engine.install(None, cache),
        Surroundings(
            root=target.root,
            language=place.language,
            keywords=frozenset(),
            cache=cache,
            timeout=20,
            memory=0,
            environment=needs.folder if needs else None,
        ),
    )
    text = (target.root / place.path).read_text()
    answered = found = failed = 0
    times = []
    try:
        running.open(place.path, text)
        sites = sites_of(text, number)
        for begin, end in sites:
            running.edit([(begin, end - begin, "")])
            try:
                answer = running.complete(Query(offset=begin, prefix="", expected=""))
            except EngineFailure:
                failed += 1
                running.restart()
                running.open(place.path, text)
                continue
            running.edit([(begin, 0, text[begin:end])])
            answered += bool(answer.suggestions)
            found += text[begin:end] in {each.text for each in answer.suggestions}
            times.append(answer.latency)
    finally:
        running.close()
    cells = [name, f"{target.info.name}: {place.path}", str(len(sites)), str(failed), str(answered)]
    trial = place.trial[name]
    shown = "" if trial is None else f"{trial * 100:.1f}"
    cells += [f"{found / len(sites) * 100:.1f}", shown, f"{statistics.median(times):.0f}"]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Print the table, a line as soon as it is known."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("engines", nargs="*")
    options.add_argument("--sites", type=int, default=200)
    asked = options.parse_args()
    print("| engine | file | sites | failed | answered | Recall % | trial % | median ms |\n|---|---|" + "--:|" * 6)
    for place in PLACES:
        for name in place.trial:
            if not asked.engines or name in asked.engines:
                print(measure(name, place, asked.sites), flush=True)


if __name__ == "__main__":
    main()
