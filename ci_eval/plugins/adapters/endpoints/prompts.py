"""The questions to a language model about a caret or a record, and the suggestions in its answers."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

from ci_eval.core.contracts import Query
from ci_eval.core.model import Record, Span, Usage
from ci_eval.core.model.settings import EndpointConfig
from ci_eval.core.text_spans import cut, extent, is_whole
from ci_eval.plugins.adapters.endpoints.context import Seen
from ci_eval.plugins.adapters.endpoints.contract import Prompt, Reply
from ci_eval.plugins.adapters.endpoints.http.assembly import mean_logprob
from ci_eval.plugins.adapters.endpoints.templates import OF_THE_ENDPOINT, find_template
from ci_eval.plugins.responses.completion import Hole, Inserted, extract_insertion

TOKENS: dict[Span, int] = {"word": 16, "around": 16, "line": 64, "statement": 128, "block": 512, "text": 1024}
"""The number of tokens of the longest answer, by the span that is asked for."""

_PLACE = re.compile(r"\{(\w+)\}")


class Reading(NamedTuple):
    """The language that answers are in, and the grammar that reads the open file; "" = not known."""

    name: str = ""
    grammar: str = ""


def build_prompt(seen: Seen, query: Query, settings: EndpointConfig) -> Prompt:
    """Return the question at a caret with that view of the files, or the question of a record."""
    limit = settings.sampling.max_tokens or TOKENS[query.span]
    if query.record:
        return Prompt(instruction=fill_instruction(query.record), max_tokens=limit)
    view = seen.window
    return Prompt(prefix=view.prefix, suffix=view.suffix, max_tokens=limit, path=seen.path, files=seen.files)


def fill_instruction(record: Record) -> str:
    """Return the record's instruction, with the parts of the context in their places. Without an instruction, the parts
    stand below each other."""
    if not record.instruction:
        return "\n\n".join(f"{name}:\n{text}" for name, text in record.context.items())
    # One pass, so that braces in the context are no placeholders.
    return _PLACE.sub(lambda match: record.context.get(match[1], match[0]), record.instruction)


def make_suggestion(text: str, before: str, query: Query) -> str:
    """Return the text that an answer would insert in place of the prefix, cut to the span; "" for nothing."""
    # The file's text has LF alone (`grammar.document.decode`).
    answer = text.replace("\r\n", "\n").replace("\r", "\n")
    # A model may begin with the blank that is there already.
    if not query.prefix and before.endswith((" ", "\t")):
        answer = answer.lstrip(" \t")
    inserted = cut(answer, before, query.span, query.word)
    return query.prefix + inserted if inserted else ""


def measure_usage(reply: Reply, before: str, query: Query, cost: float | None, part: Inserted) -> Usage:
    """Return the tokens, time and cost that the answer took. It was cut off if the model was stopped before the end of
    the span."""
    answer = reply.text[part.begin : part.end]
    end = part.begin + extent(answer, before, query.span, query.word)
    # An answer whose fence is closed is whole, although the model went on behind it.
    is_closed = "fence" in part.rules and part.end < len(reply.text)
    return Usage(
        first_token=reply.first_token,
        prompt_tokens=reply.prompt_tokens,
        answer_tokens=reply.answer_tokens,
        cost=cost,
        logprob=mean_logprob(reply, part.begin, end),
        finish=reply.finish,
        read=part.rules,
        # What the file has may be no code until more of it is typed.
        unreadable=not part.is_readable and not query.expected.startswith(make_suggestion(answer, before, query)),
        cut_off=reply.finish in STOPPED and not (is_closed or is_whole(answer, before, query.span, query.word)),
    )


STOPPED = {"length", "filter"}
"""The reasons to stop that leave an answer incomplete."""


def read_answer(text: str, document: str, query: Query, settings: EndpointConfig, language: Reading) -> Inserted:
    """Return the part of an answer about a caret that goes on there; see `extract_insertion`."""
    before, begin = document[: query.offset], query.offset - len(query.prefix)
    hole = Hole(
        before=document[:begin],
        after=document[query.offset :],
        original=query.expected,
        # Inside a word, what a model adds is there twice.
        grammar="" if query.span == "around" else language.grammar,
    )
    part = extract_insertion(
        text,
        hole,
        lambda part: make_suggestion(part, before, query),
        language=language.name,
        thoughts=settings.thoughts,
        ends=list_stop_texts(settings),
        chat=settings.api == "chat",
    )
    # The blank that is there already has no part in the mean of log-probabilities.
    is_repeated = not query.prefix and before.endswith((" ", "\t"))
    inner = text[part.begin : part.end]
    return replace(part, begin=part.end - len(inner.lstrip(" \t"))) if is_repeated else part


def list_stop_texts(settings: EndpointConfig) -> tuple[str, ...]:
    """Return the texts that end an answer by the configuration: those of the template, which some servers echo."""
    named = settings.template not in {None, OF_THE_ENDPOINT}
    template = find_template(settings.template or "", settings.file_heading).stop if named else ()
    return tuple(stop for stop in template if stop.strip())
