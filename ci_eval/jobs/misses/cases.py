"""The job `cases`: it asks an engine about cases, and compares the first suggestions of each list with a snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path

import msgspec

from ci_eval.ci import Screen
from ci_eval.core.actions.files import source_files
from ci_eval.core.base import atomic
from ci_eval.core.base.errors import ConfigError, NothingToEvaluate
from ci_eval.core.catalogs import languages, tasks
from ci_eval.core.config import Config, patch
from ci_eval.core.contracts import Language
from ci_eval.core.grammar.document import NotText, read_text
from ci_eval.core.interpret.cases import Case, ask_cases, check_case, read_cases
from ci_eval.core.model import FORMAT, Session
from ci_eval.core.model.report import CaseResult, Cases, ListChange, Snapshot
from ci_eval.jobs.preparation import load_engine, prepare
from ci_eval.rendering import reporters

KEPT = 10


def run_cases(
    folder: Path,
    config: Config,
    *,
    language: str | None,
    snapshot: Path | None,
    update: bool,
    output: Path | None,
    screen: Screen,
) -> tuple[Cases, dict[str, Path]]:
    """Return the results and, by reporter, the file to open first; no files without `output`. Raises ConfigError for a
    bad case or snapshot, NothingToEvaluate, or PreparationError."""
    if not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder: give the folder with the source files of the cases")
    chosen = [languages.CATALOG.load(language)] if language else languages.CATALOG.all()
    found = [(one, cases) for one in chosen if one.grammars.keys() != {""} and (cases := _find(folder, one, config))]
    if not found:
        raise NothingToEvaluate(f"{folder} has no cases: a line `#    ^ expect: NAME` below a line of code makes one")
    known = load_engine(config).languages
    asked = [(one, cases) for one, cases in found if known is None or one.name in known]
    if not asked:
        raise NothingToEvaluate(
            f"the cases in {folder} are in {', '.join(one.title for one, _ in found)}, and {config.engine.name} knows "
            f"{', '.join(sorted(known or ()))}: choose another engine"
        )
    before = None
    if snapshot and (snapshot.exists() or not update):
        try:
            before = msgspec.json.decode(snapshot.read_bytes(), type=Snapshot)
        except (OSError, msgspec.MsgspecError) as error:
            raise ConfigError(f"the snapshot {snapshot} cannot be read: {error}; --update writes it") from error
    titles, results, of = dict[str, None](), list[CaseResult](), sum(len(cases) for _, cases in asked)
    with screen.steps("Cases", "cases") as steps:
        for one, cases in asked:
            prepared = prepare(patch(config, language=one.name), screen)
            titles[prepared.installation.info.text] = None
            sessions = ask_cases(prepared.setup, tasks.CATALOG.load("inside"), cases)
            for case, session in zip(cases, sessions, strict=True):
                results.append(_result(case, session, one))
                steps.show(len(results), of)
    title, lists, base = ", ".join(titles), _lists(results), before.lists if before else {}
    done = Cases(
        title=title,
        left_out=tuple(one.title for one, cases in found if (one, cases) not in asked),
        cases=tuple(results),
        base=before.title if before else None,
        changes=tuple(
            ListChange(key=key, base=base.get(key), new=lists.get(key))
            for key in (dict.fromkeys((*lists, *base)) if before else ())
            if base.get(key) != lists.get(key)
        ),
    )
    if snapshot and update:
        values = {"format": FORMAT, **msgspec.to_builtins(Snapshot(title=title, lists=lists))}
        atomic.write_json(snapshot, values)
    return done, reporters.write(done, None, output) if output else {}


def _find(folder: Path, language: Language, config: Config) -> list[Case]:
    cases = list[Case]()
    for path in source_files(folder, language, config.actions) if folder.is_dir() else ():
        try:
            text = read_text(folder, path)
        except (NotText, OSError) as error:
            raise ConfigError(f"{folder / path} cannot be read: {error}") from error
        cases += read_cases(text, path, language.name)
    return cases


def _result(case: Case, session: Session, language: Language) -> CaseResult:
    before, after = case.around()
    shown = session.lookups[-1].suggestions if session.lookups else ()
    return CaseResult(
        file=case.path,
        line=case.line,
        caret=f"{before.lstrip()}|{after}",
        directives=case.directives,
        reasons=tuple(check_case(case, session, language.word)),
        first=tuple(item.label or item.text for item in shown[:KEPT]),
    )


def _lists(results: Sequence[CaseResult]) -> dict[str, tuple[str, ...]]:
    """Return the lists by file and text of the line: such a key stays the same if lines are added above."""
    lists = dict[str, tuple[str, ...]]()
    for result in results:
        key = name = f"{result.file}: {result.caret}"
        numbers = count(2)
        while key in lists:
            key = f"{name} ({next(numbers)})"
        lists[key] = result.first
    return lists
