"""Find the causes of misses in stored lists of suggestions, without asking an engine."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import fsum
from typing import NamedTuple

import msgspec

from ci_eval.core.contracts import Language, NamesInScope
from ci_eval.core.filters import ReportFilter
from ci_eval.core.grammar.syntax import Continuations, choose_grammar
from ci_eval.core.model import FAILED, Kind, Session, SessionScore, SourceFile, Suggestion
from ci_eval.core.model.report import Causes, Cluster, MissExample
from ci_eval.core.model.sessions import ELSEWHERE, REMOVED, REMOVED_BEFORE
from ci_eval.core.scoring import begins, evaluated, rank_of, reciprocal_rank
from ci_eval.core.workspace import Workspace

Ranks = Mapping[str, int | None]
"""The rank of the expected text in each session; None if the text was absent."""

EXAMPLES = 3
VALID_WITHIN = 5
AHEAD = 3

NO_ANSWER = "the engine did not answer"
OTHER_RANGE = "accepting the right name damages the text around it"
MORE_TEXT = "accepting the right name inserts more text"
BARRED_KEYWORD = "keywords that cannot be there"
BARRED_NAME = "names where only keywords can be"
BARE_MEMBER = "members without their object"
UNNEEDED_IMPORT = "an import that was not needed comes first"
# Such a name is private to the engine's stubs, or the engine adds its import only on request.
OUT_OF_SCOPE = "a name that is in no scope comes first"
ORDER = "another suggestion comes first"
MISSING = {
    Kind.KEYWORD: "the keyword is missing",
    Kind.IMPORT: "the imported name is missing",
    Kind.ARGUMENT_NAME: "the argument name is missing",
    Kind.RECORD: "the expected text is missing",
}
MISSING_MEMBER, MISSING_NAME = "the member is missing", "the name is missing"

FAULTS = {
    NO_ANSWER: 0.9,
    OTHER_RANGE: 1.0,
    MORE_TEXT: 0.6,
    BARRED_KEYWORD: 0.95,
    BARRED_NAME: 0.95,
    BARE_MEMBER: 0.95,
    UNNEEDED_IMPORT: 0.5,
    OUT_OF_SCOPE: 0.5,
    ORDER: 0.1,
}
"""Cause → the certainty (0 to 1) that it is a fault rather than a matter of taste. Other causes are missing names."""
MISSING_UNKNOWN, MISSING_VISIBLE, OTHERS_HAVE_IT, NOBODY_HAS_IT = 0.7, 0.9, 1.0, 0.2
"""The certainty for a missing name: by default; if visible at the caret; if another run has the name; if no run has."""
DUNDER_FIRST, OTHERS_FIRST = 0.4, 0.3
"""The certainty for a wrong order: if a dunder is first; if another run has the expected text first."""

NOTHING = "nothing"
MEMBER_KINDS = frozenset({"method", "field", "property", "enum-member"})
# The dots of a spread or a range, and the arrow before a type, do not match.
_AFTER_OBJECT = re.compile(r"(?:(?<!\.)\.\s*|::\s*|[\w)\]]->)$")


class Loss(NamedTuple):
    first: float
    mrr: float


class Part(NamedTuple):
    cause: str
    first: str
    """The class of the first suggestion."""
    loss: Loss
    certainty: float


@dataclass
class Place:
    """A session in its file, with the grammar and the scopes that judge its suggestions."""

    session: Session
    text: str
    keywords: frozenset[str]
    grammar: Continuations | None
    names: NamesInScope | None

    def __post_init__(self) -> None:
        kind = self.session.properties.kind
        line = self.text[self.text.rfind("\n", 0, self.session.offset) + 1 : self.session.offset]
        self.after_object = kind is not Kind.RECORD and bool(_AFTER_OBJECT.search(line))
        # Scopes decide only about bare names, such as `x`, and not about members, such as `a.x`.
        self.is_bare = not self.after_object and kind not in {Kind.IMPORT, Kind.ARGUMENT_NAME, Kind.RECORD}
        self.grammar_judged = self.grammar is not None and self.grammar.at(self.session.offset) is not None
        self.scope_judged = not self.is_bare or self.names is not None

    def class_of(self, suggestion: Suggestion) -> str:
        """Return the class of a suggestion, such as "keyword" (docs/misses.md)."""
        text = suggestion.text
        # A member or a variable may have the name of a keyword, as in `promise.catch`.
        may_be_keyword = suggestion.kind in {"", "snippet"} and text in self.keywords and not self.after_object
        if suggestion.kind == "keyword" or may_be_keyword:
            return "keyword"
        if text.startswith("__") and text.endswith("__"):
            return "dunder"
        is_member = suggestion.kind in MEMBER_KINDS
        names = self.names if self.is_bare else None
        origin = names.origin(self.session.offset, text) if names else ""
        if suggestion.edits or ELSEWHERE in suggestion.tail:
            return "import"
        is_known = names is not None and names.is_barred(self.session.offset, text, is_member=is_member) is not None
        if is_known and not origin and not is_member and not _is_argument(suggestion):
            return "out of scope"
        if suggestion.kind == "module":
            return "module"
        if origin in {"local", "builtin"}:
            return origin
        return "member" if is_member or self.after_object else "name"

    def barred_by(self, suggestion: Suggestion) -> str:
        """Return why the suggestion cannot be at the caret; "" if it can, or if that is not known."""
        offset, is_keyword = self.session.offset, self.class_of(suggestion) == "keyword"
        if self.grammar and self.grammar.allows(offset, suggestion.text, keyword=is_keyword) is False:
            # A suggestion that the engine does not call a keyword may be a name with the same text.
            is_sure = suggestion.kind == "keyword" or not self.grammar.allows(offset, suggestion.text, keyword=False)
            if is_sure:
                return BARRED_KEYWORD if is_keyword else BARRED_NAME
        if is_keyword or not self.names or not self.is_bare or suggestion.edits or _is_argument(suggestion):
            return ""
        is_barred = self.names.is_barred(offset, suggestion.text, is_member=suggestion.kind in MEMBER_KINDS)
        self.scope_judged = self.scope_judged and is_barred is not None
        return BARE_MEMBER if is_barred else ""

    def defined(self) -> str:
        session = self.session
        origin = self.names.origin(session.offset, session.expected_text) if self.names and self.is_bare else ""
        known, package = session.properties, session.properties.package or ""
        if known.kind is Kind.KEYWORD:
            return "language"
        if origin == "builtin" or (self.names and package and self.names.is_standard(package)):
            return "standard library"
        if origin and known.location != "library":
            return "file"
        is_dependency = self.names and known.location == "library"
        return "dependency" if is_dependency else known.location or "not known"


def _is_argument(suggestion: Suggestion) -> bool:
    # jedi appends `=` to the parameters of a called function. They are in no scope at the caret.
    return suggestion.tail.startswith("=") or suggestion.label.endswith("=") or suggestion.kind == "param"


def find_parts(place: Place, others: Iterable[Ranks]) -> list[Part]:
    """Divide the loss of a session into parts by cause. `others`: the ranks of the same sessions in other runs."""
    session = place.session
    rank, lookup = rank_of(session), session.lookups[session.until - 1] if session.lookups else None
    elsewhere = [ranks[session.id] for ranks in others if session.id in ranks]
    if rank is not None and lookup is not None:
        return _split_order(place, lookup.suggestions[: rank - 1], rank, is_first_elsewhere=1 in elsewhere)
    first = place.class_of(lookup.suggestions[0]) if lookup and lookup.suggestions else NOTHING
    if session.status in FAILED or lookup is None:
        return [Part(NO_ANSWER, first, Loss(1.0, 1.0), FAULTS[NO_ANSWER])]
    expected = session.expected_text
    for position, suggestion in enumerate(lookup.suggestions):
        # A suggestion may have the right name, but insert another text if it is accepted.
        named, tail = suggestion.label or suggestion.text, suggestion.tail
        is_named, is_text = named == expected or named.startswith(f"{expected}("), suggestion.text == expected
        removes, cause = REMOVED in tail or REMOVED_BEFORE in tail, ""
        if (is_named and not is_text) or (removes and (is_named or is_text)):
            cause = OTHER_RANGE
        elif is_named and tail and not tail.startswith("="):
            cause = MORE_TEXT
        if cause:
            # Editors filter suggestions by the replaced text. With the right range, only these suggestions are ahead.
            ahead = [other for other in lookup.suggestions[:position] if begins(other, lookup.prefix)]
            rank = len(ahead) + 1
            spoiled = Part(cause, first, Loss(float(rank == 1), 1 / rank), FAULTS[cause])
            return [spoiled, *_split_order(place, ahead, rank, is_first_elsewhere=False)]
    kind = session.properties.kind
    cause = MISSING.get(kind, MISSING_MEMBER if place.after_object else MISSING_NAME)
    is_visible = bool(place.names and place.is_bare and place.names.origin(session.offset, session.expected_text))
    certainty = MISSING_VISIBLE if is_visible else MISSING_UNKNOWN
    if elsewhere:
        certainty = OTHERS_HAVE_IT if any(elsewhere) else NOBODY_HAS_IT
    return [Part(cause, first, Loss(1.0, 1.0), certainty)]


def _split_order(place: Place, ahead: Sequence[Suggestion], rank: int, *, is_first_elsewhere: bool) -> list[Part]:
    """Split the loss into a part by impossible suggestions, and a part that would remain without them."""
    # A stored list may be shorter than the displayed one. Suggestions that were not stored count as possible.
    barred = [(suggestion, cause) for suggestion in ahead if (cause := place.barred_by(suggestion))]
    rank_without = rank - len(barred)
    parts = []
    if barred:
        suggestion, cause = barred[0]
        loss = Loss(float(rank_without == 1), 1 / rank_without - 1 / rank)
        parts.append(Part(cause, place.class_of(suggestion), loss, FAULTS[cause]))
    if rank_without > 1:
        seen = {id(suggestion) for suggestion, _ in barred}
        first = next((place.class_of(other) for other in ahead if id(other) not in seen), "name")
        cause = {"import": UNNEEDED_IMPORT, "out of scope": OUT_OF_SCOPE}.get(first, ORDER)
        certainty = FAULTS[cause]
        if cause == ORDER:
            certainty = OTHERS_FIRST if is_first_elsewhere else certainty
            certainty = max(certainty, DUNDER_FIRST) if first == "dunder" else certainty
        parts.append(Part(cause, first, Loss(1.0, 1 - 1 / rank_without), certainty))
    return parts


class ClusterParts(msgspec.Struct):
    cause: str
    parts: list[tuple[Loss, float]] = msgspec.field(default_factory=list)
    kinds: Counter[str] = msgspec.field(default_factory=Counter)
    firsts: Counter[str] = msgspec.field(default_factory=Counter)
    defined: Counter[str] = msgspec.field(default_factory=Counter)
    others: Counter[str] = msgspec.field(default_factory=Counter)
    examples: list[tuple[float, MissExample]] = msgspec.field(default_factory=list)

    def add(self, part: Part, loss: Loss, place: Place) -> None:
        session = place.session
        self.parts.append((loss, part.certainty))
        self.kinds[session.properties.kind.value] += 1
        self.firsts[part.first] += 1
        self.defined[place.defined()] += 1
        size = loss.first + loss.mrr
        if len(self.examples) == EXAMPLES and size <= self.examples[-1][0]:
            return
        rank, lookup = rank_of(session), session.lookups[session.until - 1] if session.lookups else None
        ahead = lookup.suggestions[: AHEAD if rank is None else min(AHEAD, rank - 1)] if lookup else ()
        line, texts = place.text.count("\n", 0, session.offset) + 1, tuple(suggestion.text for suggestion in ahead)
        expected = session.expected_text
        example = MissExample(
            session=session.id, file=session.file, line=line, expected=expected, rank=rank, ahead=texts
        )
        # The sort is stable, so of equal losses the earlier ones are kept.
        self.examples = sorted([*self.examples, (size, example)], key=lambda pair: -pair[0])[:EXAMPLES]

    def cluster(self, whole: Loss, sessions: int, titles: Sequence[str]) -> Cluster:
        first, mrr = (fsum(loss[number] for loss, _ in self.parts) for number in (0, 1))
        sizes = [loss.first + loss.mrr for loss, _ in self.parts]
        certain = fsum(size * certainty for size, (_, certainty) in zip(sizes, self.parts, strict=True))
        return Cluster(
            cause=self.cause,
            kind=", ".join(name for name, _ in self.kinds.most_common()),
            first=self.firsts.most_common(1)[0][0],
            share=first / whole.first if whole.first else 0.0,
            gain=first / sessions,
            mrr_share=mrr / whole.mrr if whole.mrr else 0.0,
            mrr_gain=mrr / sessions,
            certainty=round(certain / fsum(sizes), 3),
            sessions=len(self.parts),
            defined=dict(self.defined.most_common()),
            others={title: self.others[title] for title in titles},
            examples=tuple(example for _, example in self.examples),
        )


def read_ranks(workspace: Workspace) -> dict[str, int | None]:
    return {
        session.id: rank_of(session)
        for _, sessions in workspace.sessions(SessionScore)
        for session in sessions
        if evaluated(session)
    }


def find_causes(
    workspace: Workspace,
    language: Language | None,
    passing: ReportFilter,
    *,
    title: str,
    others: Mapping[str, Ranks],
    base: tuple[str, Ranks] | None = None,
) -> Causes:
    """Return the causes of misses in clusters. `others`: title of another run → its ranks. `base`: the title and ranks
    of an earlier run, if only the loss since that run is to be explained."""
    gathered: dict[tuple[str, ...], ClusterParts] = {}
    whole, count, judged, valid = Loss(0.0, 0.0), 0, Counter[str](), list[float]()
    for source, sessions in workspace.sessions(Session):
        placed = make_placer(source, language)
        for session in sessions:
            if not (evaluated(session) and passing.passes(session)) or (base and session.id not in base[1]):
                continue
            count += 1
            if language and language.see_names and (share := _valid_share(placed(session))) is not None:
                valid.append(share)
            lost = _lost(session, base[1][session.id] if base else 1)
            if not (lost.first or lost.mrr):
                continue
            place, full = placed(session), _lost(session, 1)
            scale = Loss(lost.first / (full.first or 1), lost.mrr / (full.mrr or 1))
            for part in find_parts(place, others.values()):
                loss = Loss(part.loss.first * scale.first, part.loss.mrr * scale.mrr)
                if loss.first or loss.mrr:
                    whole = Loss(whole.first + loss.first, whole.mrr + loss.mrr)
                    # A wrong order has a cluster for each kind of token and class of the first suggestion.
                    of_order = (session.properties.kind.value, part.first) if part.cause == ORDER else ()
                    cluster_parts = gathered.setdefault((part.cause, *of_order), ClusterParts(part.cause))
                    cluster_parts.add(part, loss, place)
                    was, ranks = rank_of(session), {title: of.get(session.id) for title, of in others.items()}
                    cluster_parts.others.update(title for title, rank in ranks.items() if (rank == 1 if was else rank))
            if session.lookups and session.lookups[session.until - 1].total:
                judged.update(of=1, grammar=place.grammar_judged, scope=place.scope_judged)
    clusters = [cluster_parts.cluster(whole, count, [*others]) for cluster_parts in gathered.values()]
    return Causes(
        title=title,
        base=base[0] if base else "",
        headline=passing.name,
        language=workspace.manifest().language,
        sessions=count,
        lost=whole.first / count if count else 0.0,
        mrr_lost=whole.mrr / count if count else 0.0,
        judgeable=judged["of"],
        grammar_judged=judged["grammar"],
        scope_judged=judged["scope"],
        valid_at5=fsum(valid) / len(valid) if valid else None,
        valid_lists=len(valid),
        others=tuple(others),
        clusters=tuple(
            sorted(clusters, key=lambda one: (-one.share * one.certainty, -one.mrr_share * one.certainty, one.cause))
        ),
    )


def make_placer(source: SourceFile, language: Language | None) -> Callable[[Session], Place]:
    """Return a function that makes a `Place` of a session in the file. The file is parsed when it is first needed."""

    @cache
    def parse() -> tuple[Continuations | None, NamesInScope | None]:
        if not language or not source.text:
            return None, None
        grammar = choose_grammar(language.grammars, source.path) if language.grammars else ""
        return (
            Continuations(source.text, grammar) if grammar else None,
            language.see_names(source.text, source.path) if language.see_names else None,
        )

    def place(session: Session) -> Place:
        # The text of a dataset's sample is not a whole file in the language, so it is not parsed.
        grammar, names = (None, None) if session.properties.kind is Kind.RECORD else parse()
        return Place(session, source.text, language.keywords if language else frozenset(), grammar, names)

    return place


def _valid_share(place: Place) -> float | None:
    """Return the share of possible suggestions among the first ones; None for an empty list or an unknown share."""
    lookups = place.session.lookups
    first = lookups[place.session.until - 1].suggestions[:VALID_WITHIN] if lookups else ()
    valid = sum(not place.barred_by(suggestion) for suggestion in first)
    return valid / len(first) if first and place.grammar_judged and place.scope_judged else None


def _lost(session: Session, base: int | None) -> Loss:
    first = float(base == 1) - float(rank_of(session) == 1)
    return Loss(max(first, 0.0), max((1 / base if base else 0.0) - reciprocal_rank(session), 0.0))
