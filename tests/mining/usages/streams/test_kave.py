"""KaVE's events."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from zipfile import ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.core.model import Definition, History
from ci_eval.plugins.mining.usages.dialect import ProjectContext
from ci_eval.plugins.mining.usages.histories import Mined, Miner
from ci_eval.plugins.mining.usages.languages import CATALOG as LANGUAGES
from ci_eval.plugins.mining.usages.streams.kave import TypeName, member_name, method_name, parameter, type_name
from tests.mining.usages.streams.recorded import snapshots

BOX = "L.Box, Lib, 1.0"
VOID = "[System.Void, mscorlib, 4.0.0.0]"
Node = dict[str, object]


def node(kind: str, **more: object) -> Node:
    return {"$type": f"[SST:{kind}]", **more}


def variable(name: str) -> Node:
    return node("References.VariableReference", Identifier=name)


def invocation(name: str, method: str) -> Node:
    full = f"0M:{VOID} [{BOX}].{method}()"
    return node("Expressions.Assignable.InvocationExpression", Reference=variable(name), MethodName=full, Parameters=[])


def call(name: str, method: str) -> Node:
    return node("Statements.ExpressionStatement", Expression=invocation(name, method))


DECLARED = node("Statements.VariableDeclaration", Reference=variable("box"), Type=f"0T:{BOX}")
ASSIGNED = node("Statements.Assignment", Reference=variable("box"), Expression=invocation("", ".ctor"))
COMPLETION = node("Expressions.Assignable.CompletionExpression", VariableReference=variable("box"), Token="Op")
COMPLETED = node("Statements.ExpressionStatement", Expression=COMPLETION)


def in_block(*body: Node) -> Node:
    return node("Blocks.IfElseBlock", Condition=node("Expressions.Simple.UnknownExpression"), Then=list(body), Else=[])


def event(second: int, body: Sequence[Node], state: int = 1, selected: str = "") -> Node:
    method = {
        "$type": "[SST:Declarations.MethodDeclaration]",
        "Name": f"0M:{VOID} [N.Cart, Shop].Put([{BOX}] other)",
        "IsEntryPoint": True,
        "Body": list(body),
    }
    sst = {"$type": "[SST:SST]", "EnclosingType": "0T:N.Cart, Shop", "Fields": [], "Methods": [method]}
    proposal = {"$type": "Proposal", "Name": f"0M:{VOID} [{BOX}].{selected}()", "Relevance": 1}
    return {
        "$type": "KaVE.Commons.Model.Events.CompletionEvents.CompletionEvent, KaVE.Commons",
        "Context2": {"$type": "Context", "TypeShape": {}, "SST": sst},
        "ProposalCollection": [proposal] if selected else [],
        "Selections": [],
        "TerminatedState": state,
        "TriggeredAt": f"2018-01-14T22:26:{second:02}.1238243+01:00",
    }


def zipped(path: Path, events: Mapping[str, object]) -> Path:
    (path / "2018-01-14").mkdir()
    with ZipFile(path / "2018-01-14" / "1.zip", "w") as bundle:
        for name, each in events.items():
            bundle.writestr(name, each if isinstance(each, str) else json.dumps(each))
    return path


def histories(path: Path) -> dict[tuple[str, str], History]:
    found = Mined()
    Miner(dialect=LANGUAGES.load("java"), around=ProjectContext()).mine(snapshots("kave", path)[0], found)
    return {(each.type, each.method): each for each in found.histories}


def test_trees_become_states_and_what_was_applied_the_last_one(tmp_path: Path) -> None:
    body = [DECLARED, ASSIGNED, in_block(call("box", "Close"))]
    events = {
        "0.json": event(1, []),
        "1.json": event(2, body),
        "2.json": event(3, [*body, COMPLETED], state=0, selected="Open"),
    }
    ((_, found),) = histories(zipped(tmp_path, events)).items()
    assert (found.user, found.file) == ("2018-01-14/1", "N.Cart")
    assert (found.type, found.method) == ("L.Box", "N.Cart.Put(Box)")
    given, close, opened = found.states
    assert given
    assert given.definition == Definition(kind="PARAM", member="N.Cart.Put", argument=0)
    assert given.calls == ()
    assert close
    assert close.definition == Definition(kind="NEW", member="L.Box")
    assert close.calls == ("Close",)
    assert opened
    assert opened.calls == ("Close", "Open")


def test_what_was_not_applied_is_no_selection(tmp_path: Path) -> None:
    events = {"1.json": event(1, []), "2.json": event(2, [DECLARED, ASSIGNED, COMPLETED], state=1, selected="Open")}
    assert histories(zipped(tmp_path, events)) == {}


def test_what_is_broken_or_something_else_is_counted(tmp_path: Path) -> None:
    (tmp_path / "broken.zip").write_bytes(b"PK\3\4")
    events = {
        "0.json": {"$type": "KaVE.Commons.Model.Events.CommandEvent, KaVE.Commons"},
        "1.json": "{",
        "2.json": {**event(1, []), "TriggeredAt": "today"},
        "3.json": {**event(1, []), "Context2": {"SST": {"Methods": [1, {"Name": 2, "Body": 3}]}}},
        "4.json": "[" * 100_000,
    }
    found, skipped = snapshots("kave", zipped(tmp_path, events))
    assert [each.usages for each in found] == [()]
    assert skipped["event other than a completion"] == 1
    assert skipped["file that is not an event of KaVE"] == 3
    assert sum(skipped.values()) == 5


def test_all_fields_of_an_event_may_be_there(tmp_path: Path) -> None:
    """Those of GeneratedEventStreamTest (made by KaVE's own C#) in kave-cc/java-cc-kave on GitHub: names that are no
    methods, proposals without a name, times as spans, and what a tree has beside its methods."""
    kind = "KaVE.Commons.Model.Events.CompletionEvents"
    sst = {"$type": "[SST:SST]", "EnclosingType": "0T:T,P", "Fields": [], "Properties": [], "Methods": []}
    shape = {
        "$type": "KaVE.Commons.Model.TypeShapes.TypeShape, KaVE.Commons",
        "TypeHierarchy": {"Element": "0T:?", "Implements": []},
        **{name: [] for name in ("NestedTypes", "Delegates", "EventHierarchies", "Fields", "MethodHierarchies")},
    }
    whole = {
        "$type": f"{kind}.CompletionEvent, KaVE.Commons",
        "Context2": {
            "$type": f"{kind}.Context, KaVE.Commons",
            "TypeShape": shape,
            "SST": {**sst, "Events": [], "Delegates": []},
        },
        "ProposalCollection": [{"$type": f"{kind}.Proposal, KaVE.Commons", "Name": "0General:y", "Relevance": 2}],
        "Selections": [
            {"Proposal": {"Name": "0General:z", "Relevance": 4}, "SelectedAfter": "00:00:01", "Index": -1},
            {"Proposal": {"$type": f"{kind}.Proposal"}, "SelectedAfter": "427.04:05:06.0070008", "Index": -1},
        ],
        "TerminatedBy": 2,
        "TerminatedState": 0,
        "ProposalCount": 3,
        "IDESessionUUID": "sid",
        "KaVEVersion": "vX",
        "TriggeredAt": "2018-01-14T22:26:45.1238243+01:00",
        "TriggeredBy": 3,
        "ActiveWindow": "0Win:w w",
        "ActiveDocument": "0Doc:d d",
    }
    found, skipped = snapshots("kave", zipped(tmp_path, {"0.json": whole}))
    assert [(each.file, each.usages, each.selection) for each in found] == [("T", (), None)]
    assert not skipped


TYPES = {
    "0T:System.IO.File, mscorlib, 4.0.0.0": TypeName("System.IO.File"),
    "System.IO.File, mscorlib, 4.0.0.0": TypeName("System.IO.File"),
    "CSharp.TypeName:N.Cart, Shop": TypeName("N.Cart", own=True),
    "0T:System.Collections.Generic.List`1[[T -> System.String, mscorlib, 4.0.0.0]], mscorlib, 4.0.0.0": TypeName(
        "System.Collections.Generic.List"
    ),
    "0T:i:System.IDisposable, mscorlib, 4.0.0.0": TypeName("System.IDisposable"),
    "0T:n:N.Outer+Inner, Lib, 1.0": TypeName("N.Outer.Inner"),
    "p:string": TypeName("System.String"),
    "0T:?": TypeName(),
    "CSharp.UnknownTypeName:?": TypeName(),
    "0T:T": TypeName(),
    "0T:arr(1):System.String, mscorlib, 4.0.0.0": TypeName(),
    "0T:System.String[], mscorlib, 4.0.0.0": TypeName(),
    "": TypeName(),
}


@pytest.mark.parametrize("text", TYPES)
def test_types(text: str) -> None:
    assert type_name(text) == TYPES[text]


def test_methods() -> None:
    found = method_name(
        "0M:static [System.Void, mscorlib, 4.0.0.0] [N.Cart, Shop].Put`1[[T]]"
        "(out [p:int] count, [System.IO.File, m, 1] f)"
    )
    assert found
    assert (found.name, found.declared_in, found.is_static) == ("Put", TypeName("N.Cart", own=True), True)
    assert found.parameters == ((TypeName("System.Int32"), "count"), (TypeName("System.IO.File"), "f"))
    assert found.key == "N.Cart.Put(Int32,File)"
    assert method_name("CSharp.MethodName:[?] [?].???()") is not None
    assert method_name("LocalVariable:x") is None
    assert method_name("0M:[a") is None


def test_members_and_parameters() -> None:
    assert member_name("0F:[p:string] [N.Cart, Shop].Name") == "N.Cart.Name"
    assert member_name("0P:get [p:int] [N.Cart, Shop].Count()") == "N.Cart.Count"
    assert member_name("") == ""
    assert parameter("[System.Exception, mscorlib, 4.0.0.0] e") == (TypeName("System.Exception"), "e")


@given(st.text(alphabet="0MT:[](),. `?ab+->p", max_size=60))
def test_no_name_raises(text: str) -> None:
    type_name(text)
    method_name(f"0M:{text}")
    member_name(text)
    parameter(text)


TIMES = {
    "2018-01-14T22:26:45.1238243+01:00": 1515965205.123824,
    "2018-01-14T21:26:45.123824Z": 1515965205.123824,
    "2018-01-14 21:26:45": 1515965205,
    "2018-01-14T22:26:45+01:00": 1515965205,
}


@pytest.mark.parametrize("text", TIMES)
def test_times_have_many_spellings(tmp_path: Path, text: str) -> None:
    ((only,), _) = snapshots("kave", zipped(tmp_path, {"1.json": {**event(1, []), "TriggeredAt": text}}))
    assert only.time == TIMES[text]


@pytest.mark.parametrize("text", ["", "today", "2018-13-01"])
def test_what_is_no_time_is_counted(tmp_path: Path, text: str) -> None:
    found, skipped = snapshots("kave", zipped(tmp_path, {"1.json": {**event(1, []), "TriggeredAt": text}}))
    assert (found, skipped) == ([], {"file that is not an event of KaVE": 1})
