"""How much of a file is shown."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.core.contracts import Query
from ci_eval.core.model.settings import EndpointConfig, WindowConfig
from ci_eval.plugins.adapters.endpoints.context import OtherFiles, compute_budget, head, tail, window
from ci_eval.plugins.adapters.endpoints.engine import build_prompt
from ci_eval.plugins.adapters.endpoints.messages import OtherFile
from tests.adapters.endpoints.scripted import Endpoint, says, serve
from tests.command import command
from tests.projects import write

TEXT = "".join(f"line {number}\n" for number in range(100))


def shown(text: str, offset: int, **given: Any) -> tuple[str, str]:
    seen = window(text, offset, WindowConfig(**given))
    assert seen.left_out == len(text) - len(seen.prefix) - len(seen.suffix) or given.get("suffix") == 0
    return seen.prefix, seen.suffix


def test_a_window_is_of_whole_lines_around_the_caret() -> None:
    assert shown(TEXT, TEXT.index("50"), characters=60, suffix=0.5) == (
        "line 47\nline 48\nline 49\nline ",
        "50\nline 51\nline 52\nline 53\n",
    )


def test_what_one_side_does_not_need_the_other_gets() -> None:
    assert shown(TEXT, 0, characters=40, suffix=0.1) == ("", TEXT[:35])
    assert shown(TEXT, len(TEXT), characters=40, suffix=0.9) == (TEXT[-40:], "")


def test_without_a_share_for_it_there_is_no_suffix() -> None:
    assert shown(TEXT, 8, suffix=0) == (TEXT[:8], "")


@given(st.text(alphabet="ab\n", max_size=60), st.data(), st.integers(1, 50), st.floats(0, 1))
def test_a_window_is_never_too_long_and_stands_around_the_caret(
    text: str, data: st.DataObject, most: int, share: float
) -> None:
    offset = data.draw(st.integers(0, len(text)))
    prefix, suffix = shown(text, offset, characters=most, suffix=share)
    assert len(prefix) + len(suffix) <= most
    assert text[:offset].endswith(prefix)
    assert text[offset:].startswith(suffix)


def test_an_estimate_of_tokens_is_a_number_of_characters() -> None:
    assert compute_budget(WindowConfig(tokens=10, characters_per_token=3.5)) == 35


def test_other_files_have_a_share_that_the_open_one_does_not_get() -> None:
    prefix, _ = shown(TEXT, len(TEXT), characters=80, suffix=0.5, other_files=0.5)
    assert prefix == TEXT[-40:]


def test_what_did_not_fit_is_counted() -> None:
    assert window(TEXT, 400, WindowConfig(characters=80)).left_out == len(TEXT) - 80
    assert window(TEXT, 400, WindowConfig()).left_out == 0
    assert window(TEXT, 400, WindowConfig(suffix=0.0)).left_out == 0


@given(st.text(alphabet="ab\n", max_size=60), st.integers(0, 50))
def test_the_longest_piece_of_whole_lines_that_fits_is_shown(text: str, most: int) -> None:
    begin, end = head(text, most), tail(text, most)
    assert text.startswith(begin)
    assert text.endswith(end)
    assert max(len(begin), len(end)) <= most
    lines = text.splitlines(keepends=True)
    for count in range(len(lines) + 1):
        for piece, chosen in (("".join(lines[:count]), begin), ("".join(lines[len(lines) - count :]), end)):
            assert len(piece) > most or len(piece) <= len(chosen)


FILES = {
    "pkg__alike__py": "wave = total(spread)\n",
    "pkg__imported__py": "def helper():\n    return 1\n",
    "pkg__less__py": "wave = 1\nq = r = s = t = 2\n",
    "far__less__py": "wave = 1\nq = r = s = t = 2\n",
    "pkg__other__py": "nothing = 0\n",
    "pkg__text__md": "wave total spread\n",
}
BEFORE = "from pkg.imported import helper\nwave = total(spread)\n"


def project(root: Path, **files: str) -> OtherFiles:
    for name, text in {**FILES, "pkg__main__py": BEFORE + "behind = 1\n", **files}.items():
        *folders, stem, suffix = name.split("__")
        write(root.joinpath(*folders), **{f"{stem}__{suffix}": text})
    return OtherFiles(root, (".py",))


def paths(chosen: list[OtherFile]) -> list[str]:
    """The first choice first."""
    return [each.path for each in reversed(chosen)]


def anything(_: str) -> bool:
    return True


def test_imports_come_first_then_what_is_alike_then_what_is_near(tmp_path: Path) -> None:
    chosen = project(tmp_path).choose("pkg/main.py", BEFORE, 10_000, anything)
    assert paths(chosen) == ["pkg/imported.py", "pkg/alike.py", "pkg/less.py", "far/less.py"]
    assert chosen == OtherFiles(tmp_path, (".py",)).choose("pkg/main.py", BEFORE, 10_000, anything)


def test_the_last_that_fits_is_cut_at_a_line(tmp_path: Path) -> None:
    most = len(FILES["pkg__imported__py"]) + len(FILES["pkg__alike__py"]) + 12
    chosen = project(tmp_path).choose("pkg/main.py", BEFORE, most, anything)
    assert [each.text for each in reversed(chosen)] == [
        FILES["pkg__imported__py"],
        FILES["pkg__alike__py"],
        "wave = 1\n",
    ]


def test_what_may_not_be_sent_is_left_out(tmp_path: Path) -> None:
    chosen = project(tmp_path).choose("pkg/main.py", BEFORE, 10_000, lambda text: "spread" not in text)
    assert paths(chosen) == ["pkg/imported.py", "pkg/less.py", "far/less.py"]


def test_neither_the_file_itself_nor_a_copy_nor_what_lies_outside_is_shown(tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("wave = total(spread)  # SECRET\n")
    own = BEFORE + "behind = 1\n"
    files = project(tmp_path / "p", build__main__py=own, pkg__crlf__py=own.replace("\n", "\r\n"))
    (tmp_path / "p" / "link.py").symlink_to(tmp_path / "secret.py")
    (tmp_path / "p" / "pkg" / "hard.py").hardlink_to(tmp_path / "p" / "pkg" / "main.py")
    (tmp_path / "p" / "up").symlink_to(tmp_path)
    chosen = files.choose("pkg/main.py", BEFORE + "import secret, link, up.secret\n", 10_000, anything)
    assert paths(chosen) == ["pkg/imported.py", "pkg/alike.py", "pkg/less.py", "far/less.py"]


def test_what_is_ignored_is_not_shown(tmp_path: Path) -> None:
    project(tmp_path, node_modules__alike__py="wave = total(spread)\n")
    chosen = OtherFiles(tmp_path, (".py",), frozenset({"far"})).choose("pkg/main.py", BEFORE, 10_000, anything)
    assert paths(chosen) == ["pkg/imported.py", "pkg/alike.py", "pkg/less.py"]


def test_files_that_nobody_can_read_or_would_read_are_left_out(tmp_path: Path) -> None:
    files = project(tmp_path, pkg__large__py="wave = 1\n" * 200_000)
    (tmp_path / "pkg" / "bytes.py").write_bytes(b"wave = total\xff")
    Path(os.fsdecode(bytes(tmp_path / "pkg") + b"/\xff.py")).write_text("wave = total(spread)\n")
    assert paths(files.choose("pkg/main.py", BEFORE, 10_000, anything))[2:] == ["pkg/less.py", "far/less.py"]


def test_a_file_with_a_token_of_the_template_is_left_out(tmp_path: Path) -> None:
    others = project(tmp_path, pkg__alike__py="wave = total(spread, '<|file_sep|>')\n")
    given = EndpointConfig(api="completions", template="qwen", window=WindowConfig(other_files=0.5))
    query = Query(offset=len(BEFORE), prefix="", expected="")
    seen, _ = build_prompt(query, given, others, "pkg/main.py", BEFORE)
    assert "pkg/alike.py" not in paths(list(seen.files))
    assert len(seen.files) == 3


# ----------------------------------------------------------------------------------------------------------- leaks

LINES = [f"canary_{number} = wave_{number}" for number in range(30)]


def asked(tmp_path: Path, endpoint: Endpoint, **strategy: Any) -> list[dict[str, Any]]:
    """The bodies of all questions of a run in which each line of main.py holds a canary."""
    for name in ("main", "copy"):
        write(tmp_path / "p", **{f"{name}__py": "import near\n\n\n" + "\n".join(LINES) + "\n"})
    write(tmp_path / "p", near__py="".join(f"wave_{number} = {number}\n" for number in range(30)))
    window = {"characters": 1500, "suffix": 0, "otherFiles": 0.6}
    engine = {
        "endpoint": endpoint.address, "model": "m", "api": "completions", "template": "codestral", "window": window,
    }  # fmt: skip
    overrides = {"engine": engine, "actions.strategy": strategy, "interpret.allowedEmpty": 1}
    given = [part for key, value in overrides.items() for part in ("--set", f"{key}={json.dumps(value)}")]
    place = ("--task", "inline", "--project", f"path:{tmp_path / 'p'}", "--jobs", 1, "--output", tmp_path / "out")
    code, _, said = command("evaluate", *given, *place, "--set", "actions.evaluationRoots=[main.py]")
    assert code == 0, said
    return [body for body in endpoint.asked if "[PREFIX]" in str(body.get("prompt"))]


@pytest.mark.parametrize("context", ["ALL", "PREVIOUS"])
@pytest.mark.slow
def test_nothing_that_stands_behind_the_caret_leaks_through_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, context: str
) -> None:
    monkeypatch.setenv("CI_EVAL_CACHE", str(tmp_path / "cache"))
    # The scripted endpoint answers chats and completions alike.
    with serve(says("")) as endpoint:
        endpoint_asked = asked(tmp_path, endpoint, context=context)
    shown = [body["prompt"] for body in endpoint_asked]
    assert len(shown) >= 10
    for prompt in shown:
        files, _, own = prompt.rpartition("+++++ main.py\n")
        assert ("+++++ near.py\n" in files) == ("import near" in own)
        assert "canary" not in files
        last = max(
            (int(word.split("_")[1].split()[0]) for word in own.split("\n") if word.startswith("canary")), default=-1
        )
        assert all(f"canary_{number} " not in own for number in range(last + 1, 30))
