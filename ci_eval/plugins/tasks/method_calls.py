"""A task in which engines predict which other methods will be called on an object, in recorded or simulated code.

It follows Proksch et al., "Evaluating the evaluations of code recommender systems" (ASE 2016). A line of the dataset is
the history of an object. Each query case in a history becomes one session per strategy.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import blake2b

import msgspec
from msgspec.structs import replace

from ci_eval.core import model
from ci_eval.core.contracts import Hands, Lines, RecordItem, Split, Splitter, Splitting, Task
from ci_eval.core.model.settings import Goal, StrategyName
from ci_eval.core.queries import cases as query_cases
from ci_eval.core.queries.carets import Texts, check_places, is_text, locate_caret
from ci_eval.core.records import BANDS, LEGEND, find_band

INSTRUCTION = (
    "A developer works with an object of the type {type}, in the method {method}. Where the object comes from: "
    "{definition}. Methods that are called on it so far: {calls}. Which other methods will be called on it? Answer "
    "with their names alone, the likeliest first, each on a line of its own; leave out what is unlikely."
)
NAME = re.compile(
    r"[\s>*•-]*(?:\d+[.)]\s+)?[`'\"]*([^\s`'\"(),;>*•-](?:[^\s`'\"(),;]*[^\s`'\"(),;.])?)"
    r"(?:\(.*\))?[`'\",;.]*\s*"
)
"""The pattern of a line in a language model's answer: a method name, optionally as a list item or with arguments."""


def splitter(lines: Lines, settings: model.QueriesConfig, seed: int) -> Splitter:
    """Read the dataset's texts and the definitions to sample from. Return the function that splits a line."""
    texts, definitions = Texts(), dict[str, set[model.Definition]]()
    # A text may come after the histories that refer to it, so all texts are collected first.
    for _, line in lines:
        if is_text(line):
            texts.add(line)
        elif settings.replace_definition:
            # `split` reports lines that are not histories.
            with suppress(ValueError):
                history = msgspec.convert(line, model.History)
                states = filter(None, history.states)
                definitions.setdefault(history.type, set()).update(state.definition for state in states)
    sampling = query_cases.Sampling(
        seed=seed,
        subsets=settings.subsets,
        dropped=settings.drop_definition,
        replaced=settings.replace_definition,
        # Sort the definitions: the order of a set differs between runs.
        definitions={name: sorted(values, key=msgspec.json.encode) for name, values in definitions.items()},
    )
    return partial(split, settings=settings, sampling=sampling, texts=texts)


def split(
    line: Mapping[str, object], *, settings: model.QueriesConfig, sampling: query_cases.Sampling, texts: Texts
) -> Split:
    """Return the items of a line, ordered by case and then by strategy. Raises ValueError."""
    if is_text(line):
        msgspec.convert(line, model.StoredText)
        return Split(items=[])
    history = msgspec.convert(line, model.History)
    query_cases.check_names([history.type, *(call for state in history.states if state for call in state.calls)])
    trouble = check_places(history, texts.get) if history.places else ""
    if trouble:
        # The history can still be evaluated without the places in its text.
        history = replace(history, places=())
    cases = list(query_cases.generate_cases(history, settings.goal))
    evaluated = [case for case in cases if case.fate == "evaluated"]
    items = [_item(case, name, sampling, settings.goal) for case in evaluated for name in settings.strategies]
    user = blake2b(history.user.encode(), digest_size=8).hexdigest() if history.user else ""
    states = len(history.states)
    contribution = model.Contribution(histories=1, states=states, pairs=len(cases), evaluated=len(evaluated))
    digests = {caret.text for item in items for caret in item.record.carets if caret}
    return Split(
        items=items,
        fates=Counter(case.fate for case in cases),
        drawn=any(query_cases.is_drawn(case, name, sampling) for case in evaluated for name in settings.strategies),
        histories=model.Histories(users={user: contribution}, lengths={states: 1}),
        texts={digest: texts.get(digest) for digest in sorted(digests)},
        trouble=trouble,
    )


def _item(case: query_cases.QueryCase, name: StrategyName, sampling: query_cases.Sampling, goal: Goal) -> RecordItem:
    queries = tuple(query_cases.STRATEGIES[name](case, sampling))
    carets = tuple(locate_caret(case, name, query) for query in queries)
    lacking = {call for query in queries for call in query_cases.missing_calls(query, case)}
    references = tuple(call for call in case.after if call in lacking)
    properties = model.Properties(
        kind=model.Kind.RECORD,
        package=case.history.type,
        strategy=name,
        scenario=case.scenario,
        evolution=case.evolution,
        change=case.label,
        case=case.number,
    )
    about = {"query": f"{name} {case.label} of {case.scenario}, context {case.evolution}"}
    record = model.Record(
        instruction=INSTRUCTION,
        context=about | _context(queries),
        references=references,
        queries=queries,
        # A RANDOM session is the mean over its queries, so the carets are dropped if any query has none.
        carets=carets if all(carets) else (),
        # Only REAL queries are the same for every goal.
        next_references=case.next_calls if name == "REAL" and goal != "next" else (),
    )
    return RecordItem(record=record, expected="\n".join(references), properties=properties)


