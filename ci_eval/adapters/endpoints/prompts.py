"""What a model is asked about a place in a file, or about a record; and what its answer suggests there."""

from __future__ import annotations

import re

from ci_eval.adapters.endpoints.context import Seen
from ci_eval.adapters.endpoints.contract import Prompt, Reply
from ci_eval.adapters.endpoints.logprobs import mean_logprob
from ci_eval.contracts import Query
from ci_eval.model import Record, Span, Usage
from ci_eval.model.endpoints import EndpointConfig
from ci_eval.spans import cut, extent, is_whole

TOKENS: dict[Span, int] = {"word": 16, "line": 64, "statement": 128, "block": 512, "text": 1024}
"""Tokens of the longest answer, by what is asked for."""

_FENCE = re.compile(r"\s*```[\w+#.-]*[ \t]*\n(.*?)(?:\n[ \t]*```.*|\Z)", re.DOTALL)
_PLACE = re.compile(r"\{(\w+)\}")


def asked_at(seen: Seen, query: Query, settings: EndpointConfig) -> Prompt:
    """The question at a place where that is seen, or that of a record."""
    most = settings.sampling.max_tokens or TOKENS[query.span]
    if query.record:
        return Prompt(instruction=instruction_of(query.record), max_tokens=most)
    shown = seen.window
    return Prompt(prefix=shown.prefix, suffix=shown.suffix, max_tokens=most, path=seen.path, files=seen.files)


def instruction_of(record: Record) -> str:
    """Its instruction, with the parts of the context in their places; without one, the parts one below the other."""
    if not record.instruction:
        return "\n\n".join(f"{name}:\n{text}" for name, text in record.context.items())
    return _PLACE.sub(lambda place: record.context.get(place[1], place[0]), record.instruction)


def suggested(reply: Reply, before: str, query: Query, *, chat: bool) -> str:
    """What the answer would insert in place of the prefix; "" for nothing.

    before: the text before the caret. chat: whether the model may have put its answer into a fence, or begun the line
    anew.
    """
    answer = reply.text[_written(reply.text, before, query, chat=chat)]
    found = cut(answer, before, query.span)
    return query.prefix + found if found else ""


def usage_of(reply: Reply, before: str, query: Query, cost: float | None, *, chat: bool) -> Usage:
    """What the answer took. It was cut off if the model was stopped before the end of what was asked for."""
    written = _written(reply.text, before, query, chat=chat)
    answer = reply.text[written]
    end = written.start + extent(answer, before, query.span)
    return Usage(
        first_token=reply.first_token,
        prompt_tokens=reply.prompt_tokens,
        answer_tokens=reply.answer_tokens,
        cost=cost,
        logprob=mean_logprob(reply, written.start, end),
        finish=reply.finish,
        cut_off=reply.finish == "length" and not is_whole(answer, before, query.span),
    )


def _written(text: str, before: str, query: Query, *, chat: bool) -> slice:
    """The part of an answer that stands for what is inserted at the caret, from its beginning on."""
    begin, end = 0, len(text)
    if query.record:
        return slice(begin, end)
    if chat and (fenced := _FENCE.match(text)):
        begin, end = fenced.span(1)
    line = before.rpartition("\n")[2].lstrip()
    inner = text[begin:end]
    if chat and line and inner.lstrip().startswith(line):
        begin = end - len(inner.lstrip()) + len(line)
    # A model may begin with the blank that stands there already.
    if not query.prefix and before.endswith((" ", "\t")):
        begin = end - len(text[begin:end].lstrip(" \t"))
    return slice(begin, end)
