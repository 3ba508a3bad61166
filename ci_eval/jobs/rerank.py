"""The job `rerank`: stored suggestions in the order of another completion type, without the engine."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from ci_eval import languages, rankers
from ci_eval.config import dump, patch
from ci_eval.contracts import Ordering, Ranker, Situation, Surrounding
from ci_eval.errors import ConfigError, NothingToEvaluate
from ci_eval.jobs import pipeline
from ci_eval.jobs.evaluate import Evaluated
from ci_eval.model import Lookup, Session, SourceFile, Suggestion
from ci_eval.support import atomic, names
from ci_eval.support.ci import Screen
from ci_eval.support.model_file import digest_of
from ci_eval.workspace import Workspace, pack_sessions


def rerank(folder: Path, *, completion_type: str, model: Path | None, output: Path, screen: Screen) -> Evaluated:
    """A new workspace with the sessions of `folder`, each list in the new order; and its reports.

    Only what was stored can be moved: the first `interpret.maxSuggestions` of each list. Raises ConfigError,
    WorkspaceError, NothingToEvaluate.
    """
    source = Workspace.open(folder)
    source.verify()
    manifest = source.manifest()
    if manifest.unit == "lines":
        raise ConfigError("lines are typed by what was shown: evaluate them again with the other completion type")
    if not manifest.planned:
        raise NothingToEvaluate(f"{folder} has no sessions")
    config = pipeline.stored_config(source)
    if config.interpret.user_model:
        raise ConfigError(
            f"{folder} has a modelled user, whose choices depend on the order: evaluate again with --completion-type"
        )
    if config.actions.strategy.evolution.share:
        screen.warn("the code was evaluated as it was, not as it became; features are made of how it became")
    ranker = rankers.CATALOG.load(completion_type).configured(model)
    keywords = languages.CATALOG.load(manifest.language).keywords
    config = patch(config, completion_type=completion_type, model=model)
    if model is None:
        config = replace(config, interpret=replace(config.interpret, ranking_model=None))
    target = Workspace.create(output)
    target.write_config(dump(config))
    for path in source.action_files():
        atomic.copy(path, output / "actions" / path.name)
    for error in source.errors():
        target.write_error(error)
    known = _names(source, target, ranker)
    with screen.steps("Ranking", "files") as steps:
        for number, (file, sessions) in enumerate(source.sessions(Session), 1):
            surrounding = Surrounding(path=file.path, text=file.text, keywords=keywords, names=known)
            order = ranker.open(surrounding)
            target.write_sessions(file.path, pack_sessions(file, _reranked(file, sessions, order)))
            steps.show(number, manifest.stages["interpret"].files, "")
    title = config.reports.evaluation_title or (f"{manifest.engine.name} {manifest.engine.version} {completion_type}")
    target.write_manifest(
        replace(manifest, completion_type=ranker.name, model=digest_of(model), title=title, logs=None)
    )
    target.seal()
    evaluation, reports = pipeline.make_reports(target, config)
    return Evaluated(folder=output, evaluation=evaluation, reports=reports, trouble=pipeline.trouble(target, config))


def _names(source: Workspace, target: Workspace, ranker: Ranker) -> Path | None:
    """Those of the run, or else those of the files that have sessions."""
    if not ranker.needs_names:
        return None
    if source.names_path.is_file():
        atomic.copy(source.names_path, target.names_path)
    else:
        names.count(file.text for file in source.sources()).save(target.names_path)
    return target.names_path


def _reranked(file: SourceFile, sessions: Iterator[Session], order: Ordering) -> Iterator[Session]:
    for session in sessions:
        lookups = tuple(_lookup(file, session, lookup, number, order) for number, lookup in enumerate(session.lookups))
        yield replace(session, lookups=lookups)


def _lookup(file: SourceFile, session: Session, lookup: Lookup, number: int, order: Ordering) -> Lookup:
    if len(lookup.suggestions) < 2:
        return lookup
    shown = _as_the_engine_had_them(lookup.suggestions)
    before = file.text[: session.offset]
    situation = Situation(path=file.path, before=before, prefix=lookup.prefix, query=number)
    started = time.perf_counter()
    ordered = order(shown, situation)
    ranking = (time.perf_counter() - started) * 1000
    rank = next((place for place, each in enumerate(ordered, 1) if each.text == session.expected_text), None)
    if rank is None:
        rank = lookup.rank  # behind what was stored: it keeps its place
    place = {each.text: position for position, each in enumerate(shown, 1)}
    return replace(
        lookup,
        suggestions=tuple(replace(each, position=place[each.text]) for each in ordered)
        if ordered is not shown
        else tuple(shown),
        rank=rank,
        selected=rank is not None and rank < len(session.expected_text) - len(lookup.prefix),
        latency=round(lookup.latency + ranking, 3),
    )


def _as_the_engine_had_them(stored: Sequence[Suggestion]) -> list[Suggestion]:
    if stored[0].position is None:
        return list(stored)
    ordered = sorted(stored, key=lambda each: each.position or 0)
    return [replace(each, position=None) for each in ordered]
