"""Each language runs tests with its real test runner, and tells by the runner's report what became of them."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from ci_eval.plugins.adapters.testruns.languages import RUNNERS
from tests.adapters.testruns.shops import GOOD, outcome
from tests.needs import need

pytestmark = [pytest.mark.registry, pytest.mark.slow]
LANGUAGES = ("go", "java", "javascript", "python")
WRONG = {language: test.replace("6", "7") for language, test in GOOD.items()}
BROKEN = {
    "python": "def test_price(:\n    pass",
    "javascript": "test('price', () => {",
    "go": "func TestPrice(t *testing.T) { x := 1 }",
    "java": "@Test\nvoid price() { int x = true; }",
}
NONE = {
    "python": "def check_price():\n    pass",
    "javascript": "const x = 1;",
    "go": "func check() {}",
    "java": "void price() {}",
}
SKIPPED = {
    "python": "import pytest\n@pytest.mark.skip\ndef test_price():\n    pass",
    "javascript": "test.skip('price', () => {});",
    "go": 'func TestPrice(t *testing.T) { t.Skip("later") }',
    "java": "@Test @Disabled\nvoid price() {}",
}
ENDS = {
    "python": "import os\ndef test_price():\n    os._exit(0)\n    assert False",
    "javascript": "test('one', () => {});\ntest('price', () => { process.exit(0); });",
    "go": 'import "syscall"\nfunc TestOne(t *testing.T) {}\nfunc TestPrice(t *testing.T) { syscall.Exit(0) }',
    "java": "@Test\nvoid price() { Runtime.getRuntime().halt(0); }",
}


def needed(language: str) -> str:
    need(*RUNNERS[language].programs)
    return language


def test_all_languages_are_tested_here() -> None:
    assert tuple(RUNNERS) == LANGUAGES


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_test_passes_or_fails_and_says_why(language: str) -> None:
    good, wrong = outcome(needed(language), GOOD[language]), outcome(language, WRONG[language])
    assert (good.runs, good.passes, good.said) == (True, True, "")
    assert (wrong.runs, wrong.passes) == (True, False)
    assert "6" in wrong.said


@pytest.mark.parametrize("tests", [BROKEN, NONE, SKIPPED], ids=["broken", "none", "skipped"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_broken_or_no_test_or_skipped_neither_runs_nor_passes(language: str, tests: dict[str, str]) -> None:
    found = outcome(needed(language), tests[language])
    assert (found.runs, found.passes, found.said == "") == (False, False, False)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_process_that_ends_itself_does_not_pass(language: str) -> None:
    assert not outcome(needed(language), ENDS[language]).passes


@pytest.mark.parametrize("language", ["go", "java"])
def test_what_a_compiler_refuses_is_told_from_what_fails(language: str) -> None:
    assert not outcome(needed(language), BROKEN[language]).compiled


def test_javascript_says_what_a_file_died_of() -> None:
    need("node")
    assert "SyntaxError" in outcome("javascript", BROKEN["javascript"]).said
    missing = outcome("javascript", "require('./nowhere');\n" + GOOD["javascript"])
    assert (missing.runs, "Cannot find module './nowhere'" in missing.said) == (False, True)
    late = outcome("javascript", GOOD["javascript"] + "\nsetTimeout(() => { throw new Error('late'); }, 5);")
    assert (late.runs, late.passes, "late" in late.said) == (True, False, True)


WRITES = {
    "python": "def test_price():\n    open('PATH', 'w').close()",
    "javascript": "test('price', () => { require('fs').writeFileSync('PATH', 'x'); });",
    "go": 'import "os"\nfunc TestPrice(t *testing.T) { if os.WriteFile("PATH", nil, 0o600) != nil { t.Error("no") } }',
    "java": '@Test void price() throws Exception { new java.io.FileWriter("PATH").close(); }',
}
CONNECTS = {
    "python": "def test_price():\n    import socket\n    socket.create_connection(('127.0.0.1', PORT), 5)",
    "javascript": "test('price', (t, done) => { require('net').connect(PORT, '127.0.0.1', done).on('error', done); });",
    "go": 'import "net"\nfunc TestPrice(t *testing.T) {\n'
    '\tif _, err := net.Dial("tcp", "127.0.0.1:PORT"); err != nil { t.Error(err) }\n}',
    "java": '@Test void price() throws Exception { new java.net.Socket("127.0.0.1", PORT); }',
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_test_neither_writes_outside_nor_connects_to_this_machine(language: str, tmp_path: Path) -> None:
    wrote = outcome(needed(language), WRITES[language].replace("PATH", f"{tmp_path}/new"))
    assert (wrote.runs, wrote.passes, list(tmp_path.iterdir())) == (True, False, [])
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        connected = outcome(language, CONNECTS[language].replace("PORT", str(server.getsockname()[1])))
    assert (connected.runs, connected.passes) == (True, False)