def _context(queries: Sequence[model.ObjectUsage]) -> dict[str, str]:
    # The queries of a session differ only in their calls.
    first = queries[0]
    return {
        "type": first.type,
        "class": first.class_,
        "method": first.method,
        "definition": format_definition(first.definition),
        "calls": " | ".join(", ".join(query.calls) or "none" for query in queries),
    }


def format_definition(definition: model.Definition) -> str:
    """Return the definition in the form `PARAM 0 of f`."""
    number = "" if definition.argument is None else f" {definition.argument} of"
    return f"{definition.kind}{number} {definition.member}".strip()


def lookup(record: model.Record, number: int) -> model.Record:
    query = record.queries[number]
    return replace(
        record,
        context=record.context | _context([query]),
        references=tuple(call for call in record.references if call not in query.calls),
        queries=(query,),
        carets=record.carets[number : number + 1],
    )


def grade_calls(
    grade: Callable[[Sequence[str], Collection[str]], dict[str, float]],
    names: Sequence[str],
    shown: Sequence[model.Suggestion],
    record: model.Record,
) -> dict[str, float]:
    """Return the grades of the proposed calls, and those in `names` also for the calls added by the next state."""
    proposed = [suggestion.text for suggestion in shown]
    grades = grade(proposed, record.references)
    if record.next_references:
        of_next = grade(proposed, record.next_references)
        grades |= {f"{name}{query_cases.NEXT}": of_next[name] for name in names}
    return grades


def strip_arguments(suggested: Sequence[model.Suggestion]) -> list[model.Suggestion]:
    """Return each name once, without arguments: `append(` and `append(object)` become `append`."""
    by_name: dict[str, model.Suggestion] = {}
    for suggestion in suggested:
        name = suggestion.text.partition("(")[0].strip()
        if name:
            # An engine may list a name several times, such as once per overload.
            by_name.setdefault(name, replace(suggestion, text=name, filter_text=None))
    return list(by_name.values())


def play(item: model.PlayItem, hands: Hands) -> None:
    record = item.record
    for number in range(len(record.queries) if record else 0):
        assert record
        hands.ask("", "\n".join(lookup(record, number).references))


def calls(answer: str, record: model.Record) -> list[model.Suggestion]:
    """Return the method name in each line. A name before a tab is taken unchanged, and the score after the tab becomes
    the suggestion's `kind`. An expected name is also taken unchanged. In all other lines, `NAME` finds the name."""
    by_name: dict[str, model.Suggestion] = {}
    for line in answer.splitlines():
        name, tab, score = line.partition("\t")
        if not tab and name.strip() not in record.references:
            plain = NAME.fullmatch(name)
            name = plain[1] if plain else ""
        if name := name.strip():
            by_name.setdefault(name, model.Suggestion(text=name, kind=score))
    return list(by_name.values())


def rank(expected: str, _prefix: str, shown: Sequence[model.Suggestion]) -> int | None:
    names = set(expected.split("\n"))
    return next((number for number, suggestion in enumerate(shown, 1) if suggestion.text in names), None)


def status(lookups: Sequence[model.LookupScore]) -> model.Status:
    """Return OK if any lookup proposed an expected call, NO_MATCH if there were only other proposals, else EMPTY."""
    if any(lookup_score.rank is not None for lookup_score in lookups):
        return model.Status.OK
    return model.Status.NO_MATCH if any(lookup_score.total for lookup_score in lookups) else model.Status.EMPTY


def mean(session: model.SessionScore, grade: str) -> float:
    """Return the mean of a grade over the lookups of a session. A lookup without the grade counts as 0."""
    values = [(lookup_score.grades or {}).get(grade, 0.0) for lookup_score in session.lookups]
    return sum(values) / len(values) if values else 0.0


def score(session: model.SessionScore) -> float:
    """Return the mean F1 over the session's queries, or the mean R-precision if the lists have no meaningful end."""
    return mean(session, "f1" if query_cases.has_end(session) else "rPrecision")


TASK = Task(
    name="method-calls",
    summary="what else will be called on an object, from histories of objects",
    unit="queries",
    splitting=Splitting(
        splitter=splitter,
        cluster=("project", "file"),
        lookup=lookup,
        grade=partial(grade_calls, query_cases.agreement, ("f1", "rPrecision")),
        named=strip_arguments,
        ranked=partial(grade_calls, query_cases.grade_ranking, ("rPrecision",)),
    ),
    rank=rank,
    status=status,
    score=score,
    bands=BANDS,
    band=partial(find_band, score),
    legend=LEGEND,
    heading="F1 of the proposed calls; R-precision of lists without end",
    play=play,
    read=calls,
)
