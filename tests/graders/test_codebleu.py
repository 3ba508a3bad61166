"""CodeBLEU in its own process, with its own grammars: values recorded from MERA CODE's program, and what ours mends."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path

import pytest
from msgspec.structs import replace

from ci_eval.core import machine
from ci_eval.core.base.errors import ConfigError, EngineMisbehaved, EngineRaised, EngineTimeout
from ci_eval.core.catalogs import graders
from ci_eval.core.contracts import Grader, Pairing
from ci_eval.jobs.evaluate import grade_pairs
from ci_eval.plugins.adapters import codebleu
from ci_eval.plugins.adapters.place import measure_confinement
from ci_eval.plugins.adapters.process import PACKAGE, LineProcess, interpreter
from ci_eval.plugins.engines.controls import ORACLE
from ci_eval.plugins.tasks.completion import COMPLETION as TASK
from tests.projects import GREETER, ask, generate, sessions, setup, write

pytestmark = pytest.mark.registry
RECORDED = json.loads(Path(__file__).with_name("codebleu.json").read_text())["pairs"]
LANGUAGES = ["python", "java", "go", "javascript", "csharp"]
CODE = {
    "python": """def test(case):
    total = 0
    for each in case:
        total += each  # sum
    assert total == 3
""",
    "java": """void test(int[] xs) {
  int total = 0;
  for (int x : xs) { total += x; } // sum
  assertEquals(3, total);
}""",
    "go": """func Test(t *testing.T) {
  total := 0
  for _, x := range xs {
    total += x // sum
  }
  t.Log(total)
}""",
    "javascript": """test('sum', () => {
  let total = 0;
  for (const x of xs) { total += x; } // sum
  expect(total).toBe(3);
});""",
    "csharp": """void Test(int[] xs) {
  var total = 0;
  foreach (var x in xs) { total += x; } // sum
  Assert.Equal(3, total);
}""",
}


def grader(name: str) -> Grader:
    (ready,) = graders.ready([name], machine.cache_folder())
    return ready


def grade(name: str, language: str, reference: str, hypothesis: str) -> Mapping[str, float]:
    return grader(name).grade(Pairing(reference=reference, hypothesis=hypothesis, language=language))


def strict(language: str, reference: str, hypothesis: str) -> Mapping[str, float]:
    return grade("codebleu-strict", language, reference, hypothesis)


@pytest.mark.parametrize("pair", RECORDED, ids=lambda pair: pair["id"])
def test_all_values_of_mera_are_met(pair: dict[str, str]) -> None:
    found = grade("codebleu-mera", pair["language"], pair["reference"], pair["hypothesis"])
    assert found == pytest.approx(pair["scores"], abs=1e-9)


def answers(seed: str) -> bytes:
    """To all recorded pairs, by both variants, from a process with that seed of its hashes."""
    grader("codebleu-mera")
    folder = next((machine.cache_folder() / "graders").glob("codebleu-*"))
    pairs = [[codebleu.LANGUAGES[each["language"]], each["reference"], each["hypothesis"]] for each in RECORDED]
    questions = "".join(json.dumps([variant, *pair]) + "\n" for variant in ("mera", "strict") for pair in pairs)
    command = [interpreter(), "-S", "-c", codebleu.START, str(folder), str(PACKAGE)]
    return subprocess.run(
        command, input=questions.encode(), env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
    ).stdout


def test_values_depend_on_neither_the_order_of_sets_nor_the_python() -> None:
    """The digest came from 3.10, 3.11, 3.12 and 3.13, which add up floats differently."""
    assert answers("1") == answers("2") == answers("3")
    assert blake2b(answers("1"), digest_size=8).hexdigest() == "027a88604f13f3b7"


WORDS_OF_RULES = """
import sys; sys.path[:0] = sys.argv[1:]
from ci_eval.plugins.drivers.codebleu.strict import BRANCHES, OTHERS, RULES
from ci_eval.plugins.drivers.codebleu.trees import GRAMMARS
for language, rules in RULES.items():
    nodes = {BRANCHES, *rules.bindings, *rules.loops, *rules.bases, *rules.hidden, *rules.lists}
    nodes |= rules.parameters | rules.variables
    fields = {name for binding in rules.bindings.values() for name in (binding.target, binding.value)} - {"", OTHERS}
    fields |= {*rules.bases.values(), *(name for names in rules.hidden.values() for name in names)}
    assert all(GRAMMARS[language].id_for_node_kind(node, True) for node in nodes), language
    assert all(GRAMMARS[language].field_id_for_name(name) for name in fields), language
