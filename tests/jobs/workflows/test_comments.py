"""What a fork's report may not do where a bot posts it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ci_eval.jobs.workflows.comments import harmless
from tests.comparing import compare

CODE = re.compile(r"`[^`\n]+`|<code>[^<\n]*</code>")
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
        "<summary>[x](https://example.org)</summary>",
        "| `a` | <code>&#64;team</code> @team |",
    ],
)
def test_nothing_of_a_foreign_report_is_active(text: str) -> None:
    for line in harmless(text).splitlines():
        # Where a line has a block's tag, nothing in it is code.
        seen = line if "<details>" in line or "<summary>" in line else CODE.sub("", line)
        assert not ACTIVE.search(seen), line


def test_a_report_of_ours_stays_as_it_is(tmp_path: Path, nights: dict[str, Path]) -> None:
    compare(nights["oracle"], nights["words"], tmp_path / "c", "--gate", "RecallAt1 >= -1pp")
    report = (tmp_path / "c" / "report.md").read_text()
    assert re.sub(r"\n+", "\n", harmless(report)) == re.sub(r"\n+", "\n", report)
