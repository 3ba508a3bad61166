"""The runner for Go, by `go test` of the installed Go; its library is compiled once, into the cache."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import msgspec

from ci_eval.core.fetch.clients import run_client
from ci_eval.core.grammar.syntax import Node
from ci_eval.plugins.adapters.engine import version_here
from ci_eval.plugins.adapters.recipes import once
from ci_eval.plugins.adapters.testruns.contract import (
    SWAPS_AS_IN_C,
    Ended,
    Outcome,
    Runner,
    Step,
    Syntax,
    Work,
    telling_lines,
)

SETTINGS = {
    "CGO_ENABLED": "0",
    # What the user has set by `go env -w` would change the runs.
    "GOENV": "off",
    "GOFLAGS": "-trimpath",
    "GOPROXY": "off",
    "GOTELEMETRY": "off",
    "GOTOOLCHAIN": "local",
    "GOWORK": "off",
}

LIBRARY = """
    bufio bytes cmp container/heap container/list context encoding/hex encoding/json errors fmt hash/fnv io io/fs iter
    maps math math/big math/bits math/rand os path path/filepath reflect regexp runtime slices sort strconv strings sync
    sync/atomic testing testing/fstest testing/iotest testing/internal/testdeps testing/quick text/template time unicode
    unicode/utf8 unsafe
""".split()
"""The packages that are compiled in advance, with the packages that they import; others are compiled in each run that
needs them."""


class _Event(msgspec.Struct, rename="pascal"):
    """A line of `go test -json`."""

    action: str = ""
    test: str = ""
    output: str = ""


_DECODER = msgspec.json.Decoder(_Event)


def install(cache: Path) -> Path:
    version = version_here("go")
    digest = hashlib.sha256(" ".join(LIBRARY).encode()).hexdigest()[:12]
    return once(cache / "graders" / f"go-{version}-{digest}", version, _compile_library).folder


def _compile_library(new: Path) -> dict[str, str]:
    variables = {**SETTINGS, "GOCACHE": str(new / "compiled"), "GOPATH": str(new / "path")}
    run_client(("go", "build", *LIBRARY), cwd=new, variables=variables)
    return {}


def steps(work: Work) -> Sequence[Step]:
    compiled, path = work.place.scratch / "compiled", work.place.scratch / "path"
    # A cache of links to the compiled packages: the run may add to it, and change nothing in the original.
    for folder in (work.kit / "compiled").iterdir():
        if folder.is_dir():
            (compiled / folder.name).mkdir(parents=True)
            for file in folder.iterdir():
                (compiled / folder.name / file.name).symlink_to(file)
    package = PurePosixPath(work.test).parent
    # Go takes a repeated run from its cache without -count=1, and its vet would refuse tests that run.
    argv = ("go", "test", "-json", "-vet=off", "-count=1", f"./{package}")
    return [Step(argv=argv, variables={**SETTINGS, "GOCACHE": str(compiled), "GOPATH": str(path)})]


def read(_work: Work, ended: Ended) -> Outcome:
    """Return the outcome by the events that `go test` prints. Every test that began must have come to an end."""
    events = []
    for line in ended.output.splitlines():
        try:
            events.append(_DECODER.decode(line))
        # The first line of what is kept may be cut, Go itself may speak, and a test may print JSON nested too deeply.
        except (msgspec.MsgspecError, RecursionError):  # noqa: PERF203
            continue
    refused = "".join(event.output for event in events if event.action == "build-output")
    if any(event.action == "build-fail" for event in events):
        return Outcome(compiled=False, said="\n".join(telling_lines(refused)))
    results = {event.test: event.action for event in events if event.action in {"pass", "fail", "skip"}}
    whole = results.pop("", "") == "pass" and ended.code == 0
    begun = {event.test for event in events if event.action == "run"}
    # A test that ended the process has begun and has no result.
    passes = whole and "pass" in results.values() and begun <= results.keys() and "fail" not in results.values()
    outputs = [
        event.output for event in events if event.action == "output" and not event.output.startswith(("===", "ok"))
    ]
    words = "".join(outputs) or ended.trouble
    return Outcome(
        runs=bool({"pass", "fail"} & set(results.values())),
        passes=passes,
        said=""
        if passes
        else "\n".join(telling_lines(TIME.sub("", words))) or f"no test was run (exit code {ended.code})",
    )


TIME = re.compile(r" \(\d+\.\d+s\)|\t\d+\.\d+s")
"""The time that a test took, which differs from run to run."""


def stub(function: Node, source: bytes) -> tuple[int, int, str] | None:
    body, result = function.child_by_field_name("body"), function.child_by_field_name("result")
    if body is None:
        return None
    at = body.start_byte + 1
    if result is None:
        return at, at, " return;"
    declared = [child for child in result.children if child.is_named] if result.type == "parameter_list" else [result]
    # If the results have names, a bare `return` gives their zero values.
    if result.type == "parameter_list" and any(child.child_by_field_name("name") for child in declared):
        return at, at, " return;"
    types = [source[parameter.start_byte : parameter.end_byte].decode() for parameter in declared]
    names = [f"nothing{number}" for number in range(len(types))]
    variables = " ".join(f"var {name} {kind};" for name, kind in zip(names, types, strict=True))
    return at, at, f" {variables} return {', '.join(names)};"


RUNNER = Runner(
    name="go",
    grammar="go",
    programs=("go",),
    install=install,
    steps=steps,
    read=read,
    runs_own=True,
    stub=stub,
    syntax=Syntax(
        functions=frozenset({"function_declaration", "method_declaration"}),
        operations=frozenset({"binary_expression", "assignment_statement", "inc_statement", "dec_statement"}),
        swaps=SWAPS_AS_IN_C,
        numbers=frozenset({"int_literal", "float_literal"}),
        strings=frozenset({"interpreted_string_literal", "raw_string_literal"}),
        removed=dict.fromkeys(
            ("expression_statement", "call_expression_statement", "assignment_statement", "inc_statement",
             "dec_statement", "continue_statement"), "{}",
        ),
    ),
    whole=re.compile(r"(?://.*\n\s*)*package\s"),
)  # fmt: skip