"""


def test_the_grammars_know_every_word_of_the_strict_rules() -> None:
    # With another release of a grammar, a rule would no longer apply, in silence.
    grader("codebleu-strict")
    folder = next((machine.cache_folder() / "graders").glob("codebleu-*"))
    subprocess.run([interpreter(), "-S", "-c", WORDS_OF_RULES, str(folder), str(PACKAGE)], check=True)


@pytest.mark.parametrize("language", LANGUAGES)
def test_strictly_an_equal_text_has_1_and_an_empty_one_0_of_everything(language: str) -> None:
    assert set(strict(language, CODE[language], CODE[language]).values()) == {1.0}
    assert set(strict(language, CODE[language], "").values()) == {0.0}


@pytest.mark.parametrize("language", LANGUAGES)
def test_strictly_names_do_not_matter_to_tree_and_flow(language: str) -> None:
    found = strict(language, CODE[language], CODE[language].replace("total", "s").replace("xs", "list"))
    assert (found["syntax"], found["dataflow"]) == (1.0, 1.0)
    assert found["ngram"] < 0.9


@pytest.mark.parametrize("language", LANGUAGES)
def test_strictly_neither_comments_nor_spaces_matter(language: str) -> None:
    spaced = CODE[language].replace("// sum", "").replace("# sum", "# сумма").replace(" = ", "=").replace("(", " ( ")
    assert strict(language, CODE[language], spaced)["codebleu"] == 1
    assert grade("codebleu-mera", language, CODE[language], spaced)["codebleu"] < 0.9


@pytest.mark.parametrize("language", LANGUAGES)
def test_strictly_a_sum_that_leaves_its_own_value_out_is_another_flow(language: str) -> None:
    assert strict(language, CODE[language], CODE[language].replace("+=", "="))["dataflow"] < 1


def test_a_text_in_another_script_before_a_variable_costs_flow_in_mera_only() -> None:
    code = {name: f"def test(a):\n    b = f('{name}', a)\n    return b\n" for name in ("order", "заказ")}
    assert strict("python", code["order"], code["заказ"])["dataflow"] == 1
    assert grade("codebleu-mera", "python", code["order"], code["заказ"])["dataflow"] < 1


def test_initialisers_of_csharp_are_seen_strictly_only() -> None:
    reference, hypothesis = "int a = 3; int b = a + 1; f(b);", "int a = 3; int b = 7; f(b);"
    assert grade("codebleu-mera", "csharp", reference, hypothesis)["dataflow"] == 1
    assert strict("csharp", reference, hypothesis)["dataflow"] < 1


def test_strictly_operators_are_part_of_the_tree() -> None:
    assert grade("codebleu-mera", "java", "int x = a + b;", "int x = a - b;")["syntax"] == 1
    assert strict("java", "int x = a + b;", "int x = a - b;")["syntax"] < 1


def test_strictly_what_is_said_too_much_costs() -> None:
    code = "a = b + c\n"
    found, mera = strict("python", code, code * 2), grade("codebleu-mera", "python", code, code * 2)
    assert mera["weightedNgram"] == 1
    assert max(found["ngram"], found["weightedNgram"], found["syntax"]) < 1


def test_where_a_reference_has_no_flow_the_others_count_a_third_each() -> None:
    found = strict("python", "assert add(1, 2) == 3", "assert add(1, 2) == 4")
    assert found["dataflow"] == pytest.approx((found["ngram"] + found["weightedNgram"] + found["syntax"]) / 3)


def test_the_share_that_can_be_read_is_told() -> None:
    assert strict("java", CODE["java"], "void test() { int x = ; }")["parsed"] < 1


@pytest.mark.parametrize("name", ["codebleu-mera", "codebleu-strict"])
def test_a_sum_of_1200_terms_is_graded(name: str) -> None:
    deep = "x = " + " + ".join(["a"] * 1200)
    assert grade(name, "python", deep, deep)["syntax"] == 1


def test_loops_within_loops_take_no_longer_than_they_may() -> None:
    nested = "".join(f"{'  ' * level}for a in b:\n" for level in range(20)) + "  " * 20 + "c = 1"
    with pytest.raises(EngineRaised, match="loops within loops"):
        grade("codebleu-mera", "python", nested, nested)
    assert strict("python", nested, nested)["codebleu"] == 1


def test_what_is_nested_without_end_is_refused_and_the_next_pair_is_graded() -> None:
    with pytest.raises(EngineRaised, match="levels deep"):
        strict("java", "int x;", "int x = " + "(" * 5000 + "a" + ")" * 5000 + ";")
    assert strict("java", "int x;", "int x;")["codebleu"] == 1


@pytest.mark.parametrize("language", ["rust", "", "typescript"])
def test_a_language_that_it_does_not_read_is_an_error(language: str) -> None:
    with pytest.raises(ConfigError, match="python, java, go, javascript, csharp"):
        strict(language, "a", "a")


def test_usual_spellings_of_a_language_are_known() -> None:
    spellings = ["Go", "golang", "js", "C#", "cs", "c_sharp", "py", "Python"]
    assert all(strict(each, "f(x)", "f(x)")["codebleu"] == 1 for each in spellings)


def test_its_process_is_confined_and_ends_when_closed() -> None:
    own = codebleu.CodeBleu("strict", "")
    own.prepare(machine.cache_folder())
    own.grade(Pairing(reference="f()", hypothesis="f()", language="python"))
    assert own._running
    process, place = own._running.process, own._running._place
    assert process.confined == measure_confinement("auto")
    own.close()
    assert process._process.returncode is not None
    assert not place.base.exists()


def test_after_no_answer_in_time_the_next_pair_has_a_new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    own = codebleu.CodeBleu("mera", "")
    own.prepare(machine.cache_folder())
    pairing = Pairing(reference="a = b + c\n", hypothesis="a = b + c\n", language="python")
    monkeypatch.setattr(codebleu, "PAIR_TIMEOUT", 0.0)
    with pytest.raises(EngineTimeout):
        own.grade(pairing)
    monkeypatch.undo()
    assert own.grade(pairing)["ngram"] == 1
    own.close()


def test_in_a_worker_both_variants_are_stored_beside_each_other(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py=GREETER)
    task = replace(TASK, graders=("codebleu-strict", "codebleu-mera"))
    wanted = setup(ORACLE, root)
    surroundings = replace(wanted.surroundings, cache=machine.cache_folder())
    ask(workspace := generate(root, tmp_path / "w"), replace(wanted, task=task, surroundings=surroundings))
    greet = next(session for session in sessions(workspace) if session.expected_text == "greet")
    grades = greet.lookups[0].grades
    assert grades
    assert (grades["codebleu"], grades["syntax"], grades["parsed"]) == (1, 1, 1)
    assert grades["codebleu-mera.codebleu"] < 1  # of one word


def test_a_line_in_a_language_that_it_does_not_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    pair = '{"reference": "a", "hypothesis": "a", "language": "%s"}\n'
    path.write_text(pair % "go" + pair % "rust")
    lines = grade_pairs("codebleu-strict", path)
    assert json.loads(next(lines))["scores"]["codebleu"] == 1
    with pytest.raises(ConfigError, match=r"pairs\.jsonl, line 2: codebleu-strict reads .*, not 'rust'"):
        next(lines)


def test_a_text_that_breaks_it_costs_one_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(codebleu.LANGUAGES, "klingon", "klingon")
    with pytest.raises(EngineRaised, match="KeyError: 'klingon'"):
        strict("klingon", "a", "a")
    assert strict("go", "f(x)", "f(x)")["codebleu"] == 1


def test_an_answer_that_is_nested_too_deeply_costs_one_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    deep = b'{"more": ' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}"
    with monkeypatch.context() as broken:
        broken.setattr(LineProcess, "ask", lambda *_: deep)
        with pytest.raises(EngineMisbehaved, match="the driver answered"):
            strict("go", "f(x)", "f(x)")
    assert strict("go", "f(x)", "f(x)")["codebleu"] == 1
