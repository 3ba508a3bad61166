"""The sessions of a file on their way to disk."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from ci_eval.core.catalogs import metrics
from ci_eval.core.compare import compare
from ci_eval.core.filters import report_filters
from ci_eval.core.interpret import EngineSide, play_files
from ci_eval.core.interpret.pack import Journal, Pack, encode_line, read_journal, together
from ci_eval.core.manifest import Manifest
from ci_eval.core.model import Kind, Lookup, Properties, Session, SourceFile, Status
from ci_eval.core.model.engine import Determinism
from ci_eval.core.report import evaluate
from ci_eval.core.workspace import Workspace
from tests.deadly import Deadly
from tests.fickle import Fickle
from tests.packed import unpacked
from tests.projects import GREETER, ask, generate, sessions, setup, write

SOURCE = SourceFile(path="a.py", text="x\n", checksum="c")


def session(name: str, status: Status, message: str = "") -> Session:
    properties = Properties(kind=Kind.FIELD)
    return Session(
        id=name, file="a.py", offset=0, expected_text="x", properties=properties, status=status, message=message
    )


def test_what_another_worker_finished_is_stored_and_counted_as_it_was(tmp_path: Path) -> None:
    whole, pieced = Pack(SOURCE), Pack(SOURCE)
    played = [session("1", Status.OK), session("2", Status.TIMEOUT, "late")]
    for each in played:
        whole.add(each)
    lines = [encode_line(each) for each in played]
    ended = [pieced.take_over(line) for line in lines]
    assert [(each.id, each.status) for each in ended] == [("1", Status.OK), ("2", Status.TIMEOUT)]
    assert (pieced.statuses, pieced.trouble) == (whole.statuses, whole.trouble)
    stored = tmp_path / "x.zst"
    stored.write_bytes(whole.close())
    assert pieced.close() == stored.read_bytes()
    assert unpacked(stored) == msgspec.json.encode(SOURCE) + b"\n" + b"".join(lines)


def test_the_first_session_in_trouble_speaks_for_all() -> None:
    pack = Pack(SOURCE)
    assert pack.trouble is None
    for status, message in ((Status.OK, ""), (Status.TIMEOUT, "late\ntrace"), (Status.ERROR, "other")):
        pack.add(session("1", status, message))
    assert pack.trouble
    assert (pack.trouble.message, pack.trouble.trace, pack.trouble.sessions) == (
        "2 sessions: timeout: late",
        "trace",
        2,
    )


def test_the_line_in_which_a_worker_was_killed_does_not_count_and_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"id":"1"}\n{"id":"2')
    assert list(read_journal(path)) == [b'{"id":"1"}\n']
    journal = Journal(path)
    journal.add(b'{"id":"3"}\n')
    assert list(read_journal(path)) == [b'{"id":"1"}\n', b'{"id":"3"}\n']
    journal.close()


def test_nothing_is_finished_of_a_file_that_was_not_begun(tmp_path: Path) -> None:
    assert list(read_journal(tmp_path / "none")) == []


pytestmark = pytest.mark.slow


PLAIN = report_filters(grouped=False, lengths=(), declared=(), headline="all")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path / "p", a__py=GREETER, b__py="one = 1\ntwo = one\n", c__py=GREETER + "x = 1\nprint(x)\n")


def both(root: Path, new: Fickle | None = None, rounds: int = 3) -> tuple[Workspace, Workspace, list[list[str]]]:
    """Two engines asked in turns: their workspaces, and who was asked what, in order."""
    notes = root.parent / "notes"
    engines = [Fickle("base", notes), new or Fickle("new", notes)]
    sides = [EngineSide(generate(root, root.parent / each.name), setup(each, root)) for each in engines]
    play_files(sides, jobs=1, advance=lambda *_: None, rounds=rounds)
    return sides[0].workspace, sides[1].workspace, [line.split() for line in notes.read_text().splitlines()]


def test_each_file_is_asked_of_both_engines_before_the_next_and_each_round_has_fresh_ones(project: Path) -> None:
    *_, asked = both(project)
    turns = [key for key, _ in groupby(asked, key=lambda each: tuple(each[:3]))]
    assert len(turns) == len(set(turns)) == 2 * 3 * 3
    assert all(one[:2] == other[:2] for one, other in zip(turns[::2], turns[1::2], strict=True))
    assert [number for number, *_ in turns] == sorted(number for number, *_ in turns)


def test_now_the_one_is_first_and_now_the_other_the_same_in_each_run(tmp_path: Path) -> None:
    orders = []
    for name in ("one", "two"):
        root = write(tmp_path / name / "p", **{f"f{i}__py": GREETER for i in range(4)})
        orders.append([each[:3] for each in both(root)[2]])
    assert orders[0] == orders[1]
    assert {name for _, _, name in orders[0][::2]} == {"base", "new"}


def test_the_latency_is_the_median_and_all_are_kept(project: Path) -> None:
    _, new, _ = both(project, Fickle("new", project.parent / "notes", (2000.0, 400.0, 600.0)))
    found = [lookup for session in sessions(new) for lookup in session.lookups]
    # To hundreds: what ranking takes is part of each, and depends on the machine.
    assert {tuple(round(each or 0, -2) for each in lookup.latencies) for lookup in found} == {(2000, 400, 600)}
    assert [lookup.latency for lookup in found] == [lookup.latencies[2] for lookup in found]


def test_answers_are_those_of_the_first_round_and_others_are_counted(project: Path) -> None:
    base, new, _ = both(project, Fickle("new", project.parent / "notes", forgets="greet"))
    assert [(each.status, len(each.lookups)) for each in sessions(new)] == [
        (each.status, len(each.lookups)) for each in sessions(base)
    ]
    assert {each.differing for each in sessions(base)} == {0}
    assert {each.differing for each in sessions(new) if each.expected_text == "greet"} == {2}


def recorded(workspace: Workspace, rounds: int = 3) -> Workspace:
    """With a manifest, as if a job had asked it."""
    there = msgspec.json.decode((Path(__file__).parents[1] / "jobs" / "manifest.json").read_bytes(), type=Manifest)
    asked = len(sessions(workspace))
    state = Determinism(asked=asked, differed=sum(session.differing > 0 for session in sessions(workspace)))
    whole = replace(there, rounds=rounds, generated=asked, planned=asked, projects=(), shard=None, state=state)
    workspace.write_manifest(whole)
    return workspace


def test_what_metrics_see_otherwise_in_later_rounds_is_kept(project: Path) -> None:
    base, new, _ = both(project, Fickle("new", project.parent / "notes", forgets="greet"))
    assert not any(each.otherwise for each in sessions(base))
    moved = [each for each in sessions(new) if each.expected_text == "greet"]
    assert {each.lookups[-1].rank is None for each in moved} == {False}
    assert {(other.round, other.lookups[-1].rank) for each in moved for other in each.otherwise} == {
        (1, None),
        (2, None),
    }


@pytest.mark.parametrize(("forgets", "exact"), [("", True), ("greet", False)])
def test_a_verdict_is_exact_only_where_all_rounds_answer_alike(project: Path, forgets: str, exact: bool) -> None:
    base, new, _ = both(project, Fickle("new", project.parent / "notes", forgets=forgets))
    found = compare(recorded(base), recorded(new), metrics.load(), PLAIN, ("Recall",)).filters["ALL"]["Recall"]
    assert found.low is not None
    assert found.high is not None
    assert found.difference is not None
    assert found.low < found.difference < found.high  # with what rounds that agree may leave unseen
    assert (found.state == "exact") == (found.noise is None) == exact
    assert ("every session was asked: the interval is of answers that differ" in found.why) != exact


@pytest.mark.parametrize(("forgets", "exact"), [("", True), ("greet", False)])
def test_a_single_figure_is_exact_only_where_all_rounds_answered_alike(
    project: Path, forgets: str, exact: bool
) -> None:
    _, new, _ = both(project, Fickle("new", project.parent / "notes", forgets=forgets))
    found = evaluate(recorded(new), metrics.load(), PLAIN).filters["ALL"].metrics["Recall"]
    assert found.low is not None
    assert found.value is not None
    assert (found.state == "exact", found.low < found.value) == (exact, True)


def test_rounds_of_one_engine_give_what_one_round_gives_but_for_times(project: Path, tmp_path: Path) -> None:
    for name, rounds in (("once", 1), ("thrice", 3)):
        wanted = setup(Fickle(name, tmp_path / "notes"), project)
        progress = ask(generate(project, tmp_path / name), wanted, rounds=rounds)
        assert progress.planned == progress.statuses.total()
    once, thrice = ([replace_times(each) for each in sessions(Workspace(tmp_path / n))] for n in ("once", "thrice"))
    # A run of one round asks a sample of the sessions again.
    assert [replace(session, rounds=3, again=0) for session in once] == thrice
    assert not (tmp_path / "thrice" / "rounds").exists()


def replace_times(session: Session) -> Session:
    return replace(session, lookups=tuple([replace(each, latency=0.0, latencies=()) for each in session.lookups]))


def test_the_first_question_about_an_opened_file_is_marked(project: Path, tmp_path: Path) -> None:
    ask(workspace := generate(project, tmp_path / "w"), setup(Fickle("one", tmp_path / "notes"), project), rounds=2)
    by_file = {path: list(of) for path, of in groupby(sessions(workspace), key=lambda each: each.file)}
    for of in by_file.values():
        assert [lookup.cold for each in of for lookup in each.lookups] == [True] + [False] * (len(of) - 1)


def test_a_worker_that_dies_in_a_later_round_leaves_no_trace(project: Path, tmp_path: Path) -> None:
    for name, times in (("whole", 0), ("killed", 1)):
        sides = [
            EngineSide(generate(project, tmp_path / f"{name}-{side}"), setup(engine, project))
            for side, engine in (
                ("base", Fickle(f"{name}-base", tmp_path / name, (1.0,) * 9)),
                ("new", Deadly("kill", "two", tmp_path / f"{name}-deadly", times)),
            )
        ]
        play_files(sides, jobs=1, advance=lambda *_: None, rounds=2)
    for side in ("base", "new"):
        found = [sessions(Workspace(tmp_path / f"{name}-{side}")) for name in ("whole", "killed")]
        assert [replace_times(each).id for each in found[0]] == [replace_times(each).id for each in found[1]]
        assert [each.status for each in found[0]] == [each.status for each in found[1]]


def test_an_interrupted_run_asks_only_what_is_missing(project: Path, tmp_path: Path) -> None:
    base, new, asked = both(project)
    name = next((new.folder / "sessions").glob("b.py*"))
    name.unlink()
    (tmp_path / "notes").unlink()
    engines = [Fickle(each, tmp_path / "notes", (1.0,) * 9) for each in ("base", "new")]
    sides = [EngineSide(where, setup(each, project)) for where, each in zip((base, new), engines, strict=True)]
    play_files(sides, jobs=1, advance=lambda *_: None, rounds=3)
    again = [line.split() for line in (tmp_path / "notes").read_text().splitlines()]
    assert {path for _, path, *_ in again} == {"b.py"}
    assert len(again) == sum(path == "b.py" for _, path, *_ in asked)


def lookup(latency: float, prefix: str = "", rank: int | None = 1) -> Lookup:
    return Lookup(prefix=prefix, total=1, rank=rank, latency=latency, suggestions=())


def session_of(*lookups: Lookup, status: Status = Status.OK) -> Session:
    properties = Properties(kind=Kind.FIELD)
    return Session(id="1", file="a", offset=0, expected_text="x", properties=properties, status=status, lookups=lookups)


def test_a_round_that_failed_has_no_latency_and_differs() -> None:
    crashed = session_of(status=Status.ENGINE_CRASH)
    (found,) = together([[session_of(lookup(4))], [crashed], [session_of(lookup(10))]])
    assert (found.differing, found.lookups[0].latencies, found.lookups[0].latency) == (1, (4, None, 10), 7)
