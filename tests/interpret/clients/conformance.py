"""Shows a list of a language server as the client `vscode` does, in the form that vscode.mjs prints."""

from __future__ import annotations

from typing import Any

import msgspec

from ci_eval.core.contracts import WORD
from ci_eval.core.interpret.clients import TypedToken
from ci_eval.core.interpret.clients.vscode import show
from ci_eval.core.model import Suggestion
from ci_eval.core.model.sessions import REMOVED, REMOVED_BEFORE
from ci_eval.plugins.adapters.lsp.completion import Question
from ci_eval.plugins.adapters.lsp.protocol import read_answer

NEVER = "\0"
"""No code goes on like this, so that all that acceptance leaves is seen."""


def shown(asked: dict[str, Any]) -> dict[str, Any]:
    """The labels, each with the line once it is accepted, and the index of the highlighted one."""
    line = asked["line"]
    caret = len(line.encode("utf-16-le")[: 2 * asked["caret"]].decode("utf-16-le"))
    prefix = line[caret - asked["typed"] : caret]
    since = asked["typed"] - asked["asked"]
    text = "\n" * asked.get("number", 0) + line + "\n"
    question = Question(
        text,
        asked.get("number", 0) + caret,
        prefix,
        "utf-16",
        asked["language"],
        since=since,
        replaces=asked.get("replaces", False),
    )
    answered = question.offers(read_answer(msgspec.json.encode(asked["answer"])), WORD, asked.get("extension", ""))
    listing = show(answered, TypedToken(line=line[:caret], prefix=prefix, asked=asked["asked"], follows=NEVER))
    before, after = line[: caret - len(prefix)], line[caret:]
    rows = [[found.label or found.text, _accepted(found, before, after)] for found in listing.suggestions]
    return {"shown": rows, "highlighted": listing.highlighted}


def _accepted(found: Suggestion, before: str, after: str) -> str:
    tail, _, behind = found.tail.partition(REMOVED)
    tail, _, lost = tail.partition(REMOVED_BEFORE)
    assert before.endswith(lost)
    assert after.startswith(behind)
    return before[: len(before) - len(lost)] + found.text + tail + after[len(behind) :]
