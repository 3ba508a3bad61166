"""Made-up evaluations for the reporters: small by default, hostile or huge on request."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from ci_eval.core.filters import ReportFilter, ReportFilters
from ci_eval.core.model import (
    EngineInfo,
    Estimate,
    Evaluation,
    FileError,
    FileFigures,
    FilterFigures,
    Kind,
    Lookup,
    MetricInfo,
    OtherCode,
    Paint,
    ProjectInfo,
    Properties,
    Session,
    SourceFile,
    Status,
    Suggestion,
)
from ci_eval.core.statistics.population import Strata
from ci_eval.rendering.reporters import Reporter

HOSTILE = (
    '<img src=x onerror="alert(1)">.py',
    "../../escape.py",
    "quo\"te's & amp; `ticks` | pipe.py",
    "line\nbreak\ttab.py",
    "long/" + "x" * 300 + ".py",
    "con.py",
    "Ünïcode/漢字\u2028\u202e.py",
    "Case.py",
    "case.py",
    "@octocat #1 [link](http://example.invalid) **bold** ~~x~~",
)
NASTY = '</script><script>document.title="owned"</script>\u2028\u2029<img src=x onerror=alert(1)>{{ 7*7 }}'

CODE = '''"""A stack, as every tutorial has one."""

from collections import deque


class Stack:
    """Last in, first out."""

    def __init__(self, items=()):
        self.items = deque(items)

    def push(self, item):
        self.items.append(item)
        return self

    def pop(self):
        if not self.items:
            raise IndexError("pop from an empty stack")
        return self.items.pop()

    def __len__(self):
        return len(self.items)
'''

METRICS = (
    MetricInfo(name="Sessions", summary="How many sessions were evaluated", unit="count", better="neither"),
    MetricInfo(name="RecallAt1", summary="Share with the expected text first", unit="share", better="higher"),
    MetricInfo(name="RecallAt5", summary="Share with the expected text in the top five", unit="share", better="higher"),
    MetricInfo(name="Recall", summary="Share with the expected text anywhere", unit="share", better="higher"),
    MetricInfo(name="MeanRank", summary="Mean place of the texts that were found", unit="rank", better="lower"),
    MetricInfo(name="MeanReciprocalRank", summary="Mean of 1 / rank, 0 if absent", unit="share", better="higher"),
    MetricInfo(name="LatencyPercentile50", summary="Half of the answers were faster", unit="ms", better="lower"),
    MetricInfo(name="LatencyPercentile95", summary="95 of 100 answers were faster", unit="ms", better="lower"),
)

Ranks = Callable[[int], int | None]


def usual_rank(index: int) -> int | None:
    """Mostly first, sometimes lower or absent."""
    return (1, 1, 3, 1, None, 2, 1, 9, 1, 60)[index % 10]


def suggestions(expected: str, rank: int | None, total: int) -> tuple[Suggestion, ...]:
    """`total` of them, the expected one at `rank`."""
    others = [f"candidate_{place}" for place in range(1, total + 1)]
    if rank is not None and rank <= total:
        others[rank - 1] = expected
    return tuple(Suggestion(text=text, kind="function") for text in others)


def session(
    path: str,
    offset: int,
    expected: str,
    rank: int | None = 1,
    *,
    status: Status | None = None,
    total: int = 70,
    prefixes: tuple[str, ...] = ("",),
    shown: tuple[Suggestion, ...] | None = None,
    message: str = "",
) -> Session:
    """One session; every prefix is a lookup, all with the same answer."""
    ended = status or (Status.OK if rank else Status.NO_MATCH)
    answered = () if ended is Status.SKIPPED else prefixes
    shown = suggestions(expected, rank, total) if shown is None else shown
    return Session(
        id=hashlib.sha256(f"{path}:{offset}:{expected}:{prefixes}".encode()).hexdigest()[:16],
        file=path,
        offset=offset,
        expected_text=expected,
        properties=Properties(kind=Kind.METHOD_CALL if offset % 2 else Kind.VARIABLE, is_argument=False, package="pkg"),
        status=ended,
        lookups=tuple(
            Lookup(prefix=prefix, suggestions=shown, total=total, rank=rank, latency=12.34, selected=False)
            for prefix in answered
        ),
        message=message,
    )


def identifiers(path: str, text: str, ranks: Ranks = usual_rank) -> list[Session]:
    """A session for every word that follows a space, a dot or a bracket."""
    words = re.finditer(r"(?<=[ .(])[a-z_]{3,}", text)
    return [session(path, word.start(), word.group(), ranks(index)) for index, word in enumerate(words)]


EVERYTHING = ReportFilters(all=(ReportFilter(name="ALL"),), headline="ALL")


@dataclass
class Sample:
    """Sources that can be walked again and again."""

    files: list[tuple[SourceFile, Callable[[], Iterator[Session]]]] = field(default_factory=list)
    errors: tuple[FileError, ...] = ()
    more_files: dict[str, FileFigures] = field(default_factory=dict)
    folders: dict[str, FileFigures] = field(default_factory=dict)
    filters: ReportFilters = EVERYTHING

    def __iter__(self) -> Iterator[tuple[SourceFile, Iterator[Session]]]:
        for source, sessions in self.files:
            yield source, sessions()

    @property
    def paths(self) -> list[str]:
        """Those of the files."""
        return [source.path for source, _ in self.files]

    def of(self, path: str) -> tuple[SourceFile, Iterator[Session]]:
        """See StoredSessions."""
        return next((source, sessions()) for source, sessions in self.files if source.path == path)

    def strata(self) -> Strata:
        """Of an undivided project."""
        return Strata({})

    def paint(self, source: SourceFile, asked: Container[int]) -> Paint:
        """The comments of the file, and its words `self` that no session is about."""
        comments = [(*each.span(), "C") for each in re.finditer(r"#.*", source.text)]
        places = [(*each.span(), "U") for each in re.finditer(r"self", source.text) if each.start() not in asked]
        return Paint(comments, places)

    def add(self, path: str, text: str, sessions: list[Session]) -> Sample:
        """One more file with stored sessions."""
        return self.stream(path, text, lambda: iter(sessions))

    def stream(self, path: str, text: str, sessions: Callable[[], Iterator[Session]]) -> Sample:
        """One more file whose sessions are made when they are asked for."""
        self.files.append((SourceFile(path=path, checksum="0" * 64, text=text), sessions))
        return self

    def write(self, reporter: Reporter, folder: Path, title: str = "jedi on stack") -> Path:
        """The report on these files."""
        return reporter.write(self.evaluation(title), self, folder)

    def evaluation(self, title: str = "jedi on stack") -> Evaluation:
        """Plausible figures, not computed ones."""
        files = {source.path: figures(index) for index, (source, _) in enumerate(self.files)} | self.more_files
        return Evaluation(
            title=title,
            workspace="results/2026-01-01",
            engine=EngineInfo(name="jedi", version="0.19.2", packages={"parso": "0.8.4"}),
            project=ProjectInfo(spec="pypi:stack==1.0", name="stack", revision="1.0", checksum="ab" * 32),
            completion_type="BASIC",
            client="editor",
            language="python",
            seed=42,
            started="2026-01-01T00:00:00Z",
            environment={"python": "3.12.1", "os": "Linux"},
            population=1_200,
            filters={
                "ALL": replace(filter_figures(files, 180), folders=self.folders),
                "methods only": filter_figures({path: files[path] for path in list(files)[:1]}, 80),
            },
            errors=self.errors,
            metrics=METRICS,
        )


def figures(index: int) -> FileFigures:
    """Figures that differ from file to file; every seventh file has none."""
    share = None if index % 7 == 6 else (index * 37 % 100) / 100
    metrics = {info.name: share for info in METRICS if info.unit == "share"}
    return FileFigures(
        sessions=index * 13 % 50 + 1,
        metrics=metrics | {"MeanRank": 1.0 + index % 9, "LatencyPercentile95": 9.0 + index},
    )


def filter_figures(files: dict[str, FileFigures], sessions: int) -> FilterFigures:
    """Figures of all files together."""
    shares = {"RecallAt1": 0.612, "RecallAt5": 0.784, "Recall": 0.87, "MeanRank": 2.31, "MeanReciprocalRank": 0.69}
    metrics = {"Sessions": Estimate(value=sessions, n=sessions)} | {
        name: Estimate(
            value=value,
            low=value * 0.95,
            high=value * 1.04,
            n=sessions,
            elsewhere=OtherCode(low=value * 0.9, high=value * 1.08, effective=31.4),
        )
        for name, value in shares.items()
    }
    metrics |= {
        "LatencyPercentile50": Estimate(value=11.2, low=10.9, high=11.8, n=sessions),
        "LatencyPercentile95": Estimate(value=48.7, low=41.0, high=66.1, n=sessions),
    }
    kinds = {kind.value: {**metrics, "Recall": Estimate(value=None)} for kind in (Kind.METHOD_CALL, Kind.VARIABLE)}
    return FilterFigures(
        sessions=sessions,
        planned=sessions + 20,
        undecided=3,
        statuses={"ok": sessions - 30, "no-match": 20, "timeout": 7, "engine-crash": 3, "skipped": 20, "empty": 0},
        metrics=metrics,
        by_file={"RecallAt1": 0.55},
        files=files,
        kinds=kinds,
        ranks={"1": 110, "2-5": 31, "6-10": 9, "11+": 7, "absent": sessions - 157 if sessions > 157 else 0},
    )


TRACE = (
    '       0.0 ms  -> textDocument/completion #4  {"textDocument":{"uri":"file:///p/stack/core.py"}}',
    '      12.5 ms  <- window/logMessage  {"type":1,"message":"<b>waiting</b>"}',
)
"""What was said in the session that failed."""


def small() -> Sample:
    """Two files: one with every outcome and with places that several sessions share, one without trouble."""
    path = "stack/core.py"
    sessions = identifiers(path, CODE)
    append = CODE.index("append")
    shared = [
        session(path, append, "append", 1, prefixes=("",)),
        session(path, append, "append", None, prefixes=("a", "ap")),
        session(path, append, "append", 2, prefixes=("app",)),
    ]
    pop = CODE.index("raise")
    failed = [session(path, pop, "raise", None, status=Status.TIMEOUT, total=0, message="no answer within 10 s")]
    failed = [replace(each, trace=TRACE) for each in failed]
    end = CODE.rindex("return")
    skipped = [session(path, end, "return", None, status=Status.SKIPPED, total=0, message="the engine gave up")]
    taken = {append, pop, end}
    kept = [each for each in sessions if each.offset not in taken]
    ordered = sorted([*kept, *shared, *failed, *skipped], key=lambda each: each.offset)
    error = FileError(path="stack/broken.py", stage="actions", message="not UTF-8", sessions=4, trace="Traceback …")
    easy = "import os\n\nprint(os.getcwd())\n"
    sample = Sample(errors=(error,)).add(path, CODE, ordered)
    return sample.add("stack/easy.py", easy, identifiers("stack/easy.py", easy, lambda index: 1))


def hostile() -> Sample:
    """Names, code, suggestions and messages that try to break out of the page."""
    sample = Sample(errors=tuple(FileError(path=name, stage="<b>", message=NASTY, trace=NASTY) for name in HOSTILE))
    text = f"x = {NASTY}\n  # {NASTY}\n"
    shown = (Suggestion(text=NASTY, kind="<b>kind</b>"), Suggestion(text="x"))
    for path in HOSTILE:
        one = session(path, 4, NASTY[:20], 1, total=2, shown=shown, message=NASTY, prefixes=(NASTY,))
        sample.add(path, text, [one])
    return sample


def huge(sessions: int = 20_000, total: int = 1_000) -> Sample:
    """One file with very many sessions and long lists of suggestions."""
    line = "    value_of_something = other.method_name(argument)\n"
    shown = suggestions("method_name", 800, total)
    text = line * sessions

    def made() -> Iterator[Session]:
        for index in range(sessions):
            offset = index * len(line) + line.index("method_name")
            rank = 800 if index % 1_000 else None
            yield session("huge.py", offset, "method_name", rank, total=total, shown=shown)

    return Sample().stream("huge.py", text, made)
