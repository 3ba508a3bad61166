"""`ci-eval dataset usages`: from projects, repositories and recordings to files of usages and histories."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from ci_eval.core.model import History, ObjectUsage
from ci_eval.core.queries.carets import Texts
from tests.command import command
from tests.fetch import repository as origin

HEAD = "from a import Box\nfrom shop import Till\ndef put():\n    box = Box()\n    Till().ring()\n"
MORE = f"{HEAD}    box.open()\n"


def project(root: Path) -> Path:
    (root / "shop").mkdir(parents=True)
    (root / "shop" / "cart.py").write_text(MORE)
    (root / "shop" / "broken.py").write_text("def f(:\n")
    (root / "shop" / "latin.py").write_bytes(b"# \xe9\n")
    return root


def made(output: Path, *arguments: object) -> tuple[dict[str, str], list[str], str]:
    """What the table says, the lines of the output, warnings."""
    code, told, warned = command("dataset", "usages", *arguments, "--output", output)
    assert code == 0, warned
    assert told.splitlines()[-1] == str(output)
    rows = dict(row.rsplit(maxsplit=1) for row in told.splitlines() if len(row.split()) > 1)
    return rows, output.read_text().splitlines(), warned


def failed(*arguments: object) -> tuple[int, str]:
    code, _, warned = command("dataset", "usages", *arguments, "--output", "never.jsonl")
    return code, " ".join(warned.split())


def histories(lines: list[str]) -> list[History]:
    return [msgspec.json.decode(line, type=History) for line in lines]


def test_usages_of_a_project_and_what_became_of_everything(tmp_path: Path) -> None:
    spec = f"path:{project(tmp_path / 'p')}"
    rows, lines, warned = made(tmp_path / "u.jsonl", "--project", spec, "--language", "python", "--jobs", 1)
    (usage,) = (msgspec.json.decode(line, type=ObjectUsage) for line in lines)
    assert (usage.type, usage.method, usage.calls) == ("a.Box", "shop.cart.put", ("open",))
    assert (rows["files"], rows["not read"], rows["with syntax errors"], rows["usages"]) == ("3", "1", "1", "1")
    assert rows["receivers resolved"] == "100%"
    assert rows["- usage of the project's own type"] == "1"
    assert "latin.py: not UTF-8" in warned
    _, lines, _ = made(tmp_path / "o.jsonl", "--project", spec, "--language", "python", "--own-types", "--jobs", 1)
    assert [json.loads(line)["type"] for line in lines] == ["a.Box", "shop.Till"]


@pytest.mark.slow
def test_jedi_knows_more(tmp_path: Path) -> None:
    root = project(tmp_path / "p")
    (root / "shop" / "cart.py").write_text(
        "import collections\ndef put():\n    boxes = {1: collections.Counter()}\n"
        "    box = boxes.pop(1)\n    box.elements()\n"
    )
    arguments = ("--project", f"path:{root}", "--language", "python", "--jobs", 1)
    assert "Counter" not in "".join(made(tmp_path / "u.jsonl", *arguments)[1])
    assert "collections.Counter" in "".join(made(tmp_path / "j.jsonl", *arguments, "--infer")[1])


def test_histories_in_a_repository(tmp_path: Path) -> None:
    repository = origin.create(tmp_path / "shop")
    repository.commit(shop__cart_py=HEAD)
    first = repository.commit(shop__cart_py=MORE)
    repository.commit(shop__cart_py=f"{MORE}    box.close()\n")
    rows, lines, _ = made(tmp_path / "h.jsonl", "--git", f"{repository.folder}@{first}", "--language", "python")
    (history,) = histories(lines)
    assert (history.project, history.file, history.type, len(history.states)) == ("shop", "shop/cart.py", "a.Box", 2)
    assert (rows["files"], rows["snapshots"], rows["histories"], rows["states of a history"]) == ("1", "2", "1", "2.0")
    _, lines, _ = made(tmp_path / "n.jsonl", "--git", repository.url, "--language", "python")
    assert len(histories(lines)[0].states) == 3


def test_histories_in_recordings(tmp_path: Path) -> None:
    edits = [(0, 0, HEAD), (5, len(HEAD), "    box.open()\n")]
    events = [{"t": t, "user": "u", "file": "x.py", "op": "edit", "offset": at, "ins": ins} for t, at, ins in edits]
    path = tmp_path / "typed.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in [*events, {}]))
    rows, lines, _ = made(tmp_path / "h.jsonl", "--stream", f"neutral={path}", "--language", "python")
    assert [(each.type, each.user, each.file) for each in histories(lines)] == [("a.Box", "u", "x.py")]
    assert rows["- line that is neither an edit nor a completion"] == "1"
    assert rows["- history unchanged"] == "1"


ERRORS = {
    "give one of --project,": (),
    "give one of --project, --git and --stream": ("--project", "path:.", "--git", "g"),
    "--language is needed: one of java, python": ("--stream", "neutral=."),
    "'x' is not FORMAT=PATH; formats are kave, neutral": ("--stream", "x"),
    "there is no recording nowhere": ("--stream", "kave=nowhere"),
    "--infer asks jedi, which knows Python only": ("--git", ".", "--language", "java", "--infer"),
}


@pytest.mark.parametrize("message", ERRORS)
def test_an_error_says_what_to_do(message: str) -> None:
    code, warned = failed(*ERRORS[message])
    assert code == 2
    assert message in warned


def test_where_nothing_is_found_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("pass\n")
    code, warned = failed("--project", f"path:{tmp_path}", "--language", "python")
    assert code == 3
    assert "no usages were found" in warned
    assert not Path("never.jsonl").exists()


# ---------------------------------------------------------------------------------------------------- real projects


@pytest.mark.registry
def test_usages_of_real_python(tmp_path: Path) -> None:
    projects = ("--project", "pypi:requests==2.32.3", "--project", "pypi:click==8.1.7")
    _, lines, _ = made(tmp_path / "u.jsonl", *projects, "--language", "python", "--jobs", 1)
    found = [msgspec.json.decode(line, type=ObjectUsage) for line in lines]
    assert len(found) > 200
    types = {each.type for each in found}
    assert {"builtins.str", "logging.Logger", "urllib3.connectionpool.HTTPConnectionPool"} & types
    assert not [each for each in found if each.type.startswith(("requests.", "click."))]


@pytest.mark.registry
@pytest.mark.needs("mvn")
def test_usages_of_real_java(tmp_path: Path) -> None:
    spec = "maven:commons-cli:commons-cli:1.6.0"
    rows, lines, _ = made(tmp_path / "u.jsonl", "--project", spec, "--language", "java", "--jobs", 1)
    found = [msgspec.json.decode(line, type=ObjectUsage) for line in lines]
    assert (rows["not read"], rows["with syntax errors"]) == ("0", "0")
    assert {"java.lang.StringBuffer", "java.lang.StringBuilder", "java.util.List"} & {each.type for each in found}
    assert not [each for each in found if each.type.startswith("org.apache.commons.cli.")]


def test_texts_of_a_repository_are_stored_with_the_places_of_its_objects(tmp_path: Path) -> None:
    source = origin.create(tmp_path / "r")
    source.commit(cart_py=HEAD)
    source.commit(cart_py=MORE)
    rows, lines, _ = made(tmp_path / "h.jsonl", "--git", source.folder, "--language", "python", "--texts")
    assert (rows["texts"], rows["states with a place"]) == ("2", "100%")
    texts = Texts()
    for line in lines:
        texts.add(json.loads(line))
    (history,) = (msgspec.json.decode(line, type=History) for line in lines if "packed" not in line)
    (first, last) = history.places
    assert first
    assert last
    assert (texts.get(first.text), texts.get(last.text)) == (HEAD, MORE)
    assert (last.receiver, MORE[: last.line].splitlines()[-1]) == ("box", "    box.open()")


def test_texts_are_of_what_changes(tmp_path: Path) -> None:
    code, said = failed("--project", f"path:{tmp_path}", "--language", "python", "--texts")
    assert code == 2
    assert "give it with --git or --stream" in said
