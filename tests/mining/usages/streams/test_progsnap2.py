"""Datasets in ProgSnap2."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from ci_eval.plugins.mining.usages.streams.progsnap2 import normalise_state
from tests.mining.usages.streams.recorded import END, STATES, TEXT, snapshots, states

pytestmark = pytest.mark.grammar


TABLE = """\
EventID,Order,SubjectID,EventType,CodeStateID,ServerTimestamp,ProblemID
0,0,Ada,Submit,1,2018-11-02T08:22:58,lab5
2,2,Ada,Submit,2,2018-11-02T08:31:59Z,lab5
1,1,Ada,Run.Program,1,2018-11-02T08:23:58,lab5
3,3,Bob,Submit,1,2018-11-02T08:31:59,lab5
"""


def folders(root: Path, table: str = TABLE) -> Path:
    for state, text in (("1", TEXT), ("2", END)):
        (root / "CodeStates" / state).mkdir(parents=True)
        (root / "CodeStates" / state / "lab5.py").write_text(text)
    (root / "MainTable.csv").write_text(table)
    return root


def test_states_of_the_code_may_be_folders(tmp_path: Path) -> None:
    found, skipped = snapshots("progsnap2", folders(tmp_path))
    assert [(each.user, each.file, each.text) for each in found] == [
        ("Ada", "lab5/lab5.py", TEXT),
        ("Ada", "lab5/lab5.py", END),
        ("Bob", "lab5/lab5.py", TEXT),
    ]
    assert not skipped
    assert states("progsnap2", tmp_path) == STATES


def test_states_of_the_code_may_be_a_table_and_times_may_be_missing(tmp_path: Path) -> None:
    (tmp_path / "CodeStates").mkdir()
    (tmp_path / "CodeStates" / "CodeStates.csv").write_text(f'CodeStateID,Code\n1,"{TEXT}"\n2,"{END}"\n')
    (tmp_path / "MainTable.csv").write_text("EventID,SubjectID,EventType,CodeStateID\n0,A,Submit,1\n1,A,Submit,2\n")
    assert states("progsnap2", tmp_path) == STATES


def test_a_dataset_may_be_zipped(tmp_path: Path) -> None:
    folders(tmp_path / "data")
    with ZipFile(tmp_path / "data.zip", "w") as bundle:
        for path in sorted((tmp_path / "data").rglob("*.*")):
            bundle.write(path, path.relative_to(tmp_path / "data"))
    assert states("progsnap2", tmp_path / "data.zip") == STATES


def test_what_is_broken_is_counted(tmp_path: Path) -> None:
    outside = TABLE.replace("Submit,2", "Submit,../..").replace("Bob,Submit,1", "Bob,Submit,99")
    found, skipped = snapshots("progsnap2", folders(tmp_path / "a", outside))
    assert len(found) == 1
    assert skipped == {"event whose state of the code is missing": 2}
    (tmp_path / "b").mkdir()
    assert snapshots("progsnap2", tmp_path / "b") == ([], {"folder without a MainTable.csv": 1})
    (tmp_path / "c.zip").write_bytes(b"PK\3\4broken")
    found, skipped = snapshots("progsnap2", tmp_path / "c.zip")
    assert not found
    assert len(skipped) == 2


def test_a_zip_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "bomb.zip", "w", ZIP_DEFLATED) as bundle:
        bundle.writestr("MainTable.csv", b"0" * 40_000_000)
    found, skipped = snapshots("progsnap2", tmp_path / "bomb.zip")
    assert not found
    assert any("unpacks to more than" in reason for reason in skipped)


def test_the_example_of_the_standard(tmp_path: Path) -> None:
    """The structure is that of mock_examples/Lab5_ProgSnap2 in CSSPLICE/progsnap2 on GitHub: no assignments, several
    events of a state, messages of several lines, times of the server alone, names with blanks."""
    columns = "EventID,Order,SubjectID,EventType,CodeStateID,ServerTimestamp,ToolInstances,InterventionMessage"
    rows = [
        "0,0,Ada Lovelace 3,Submit,1,2018-11-02T08:22:58,VPL 3.3.1,",
        '1,1,Ada Lovelace 3,Run.Program,1,2018-11-02T08:22:58,VPL 3.3.1,"<|--\nIncomplete\n--|>\nGrade :=>> 0\n"',
        "6,3,Charles Babbage 1,Submit,2,2018-11-02T08:22:58,VPL 3.3.1,",
        "3,4,Ada Lovelace 3,Submit,2,2018-11-02T08:31:59,VPL 3.3.1,",
    ]
    (tmp_path / "MainTable.csv").write_text("\n".join([columns, *rows, ""]))
    (tmp_path / "DatasetMetadata.csv").write_text("Property,Value\nVersion,3\nCodeStateRepresentation,Directory\n")
    for state, text in (("1", TEXT), ("2", END)):
        (tmp_path / "CodeStates" / state).mkdir(parents=True)
        (tmp_path / "CodeStates" / state / "lab5.py").write_text(text)
    found, skipped = snapshots("progsnap2", tmp_path)
    ada = [each.text for each in found if each.user == "Ada Lovelace 3"]
    assert (ada, {each.file for each in found}) == ([TEXT, END], {"lab5.py"})
    assert not skipped


@pytest.mark.parametrize("kind", ["table", "folders"])
def test_ids_of_states_may_have_gone_through_a_data_frame(tmp_path: Path, kind: str) -> None:
    table = "EventID,SubjectID,EventType,CodeStateID\n0,A,Submit,1.0\n1,A,Other,nan\n2,A,Submit,2.0\n"
    if kind == "folders":
        folders(tmp_path, table)
    else:
        (tmp_path / "CodeStates").mkdir()
        (tmp_path / "CodeStates" / "CodeStates.csv").write_text(f'CodeStateID,Code\n1,"{TEXT}"\n2,"{END}"\n')
        (tmp_path / "MainTable.csv").write_text(table)
    found, skipped = snapshots("progsnap2", tmp_path)
    assert [each.text for each in found] == [TEXT, END]
    assert not skipped


def test_an_id_of_a_state_is_one_text_for_all_ways_to_write_a_number() -> None:
    names = {"1": "1", "1.0": "1", " 2 ": "2", "1e3": "1000", "0.0": "0", "nan": "", "": "", "NaN": "", "007": "007"}
    names |= {"a1": "a1", "1.5": "1.5", "inf": "inf", "1234567890123456789": "1234567890123456789"}
    assert {name: normalise_state(name) for name in names} == names
