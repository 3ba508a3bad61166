"""The languages whose tests are run, each by its usual test runner.

Go: `go test` of the installed Go; the library is compiled once, into the cache. Java: javac, and JUnit's console
launcher from Maven Central, which also runs tests of JUnit 4. JavaScript: the test runner of Node.js (`node:test`).
Python: pytest in a separate environment, which also runs tests of unittest.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath

import msgspec
from msgspec.structs import replace

from ci_eval.core.grammar.syntax import Node
from ci_eval.fetch.clients import ClientEnd, run_client
from ci_eval.plugins.adapters import jars
from ci_eval.plugins.adapters.engine import read_toolchain
from ci_eval.plugins.adapters.place import DRIVERS
from ci_eval.plugins.adapters.process import interpreter
from ci_eval.plugins.adapters.recipes import install_wheels, once
from ci_eval.plugins.adapters.testruns import sandbox

# ------------------------------------------------------------------------------------------------------------------- Go

GO_SETTINGS = {
    "CGO_ENABLED": "0",
    # Settings that the user made with `go env -w` would change the runs.
    "GOENV": "off",
    "GOFLAGS": "-trimpath",
    "GOPROXY": "off",
    "GOTELEMETRY": "off",
    "GOTOOLCHAIN": "local",
    "GOWORK": "off",
}

GO_LIBRARY = """
    bufio bytes cmp container/heap container/list context encoding/hex encoding/json errors fmt hash/fnv io io/fs iter
    maps math math/big math/bits math/rand os path path/filepath reflect regexp runtime slices sort strconv strings sync
    sync/atomic testing testing/fstest testing/iotest testing/internal/testdeps testing/quick text/template time unicode
    unicode/utf8 unsafe
