"""The jobs that mine object usages from projects, and their histories from Git or from recorded editing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ci_eval.ci import Screen
from ci_eval.core import machine
from ci_eval.core.base import atomic
from ci_eval.core.base.errors import ConfigError, NothingToEvaluate
from ci_eval.core.model import History, ObjectUsage, StoredText
from ci_eval.fetch import project, sealed
from ci_eval.fetch.git import repository
from ci_eval.jobs.datasets.records import Source, print_outcomes
from ci_eval.plugins.mining.usages import languages, streams
from ci_eval.plugins.mining.usages.dialect import Dialect, ProjectContext, Receiver
from ci_eval.plugins.mining.usages.histories import Mined, Miner, Recording, git_snapshots
from ci_eval.plugins.mining.usages.texts import JediInference, read_project


class Choices(msgspec.Struct, frozen=True, kw_only=True):
    language: str = ""
    own_types: bool = False
    infer: bool = False
    """Whether jedi is asked for types that local rules do not find."""
    jobs: int = 1
    texts: bool = False
    """Whether source texts are stored, with the locations of the objects in them."""

    def dialect(self) -> Dialect:
        if not self.language:
            raise ConfigError(f"--language is needed: one of {', '.join(languages.names())}")
        if self.infer and self.language != "python":
            raise ConfigError("--infer asks jedi, which knows Python only: leave --infer out")
        return languages.CATALOG.load(self.language)


# ------------------------------------------------------------------------------------------------------- projects


def mine_projects(specs: Sequence[str], output: Path, choices: Choices, screen: Screen) -> None:
    """Write a line for each usage, project by project. Raises ConfigError, PreparationError, NothingToEvaluate."""
    dialect = choices.dialect()
    lines: list[ObjectUsage] = []
    reports = []
    with sealed.care(report=screen.warn):
        for spec in specs:
            screen.say(f"Preparing {spec}")
            prepared = project.prepare(spec, cache=machine.cache_folder())
            with screen.steps(f"Reading {prepared.info.name}", "files") as steps:
                mined = read_project(prepared.root, dialect, jobs=choices.jobs, advance=steps.show, infer=choices.infer)
            for path, reason in mined.troubles:
                screen.warn(f"{prepared.info.spec}: {path}: {reason}")
            before = len(lines)
            outcomes = Counter({OTHERS[kind]: count for kind, count in mined.receivers.items() if kind in OTHERS})
            for usage in mined.usages:
                if usage.own and not choices.own_types:
                    outcomes["usage of the project's own type"] += 1
                elif not usage.usage.calls:
                    outcomes["usage without any call"] += 1
                else:
                    lines.append(usage.usage)
            facts = {
                "files": f"{len(mined.paths):,}",
                "not read": f"{len(mined.troubles):,}",
                "with syntax errors": f"{mined.broken:,}",
                "usages": f"{len(lines) - before:,}",
                "receivers resolved": format_known_share(mined.receivers),
            }
            reports.append(Source(spec, facts, outcomes))
    _finish(lines, "usages", output, reports, screen)


OTHERS: Mapping[Receiver, str] = {
    "unknown": "call on an object of unknown type",
    "module": "call of a function of a module",
    "class": "call on a class",
    "this": "call on the object itself",
    "array": "call on an array",
    "type parameter": "call on an object of a type parameter",
}


def format_known_share(receivers: Mapping[Receiver, int]) -> str:
    """Return the percentage of calls on objects whose type is known; "" if there are no calls on objects."""
    known, unknown = receivers.get("object", 0), receivers.get("unknown", 0)
    return f"{known / (known + unknown):.0%}" if known + unknown else ""


# ------------------------------------------------------------------------------------------------------ histories


def mine_git(sources: Sequence[str], output: Path, choices: Choices, screen: Screen) -> None:
    """Write the histories in Git repositories. A source is a URL or folder, optionally with @REVISION. Raises
    ConfigError, InstallError, NothingToEvaluate."""
    dialect = choices.dialect()
    results: list[tuple[str, Mined]] = []
    for source in sources:
        screen.say(f"Copying {source}")
        with repository(source) as copy, screen.steps(f"Reading {source}", "files") as steps:
            files = copy.files(tuple(dialect.grammars))
            # Names in Git may be any bytes, but the histories are stored as UTF-8.
            paths = [path for path in files if path == path.encode(errors="ignore").decode()]
            miner = _miner(choices, dialect, copy.name, own=dialect.own(paths))
            mined = Mined(skipped=Counter({"file whose name is not UTF-8": len(files) - len(paths)}))
            for number, path in enumerate(paths, 1):
                miner.mine(git_snapshots(copy, path, mined.skipped), mined)
                steps.show(number, len(paths))
        results.append((source, mined))
    _finish_histories(results, output, choices, screen)


def mine_streams(recordings: Sequence[tuple[str, Path]], output: Path, choices: Choices, screen: Screen) -> None:
    """Write the histories in recorded editing. `recordings` has the format and the path of each recording. Raises
    ConfigError, NothingToEvaluate."""
    results: list[tuple[str, Mined]] = []
    for name, path in recordings:
        stream = streams.CATALOG.load(name)
        if not path.exists():
            raise ConfigError(f"there is no recording {path}: give a file or a folder, as in --stream {name}=PATH")
        # A format with `languages` records usages rather than texts, so any dialect will do.
        dialect = languages.CATALOG.load(languages.names()[0]) if stream.languages else choices.dialect()
        screen.say(f"Reading {path}")
        recording = Recording(ends=tuple(dialect.grammars))
        mined = Mined(skipped=recording.skipped)
        try:
            _miner(choices, dialect, path.stem).mine(stream.read(path, recording), mined)
        except OSError as error:
            raise ConfigError(f"cannot read {path}: {error.strerror or error}; check its permissions") from error
        results.append((f"{name}={path}", mined))
    _finish_histories(results, output, choices, screen)


def _miner(choices: Choices, dialect: Dialect, name: str, **own: Any) -> Miner:
    """Return a miner of usages. `own` has the names that the project defines, if they are known."""
    around = ProjectContext(infer=JediInference() if choices.infer else None, places=choices.texts, **own)
    return Miner(dialect=dialect, project=name, around=around, own_types=choices.own_types)


# ---------------------------------------------------------------------------------------------------------- output


def _finish_histories(results: Sequence[tuple[str, Mined]], output: Path, choices: Choices, screen: Screen) -> None:
    texts = {digest: text for _, mined in results for digest, text in mined.texts.items()}
    lines = [line for _, mined in results for line in mined.histories]
    reports = []
    for title, mined in results:
        states = [state for history in mined.histories for state in history.states]
        facts = {
            "files": f"{len(mined.files):,}",
            "snapshots": f"{mined.snapshots:,}",
            "histories": f"{len(mined.histories):,}",
            "states of a history": f"{len(states) / len(mined.histories):.1f}" if mined.histories else "",
            "receivers resolved": format_known_share(mined.receivers),
        }
        if choices.texts:
            present = sum(state is not None for state in states)
            placed = sum(place is not None for history in mined.histories for place in history.places)
            share = f"{placed / present:.0%}" if present else ""
            facts |= {"texts": f"{len(mined.texts):,}", "states with a place": share}
        dropped = {f"{'' if 'file' in reason else 'history '}{reason}": n for reason, n in mined.dropped.items()}
        own = {"usage of the project's own type": mined.own}
        reports.append(Source(title, facts, Counter(dropped) + Counter(own) + mined.skipped))
    _finish(lines, "histories", output, reports, screen, [*texts.values()])


def _finish(
    lines: Sequence[ObjectUsage] | Sequence[History],
    kind: str,
    output: Path,
    reports: Sequence[Source],
    screen: Screen,
    texts: Sequence[StoredText] = (),
) -> None:
    print_outcomes(reports, screen)
    if not lines:
        raise NothingToEvaluate(f"no {kind} were found: see the outcomes in the table above")
    atomic.write(output, b"".join(msgspec.json.encode(line) + b"\n" for line in (*lines, *texts)))
    screen.result(f"{len(lines):,} {kind}")
    screen.line(str(output))
