"""A fork's report is text alone where a bot posts it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ci_eval.jobs.workflows.posts import harmless
from tests.comparing import compare

CODE = re.compile(r"`[^`\n]+`|<code>(?:[A-Za-z0-9 /.]|&#\d+;)*</code>")
ACTIVE = re.compile(r"<(?!/?(?:details|summary)>)|\[|@[A-Za-z0-9]|&(?!amp;|lt;|#9[126];)|://|www\.")


@pytest.mark.parametrize(
    "text",
    [
        "&#64;team look",
        "hello @team",
        "[//]: # (hidden)",
        "[x]: https://example.org 'hidden'",
        "<?php hidden ?>",
        "<!-- hidden -->",
        "<![CDATA[ hidden ]]>",
        "![](https://example.org/pixel.png)",
        "<img src=//example.org/pixel.png>",
        "see https://example.org and www.example.org",
        "\\`<img src=x>`",
        "`a\n`<img src=x>`",
        "``a` <img src=x>",
        "<details>\n`<img src=x>`",
        "<details> `<img src=x>`",
        "<code>\n`<img src=x>`",
        "<code>@team</code>",
        "`<code>![](//example.org/pixel.png)</code>",
        "| <code>[x](//example.org)</code> |",
        "<summary>[x](https://example.org)</summary>",
        "| `a` | <code>&#64;team</code> @team |",
    ],
)
def test_nothing_of_a_foreign_report_is_active(text: str) -> None:
    for line in harmless(text).splitlines():
        # Where a line has a block's tag, nothing in it is code.
        seen = line if "<details>" in line or "<summary>" in line else CODE.sub("", line)
        assert not ACTIVE.search(seen), line


PIECES = (
    *("`", "``", "```", "~~~", "<img src=x>", "<details>", "</details>", "<summary>", "<code>", "</code>", "<script>"),
    *(
        "[x](//y)",
        "[x]: //y",
        "[x]",
        "![](//z)",
        "<!-- h -->",
        "<?h?>",
        "<!X>",
        "&#64;team",
        "@team",
        "\\",
        "https://y",
    ),
    *(
        "\n",
        "\n\n",
        "    ",
        "\t",
        "> ",
        "- ",
        "| a |",
        "|--|",
        "# ",
        "text ",
        "<https://y>",
        "&lt;",
        "***",
        "\r",
        "\x0c",
    ),
)


def active_parts(text: str) -> list[str]:
    """Return what a foreign parser of CommonMark takes for more than text, code and the tags of reports."""
    active = []
    for token in MarkdownIt("commonmark").parse(text):
        for part in (token, *(token.children or ())):
            if part.type.startswith("html"):
                active += [part.content] if "<" in re.sub(r"</?(?:details|summary|code)>", "", part.content) else []
            elif part.type in {"link_open", "image"}:
                active.append(str(part))
    return active


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
@settings(max_examples=1_000, deadline=None)
def test_a_parser_of_markdown_finds_nothing_active(text: str) -> None:
    parsed = active_parts(harmless(text))
    assert parsed == []


def test_the_parser_finds_what_is_active() -> None:
    assert active_parts("<img src=x> [x](//y)\n\n![](//z)") != []


def test_a_report_of_ours_stays_as_it_is(tmp_path: Path, nights: dict[str, Path]) -> None:
    compare(nights["oracle"], nights["words"], tmp_path / "c", "--gate", "RecallAt1 >= -1pp")
    report = (tmp_path / "c" / "report.md").read_text()
    shown = harmless(report).replace("p &lt; 0.001", "p < 0.001")
    assert re.sub(r"\n+", "\n", shown) == re.sub(r"\n+", "\n", report)
