"""The runner for Python, by pytest in an environment of its own; tests of unittest are run, too."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from ci_eval.core.fetch.packages import pip_install
from ci_eval.core.grammar.syntax import Node
from ci_eval.plugins.adapters.process import interpreter
from ci_eval.plugins.adapters.recipes import once
from ci_eval.plugins.adapters.testruns.contract import SWAPS, Ended, Outcome, Runner, Step, Syntax, Work, read_junit

WHEELS = ("pytest==8.4.2", "pluggy==1.6.0", "iniconfig==2.1.0", "packaging==25.0", "pygments==2.19.2")


def install(cache: Path) -> Path:
    digest = hashlib.sha256(" ".join(WHEELS).encode()).hexdigest()[:12]
    name = f"pytest-{digest}-py{sys.version_info.major}{sys.version_info.minor}"
    return once(cache / "graders" / name, digest, lambda new: pip_install(WHEELS, new)).folder


def steps(work: Work) -> Sequence[Step]:
    settings = work.place.scratch / "pytest.ini"
    settings.write_text("[pytest]\n")
    options = ("-q", "--tb=short", "-p", "no:cacheprovider", f"--junit-xml={work.report}", f"--rootdir={work.files}")
    # The project's own settings may ask for plugins that are not there.
    command = (interpreter(), "-B", "-s", "-S", "-m", "pytest", "-c", str(settings), *options, work.test)
    sites = sorted(work.place.environment.glob("lib/python*/site-packages")) if work.place.environment else []
    # With -I instead of -s and -S, Python would ignore these folders.
    path = [work.files / "src", work.files, *sites, work.kit]
    variables = {
        "PYTHONPATH": ":".join(map(str, path)),
        # Plugins among the project's packages would be loaded by themselves.
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        # The order of sets must not differ from run to run.
        "PYTHONHASHSEED": "0",
    }
    return [Step(argv=command, variables=variables)]


def read(work: Work, ended: Ended) -> Outcome:
    return read_junit(work.report, ended, errors_run=False)


def stub(function: Node, source: bytes) -> tuple[int, int, str] | None:
    body = function.child_by_field_name("body")
    if body is None or not body.children:
        return None
    at = body.children[0].start_byte
    line = source[source.rfind(b"\n", 0, at) + 1 : at]
    # A body on the line of the `def` goes on behind a semicolon.
    indent = "\n" + line.decode() if not line.strip() else "; "
    return at, at, f"return None{indent}"


RUNNER = Runner(
    name="python",
    grammar="python",
    install=install,
    steps=steps,
    read=read,
    stub=stub,
    dependencies="python",
    syntax=Syntax(
        functions=frozenset({"function_definition"}),
        operations=frozenset(
            {"comparison_operator", "boolean_operator", "binary_operator", "augmented_assignment", "unary_operator"}
        ),
        swaps={
            **SWAPS, "is": "is not", "is not": "is", "in": "not in", "not in": "in", "and": "or", "or": "and",
            "//": "*", "**": "*", "//=": "*=",
        },
        negations=frozenset({"not_operator"}),
        numbers=frozenset({"integer", "float"}),
        strings=frozenset({"string"}),
        booleans={"true": "False", "false": "True"},
        returned="None",
        # Some grammars have no node around an expression that is a statement.
        removed=dict.fromkeys(
            ("expression_statement", "raise_statement", "continue_statement", "block call", "block assignment",
             "block augmented_assignment", "block await", "block yield"), "pass",
        ),
        left_alone=frozenset({"type", "decorator"}),
    ),
    # Python takes this import at the top of a file only.
    whole=re.compile(r"from __future__ import "),
)  # fmt: skip
