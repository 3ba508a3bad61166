"""The runner for JavaScript, by the test runner that Node.js brings (`node:test`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ci_eval.core.grammar.syntax import Node
from ci_eval.plugins.adapters.place import DRIVERS
from ci_eval.plugins.adapters.testruns.contract import (
    SWAPS_AS_IN_C,
    Ended,
    Outcome,
    Runner,
    Step,
    Syntax,
    Work,
    read_junit,
    telling_lines,
)

GUARD = DRIVERS / "testruns" / "stays.cjs"
"""The file that keeps a test from ending its process before its runner has seen the outcome."""


def install(_cache: Path) -> Path:
    """Return the folder with the guard: everything else comes with Node.js."""
    return GUARD.parent


def steps(work: Work) -> Sequence[Step]:
    report = ("--test-reporter=junit", f"--test-reporter-destination={work.report}")
    words = ("--test-reporter=tap", "--test-reporter-destination=stdout")
    return [
        # The test runner does not say what is wrong with a file that it cannot read.
        Step(argv=("node", "--check", work.test), compiles=True),
        Step(argv=("node", "--require", str(GUARD), "--test", *report, *words, work.test)),
    ]


def read(work: Work, ended: Ended) -> Outcome:
    # A file in which no test began is one itself to Node.js, under its path.
    own = str(work.files / work.test)
    outcome = read_junit(work.report, ended, errors_run=True, counts=lambda name: name != own)
    # What the file itself said stands behind # in what is printed, up to the count of its tests.
    printed = ended.output.partition("\n1..")[0].splitlines()
    words = [line[2:] for line in printed if line.startswith("# ") and not line.startswith("# Subtest")]
    if outcome.passes or not words or outcome.said.count("\n"):
        return outcome
    return replace(outcome, said="\n".join([outcome.said, *telling_lines("\n".join(words))]))


def stub(function: Node, _source: bytes) -> tuple[int, int, str] | None:
    body = function.child_by_field_name("body")
    if body is None:
        return None
    if body.type == "statement_block":
        return body.start_byte + 1, body.start_byte + 1, " return;"
    return body.start_byte, body.end_byte, "undefined"


RUNNER = Runner(
    name="javascript",
    grammar="javascript",
    programs=("node",),
    install=install,
    steps=steps,
    read=read,
    stub=stub,
    syntax=Syntax(
        functions=frozenset(
            {
                "function_declaration", "function_expression", "function", "arrow_function", "method_definition",
                "generator_function_declaration", "generator_function",
            }
        ),
        operations=frozenset({"binary_expression", "augmented_assignment_expression", "update_expression"}),
        swaps={**SWAPS_AS_IN_C, "===": "!==", "!==": "===", "??": "&&", "**": "*"},
        numbers=frozenset({"number"}),
        strings=frozenset({"string"}),
        returned="undefined",
    ),
)  # fmt: skip
