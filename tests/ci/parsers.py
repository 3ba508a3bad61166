"""Strict readers of what a CI is told, and what it is told in tests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from hypothesis import strategies as st

from ci_eval.ci import Announcement, Check

PIECES = (
    *":#|'[]%\r\n\t ,=\\{}",
    "::error::", "##teamcity[", "##[command]", "::set-env name=x::", "é", "\U0001f600", "\u2028",
)  # fmt: skip


ANY_TEXT = st.lists(st.one_of(st.sampled_from(PIECES), st.characters(exclude_categories=["Cs"])), max_size=30).map(
    "".join
)


def github_commands(text: str) -> Iterator[tuple[str, dict[str, str], str]]:
    """As the runner reads them: at the beginning of a line, after blanks; and the older form anywhere."""
    for line in re.split(r"\r\n|\r|\n", text):
        if found := re.fullmatch(r"\s*::(?P<name>[^\s:]+)(?: (?P<properties>.*?))?::(?P<data>.*)", line, re.DOTALL):
            pairs = [pair.partition("=") for pair in (found["properties"] or "").split(",") if pair]
            yield found["name"], {key: undone(text) for key, _, text in pairs}, undone(found["data"])
        elif line.lstrip().startswith("::") or "##[" in line:
            yield "something", {}, line


def undone(text: str) -> str:
    for code, character in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(code, character)
    return text


NAMED = re.compile(r"([A-Za-z]\w*)='((?:[^|'\[\]\n\r]|\|[|'nr\[\]]|\|0x[0-9a-f]{4})*)'")


def service_messages(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Strict: one message a line, nothing before or behind it, every value escaped."""
    for line in re.split(r"\r\n|\r|\n", text):
        if "##teamcity[" not in line:
            continue
        found = re.fullmatch(r"##teamcity\[(\w+) (.*)\]", line)
        assert found, line
        name, rest = found.groups()
        if rest.startswith("'"):
            yield name, {"": decoded(rest[1:-1])}
            continue
        values = NAMED.findall(rest)
        assert " ".join(f"{key}='{text}'" for key, text in values) == rest
        yield name, {key: decoded(text) for key, text in values}


def decoded(text: str) -> str:
    assert re.fullmatch(r"(?:[^|'\[\]\n\r]|\|[|'nr\[\]]|\|0x[0-9a-f]{4})*", text), text
    plain = {"n": "\n", "r": "\r", "|": "|", "'": "'", "[": "[", "]": "]"}
    units = re.sub(
        r"\|(?:0x([0-9a-f]{4})|(.))",
        lambda code: chr(int(code[1], 16)) if code[1] else plain[code[2]],
        text,
    )
    return units.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


FOUND = Announcement(
    status="RecallAt1 33.1% {odd}",
    summary="# Report\n",
    outputs={"workspace": "a\nb", "verdict": "worse"},
    statistics={"RecallAt1": 0.331},
    checks=[Check(name="RecallAt1 >= -1pp", passed=False, reason=f"lost 'two' points{'x' * 5000}")],
    artifacts=[Path("out")],
)
