"""The runner for Java, by javac and JUnit's console launcher, which comes from Maven Central; tests of JUnit 4 are run,
too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ci_eval.core.grammar.syntax import Node
from ci_eval.plugins.adapters import jars
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.recipes import once
from ci_eval.plugins.adapters.testruns.contract import (
    SWAPS_AS_IN_C,
    Ended,
    Outcome,
    Runner,
    Step,
    Syntax,
    Work,
    read_junit,
)

LAUNCHER = "org.junit.platform:junit-platform-console-standalone:1.11.4"
OTHERS = ("junit:junit:4.13.2",)
MAIN = "org.junit.platform.console.ConsoleLauncher"
PACKAGE = re.compile(r"^\s*package\s+([\w.]+)\s*;", re.MULTILINE)
BRIEFLY = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")
"""The options for a program that ends soon."""


def install(cache: Path) -> Path:
    version = LAUNCHER.rpartition(":")[2]
    return once(
        cache / "graders" / f"junit-{version}", version, lambda new: jars.resolve(LAUNCHER, new, others=OTHERS)
    ).folder


def steps(work: Work) -> Sequence[Step]:
    place, classes = work.place, work.place.scratch / "classes"
    sources = sorted(str(path) for path in work.files.rglob("*.java"))
    path = jars.classpath([classes, *jars.list_jars(work.kit)])
    options = ("-proc:none", "-nowarn", "-encoding", "UTF-8", "-d", str(classes), "-cp", path)
    package = PACKAGE.search((work.files / work.test).read_text())
    name = ".".join(filter(None, (package and package[1], Path(work.test).stem)))
    launch = ("execute", f"--select-class={name}", f"--reports-dir={place.scratch}", "--details=none")
    return [
        Step(argv=("javac", *(f"-J{option}" for option in _options(place)), *options, *sources), compiles=True),
        Step(argv=("java", *_options(place), "-cp", path, MAIN, *launch, "--disable-banner")),
    ]


def _options(place: Place) -> list[str]:
    return [*jars.java(place)[1:], *BRIEFLY]


def read(work: Work, ended: Ended) -> Outcome:
    """Return the outcome by the report of the engine that ran tests. Each engine of JUnit writes a report."""
    reports = [work.place.scratch / f"TEST-junit-{engine}.xml" for engine in ("jupiter", "vintage")]
    outcomes = [read_junit(path, ended, errors_run=True) for path in reports]
    return next((outcome for outcome in outcomes if outcome.runs), outcomes[0])


NOTHING = {"boolean_type": "false", "integral_type": "0", "floating_point_type": "0"}


def stub(function: Node, _source: bytes) -> tuple[int, int, str] | None:
    body, kind = function.child_by_field_name("body"), function.child_by_field_name("type")
    if body is None:
        return None
    value = NOTHING.get(kind.type, "null") if kind else ""
    # Java refuses statements that it sees will never be reached; behind this it sees none.
    returns = f" if (true) return {'' if kind is None or kind.type == 'void_type' else value};"
    return body.start_byte + 1, body.start_byte + 1, returns


RUNNER = Runner(
    name="java",
    grammar="java",
    programs=("javac", "java"),
    install=install,
    steps=steps,
    read=read,
    stub=stub,
    syntax=Syntax(
        functions=frozenset({"method_declaration", "constructor_declaration"}),
        operations=frozenset({"binary_expression", "assignment_expression", "update_expression"}),
        swaps=SWAPS_AS_IN_C,
        numbers=frozenset({"decimal_integer_literal", "decimal_floating_point_literal"}),
        strings=frozenset({"string_literal"}),
        returned="null",
    ),
    whole=re.compile(r"(?:(?://.*|/\*[\s\S]*?\*/)\s*)*(?:package|import)\s"),
    heading=PACKAGE,
)  # fmt: skip