""".split()
"""Packages that are compiled in advance, with their imports. Each run compiles the other packages that it needs."""


class _GoEvent(msgspec.Struct, rename="pascal"):
    action: str = ""
    test: str = ""
    output: str = ""


_GO_EVENTS = msgspec.json.Decoder(_GoEvent)


def install_go(cache: Path) -> Path:
    version = read_toolchain("go")
    digest = hashlib.sha256(" ".join(GO_LIBRARY).encode()).hexdigest()[:12]
    return once(cache / "graders" / f"go-{version}-{digest}", version, _compile_library).folder


def _compile_library(new: Path) -> dict[str, str]:
    variables = {**GO_SETTINGS, "GOCACHE": str(new / "compiled"), "GOPATH": str(new / "path")}
    run_client(("go", "build", *GO_LIBRARY), cwd=new, variables=variables)
    return {}


def list_go_steps(work: sandbox.Work) -> Sequence[sandbox.Step]:
    compiled, path = work.place.scratch / "compiled", work.place.scratch / "path"
    # The run gets a copy of the cache that consists of links, and can add packages without changing the original.
    for folder in (work.place.folder / "compiled").iterdir():
        if folder.is_dir():
            (compiled / folder.name).mkdir(parents=True)
            for file in folder.iterdir():
                (compiled / folder.name / file.name).symlink_to(file)
    package = PurePosixPath(work.test).parent
    # Without -count=1, Go would not run a test again; vet would refuse some tests.
    argv = ("go", "test", "-json", "-vet=off", "-count=1", f"./{package}")
    return [sandbox.Step(argv=argv, variables={**GO_SETTINGS, "GOCACHE": str(compiled), "GOPATH": str(path)})]


def read_go(_work: sandbox.Work, ended: ClientEnd) -> sandbox.Outcome:
    """Read the events of `go test`. If a test began but has no result, the outcome is a failure."""
    events = []
    for line in ended.output.splitlines():
        try:
            events.append(_GO_EVENTS.decode(line))
        # The first line may be cut, Go prints other lines, and a test may print JSON that is nested too deeply.
        except (msgspec.MsgspecError, RecursionError):  # noqa: PERF203
            continue
    refused = "".join(event.output for event in events if event.action == "build-output")
    if any(event.action == "build-fail" for event in events):
        return sandbox.Outcome(compiled=False, said="\n".join(sandbox.telling_lines(refused)))
    results = {event.test: event.action for event in events if event.action in {"pass", "fail", "skip"}}
    whole = results.pop("", "") == "pass" and ended.code == 0
    begun = {event.test for event in events if event.action == "run"}
    # A test that ended the process has begun and has no result.
    passes = whole and "pass" in results.values() and begun <= results.keys() and "fail" not in results.values()
    outputs = [
        event.output for event in events if event.action == "output" and not event.output.startswith(("===", "ok"))
    ]
    words = "".join(outputs) or ended.trouble
    return sandbox.Outcome(
        runs=bool({"pass", "fail"} & set(results.values())),
        passes=passes,
        said=""
        if passes
        else "\n".join(sandbox.telling_lines(GO_TIME.sub("", words))) or f"no test was run (exit code {ended.code})",
    )


GO_TIME = re.compile(r" \(\d+\.\d+s\)|\t\d+\.\d+s")


def stub_go(function: Node, body: Node, source: bytes) -> tuple[int, int, str]:
    result = function.child_by_field_name("result")
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


GO = sandbox.Runner(
    name="go",
    programs=("go",),
    install=install_go,
    steps=list_go_steps,
    read=read_go,
    runs_own=True,
    stub=stub_go,
    syntax=sandbox.Syntax(
        functions=frozenset({"function_declaration", "method_declaration"}),
        operations=frozenset({"binary_expression", "assignment_statement", "inc_statement", "dec_statement"}),
        swaps=sandbox.SWAPS_AS_IN_C,
        numbers=frozenset({"int_literal", "float_literal"}),
        strings=frozenset({"interpreted_string_literal", "raw_string_literal"}),
        removed=dict.fromkeys(
            ("expression_statement", "call_expression_statement", "assignment_statement", "inc_statement",
             "dec_statement", "continue_statement"), "{}",
        ),
    ),
    whole=re.compile(r"(?://.*\n\s*)*package\s"),
)  # fmt: skip


# ----------------------------------------------------------------------------------------------------------------- Java

JUNIT = "org.junit.platform:junit-platform-console-standalone:1.11.4"
JUNIT_4 = ("junit:junit:4.13.2",)
JUNIT_MAIN = "org.junit.platform.console.ConsoleLauncher"
JAVA_PACKAGE = re.compile(r"^\s*package\s+([\w.]+)\s*;", re.MULTILINE)
JAVA_BRIEFLY = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")


def install_java(cache: Path) -> Path:
    version = JUNIT.rpartition(":")[2]
    return once(
        cache / "graders" / f"junit-{version}", version, lambda new: jars.resolve(JUNIT, new, others=JUNIT_4)
    ).folder


def list_java_steps(work: sandbox.Work) -> Sequence[sandbox.Step]:
    place, classes = work.place, work.place.scratch / "classes"
    sources = sorted(str(path) for path in work.files.rglob("*.java"))
    path = jars.classpath([classes, *jars.list_jars(work.place.folder)])
    options = ("-proc:none", "-nowarn", "-encoding", "UTF-8", "-d", str(classes), "-cp", path)
    package = JAVA_PACKAGE.search((work.files / work.test).read_text())
    name = ".".join(filter(None, (package and package[1], Path(work.test).stem)))
    java_options = [*jars.java(place)[1:], *JAVA_BRIEFLY]
    launch = ("execute", f"--select-class={name}", f"--reports-dir={place.scratch}", "--details=none")
    return [
        sandbox.Step(argv=("javac", *(f"-J{option}" for option in java_options), *options, *sources), compiles=True),
        sandbox.Step(argv=("java", *java_options, "-cp", path, JUNIT_MAIN, *launch, "--disable-banner")),
    ]


def read_java(work: sandbox.Work, ended: ClientEnd) -> sandbox.Outcome:
    """Read the report of the JUnit engine that ran tests: Jupiter, or Vintage for JUnit 4."""
    reports = [work.place.scratch / f"TEST-junit-{engine}.xml" for engine in ("jupiter", "vintage")]
    outcomes = [sandbox.read_junit(path, ended, errors_run=True) for path in reports]
    return next((outcome for outcome in outcomes if outcome.runs), outcomes[0])


JAVA_NOTHING = {"boolean_type": "false", "integral_type": "0", "floating_point_type": "0"}


def stub_java(function: Node, body: Node, _source: bytes) -> tuple[int, int, str]:
    kind = function.child_by_field_name("type")
    value = JAVA_NOTHING.get(kind.type, "null") if kind else ""
    # Java refuses statements after a plain `return`, but not after a conditional one.
    returns = f" if (true) return {'' if kind is None or kind.type == 'void_type' else value};"
    return body.start_byte + 1, body.start_byte + 1, returns


JAVA = sandbox.Runner(
    name="java",
    programs=("javac", "java"),
    install=install_java,
    steps=list_java_steps,
    read=read_java,
    stub=stub_java,
    syntax=sandbox.Syntax(
        functions=frozenset({"method_declaration", "constructor_declaration"}),
        operations=frozenset({"binary_expression", "assignment_expression", "update_expression"}),
        swaps=sandbox.SWAPS_AS_IN_C,
        numbers=frozenset({"decimal_integer_literal", "decimal_floating_point_literal"}),
        strings=frozenset({"string_literal"}),
        returned="null",
    ),
    whole=re.compile(r"(?:(?://.*|/\*[\s\S]*?\*/)\s*)*(?:package|import)\s"),
    heading=JAVA_PACKAGE,
)  # fmt: skip


# ----------------------------------------------------------------------------------------------------------- JavaScript

GUARD = DRIVERS / "testruns" / "stays.cjs"
"""A script that keeps a test from ending its process before the runner knows the outcome."""


def list_javascript_steps(work: sandbox.Work) -> Sequence[sandbox.Step]:
    report = ("--test-reporter=junit", f"--test-reporter-destination={work.report}")
    words = ("--test-reporter=tap", "--test-reporter-destination=stdout")
    return [
        # The file is checked first, since the test runner does not report what is wrong with a broken file.
        sandbox.Step(argv=("node", "--check", work.test), compiles=True),
        sandbox.Step(argv=("node", "--require", str(GUARD), "--test", *report, *words, work.test)),
    ]


def read_javascript(work: sandbox.Work, ended: ClientEnd) -> sandbox.Outcome:
    # Node.js reports a file without tests as a test with the file's path.
    own = str(work.files / work.test)
    outcome = sandbox.read_junit(work.report, ended, errors_run=True, counts=lambda name: name != own)
    # Lines that the file printed begin with `# ` and come before the count of its tests (`1..N`).
    printed = ended.output.partition("\n1..")[0].splitlines()
    words = [line[2:] for line in printed if line.startswith("# ") and not line.startswith("# Subtest")]
    if outcome.passes or not words or outcome.said.count("\n"):
        return outcome
    return replace(outcome, said="\n".join([outcome.said, *sandbox.telling_lines("\n".join(words))]))


def stub_javascript(_function: Node, body: Node, _source: bytes) -> tuple[int, int, str]:
    if body.type == "statement_block":
        return body.start_byte + 1, body.start_byte + 1, " return;"
    return body.start_byte, body.end_byte, "undefined"


JAVASCRIPT = sandbox.Runner(
    name="javascript",
    programs=("node",),
    # Everything else comes with Node.js.
    install=lambda _cache: GUARD.parent,
    steps=list_javascript_steps,
    read=read_javascript,
    stub=stub_javascript,
    syntax=sandbox.Syntax(
        functions=frozenset(
            {
                "function_declaration", "function_expression", "function", "arrow_function", "method_definition",
                "generator_function_declaration", "generator_function",
            }
        ),
        operations=frozenset({"binary_expression", "augmented_assignment_expression", "update_expression"}),
        swaps={**sandbox.SWAPS_AS_IN_C, "===": "!==", "!==": "===", "??": "&&", "**": "*"},
        numbers=frozenset({"number"}),
        strings=frozenset({"string"}),
        returned="undefined",
    ),
)  # fmt: skip


# --------------------------------------------------------------------------------------------------------------- Python

PYTEST = ("pytest==8.4.2", "pluggy==1.6.0", "iniconfig==2.1.0", "packaging==25.0", "pygments==2.19.2")


def list_python_steps(work: sandbox.Work) -> Sequence[sandbox.Step]:
    settings = work.place.scratch / "pytest.ini"
    settings.write_text("[pytest]\n")
    options = ("-q", "--tb=short", "-p", "no:cacheprovider", f"--junit-xml={work.report}", f"--rootdir={work.files}")
    # The project's pytest settings are not used, since they may need plugins that are not installed.
    command = (interpreter(), "-B", "-s", "-S", "-m", "pytest", "-c", str(settings), *options, work.test)
    sites = sorted(work.place.environment.glob("lib/python*/site-packages")) if work.place.environment else []
    # With -I instead of -s and -S, Python would ignore these folders.
    path = [work.files / "src", work.files, *sites, work.place.folder]
    variables = {
        "PYTHONPATH": ":".join(map(str, path)),
        # Without this, pytest would load plugins among the project's packages.
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        # Without this, the order of sets would differ from run to run.
        "PYTHONHASHSEED": "0",
    }
    return [sandbox.Step(argv=command, variables=variables)]


def stub_python(_function: Node, body: Node, source: bytes) -> tuple[int, int, str] | None:
    if not body.children:
        return None
    at = body.children[0].start_byte
    line = source[source.rfind(b"\n", 0, at) + 1 : at]
    # If the body is on the line of the `def`, the body continues after a semicolon.
    indent = "\n" + line.decode() if not line.strip() else "; "
    return at, at, f"return None{indent}"


PYTHON = sandbox.Runner(
    name="python",
    install=partial(install_wheels, "pytest", PYTEST),
    steps=list_python_steps,
    read=lambda work, ended: sandbox.read_junit(work.report, ended, errors_run=False),
    stub=stub_python,
    dependencies="python",
    syntax=sandbox.Syntax(
        functions=frozenset({"function_definition"}),
        operations=frozenset(
            {"comparison_operator", "boolean_operator", "binary_operator", "augmented_assignment", "unary_operator"}
        ),
        swaps={
            **sandbox.SWAPS, "is": "is not", "is not": "is", "in": "not in", "not in": "in", "and": "or", "or": "and",
            "//": "*", "**": "*", "//=": "*=",
        },
        negations=frozenset({"not_operator"}),
        numbers=frozenset({"integer", "float"}),
        strings=frozenset({"string"}),
        booleans={"true": "False", "false": "True"},
        returned="None",
        # In some grammars, an expression that is a statement has no statement node around it.
        removed=dict.fromkeys(
            ("expression_statement", "raise_statement", "continue_statement", "block call", "block assignment",
             "block augmented_assignment", "block await", "block yield"), "pass",
        ),
        left_alone=frozenset({"type", "decorator"}),
    ),
    # Python allows this import only at the top of a file.
    whole=re.compile(r"from __future__ import "),
)  # fmt: skip

RUNNERS: Mapping[str, sandbox.Runner] = {runner.name: runner for runner in (GO, JAVA, JAVASCRIPT, PYTHON)}
