"""`ci-eval ci notice` and `ci-eval ci comment` against a server that speaks GitHub's protocol."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from unittest.mock import Mock

import pytest

from ci_eval.ci.repository import Repository
from tests.ci.conftest import NIGHT
from tests.ci.github_api import Services
from tests.ci.github_rest import PERSON
from tests.command import command
from tests.projects import write

# --------------------------------------------------------------------------------------------------------- the notice


def night(github: Services, run: int, result: str, *failed: str, path: str = NIGHT) -> str:
    """Its notice, which must succeed; what was done."""
    github.workflows[run] = path
    github.jobs[run] = [*((name, "failure") for name in failed), ("plan", "success"), ("notice", None)]
    code, out, said = command("ci", "notice", result, "--run", run)
    assert code == 0, said
    return out.splitlines()[-1]


def test_a_red_night_opens_an_issue_with_its_run_and_the_jobs_that_failed(github: Services) -> None:
    assert night(github, 4, "failure", "evaluate (python)") == "issue 1 is opened"
    ((_, issue),) = github.issues.items()
    assert issue["title"] == f"ci-eval: {NIGHT} is red"
    assert "red since [run 4](https://g/o/r/actions/runs/4) of 2026-01-01 00:00 UTC" in issue["body"]
    assert "| [evaluate (python)](https://github.com/o/r/actions/runs/4/job/1) | failure |" in issue["body"]
    assert "plan" not in issue["body"]


def test_a_notice_says_which_gate_broke_by_how_much_and_since_which_commit(github: Services) -> None:
    sides = {"base": {"revision": "a" * 40}, "new": {"revision": "b" * 40}}
    gates = [{"rule": "RecallAt1 >= -1pp", "passed": False, "reason": "-3.2 points"}, {"rule": "x", "passed": True}]
    (github.artifacts / "4").mkdir()
    with zipfile.ZipFile(github.artifacts / "4" / "comparison-go.zip", "w") as archive:
        archive.writestr("comparison.json", json.dumps({"sides": sides, "gates": gates}))
    (github.artifacts / "4" / "comparison-python.zip").write_bytes(b"cut off")
    night(github, 4, "failure", "evaluate (go)")
    body = github.issues[1]["body"]
    assert f"| go | `RecallAt1 >= -1pp` | -3.2 points; git log --oneline {'a' * 12}..{'b' * 12} |" in body
    assert "| python |  | " in body
    assert "evaluate (go)" in body


def test_a_second_red_night_updates_the_issue_and_keeps_since_when_it_is_red(github: Services) -> None:
    night(github, 4, "failure", "first")
    assert night(github, 5, "failure", "second") == "issue 1 is brought up to date"
    ((_, issue),) = github.issues.items()
    assert "red since [run 4]" in issue["body"]
    assert "The newest: [run 5]" in issue["body"]
    assert "first" not in issue["body"]
    assert not github.comments


def test_a_green_night_closes_the_issue_with_a_comment_that_names_it(github: Services) -> None:
    night(github, 4, "failure", "a")
    assert night(github, 5, "success") == "issue 1 is closed"
    assert github.issues[1]["state"] == "closed"
    ((_, comment),) = github.comments.items()
    assert comment["issue"] == 1
    assert "green again: [run 5](https://g/o/r/actions/runs/5)" in comment["body"]
    assert "red from [run 4]" in comment["body"]


def test_a_red_night_after_a_green_one_opens_the_same_issue_again(github: Services) -> None:
    for run, result in ((4, "failure"), (5, "success"), (6, "success"), (7, "timed_out")):
        night(github, run, result)
    ((_, issue),) = github.issues.items()
    assert issue["state"] == "open"
    assert "red since [run 7]" in issue["body"]
    assert len(github.comments) == 1


@pytest.mark.parametrize("results", [["failure"], ["failure", "success"]])
def test_a_notice_that_is_repeated_changes_nothing(
    github: Services, results: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for run, result in enumerate(results, 4):
        night(github, run, result, "a")
    answering = Mock(side_effect=github.answer)
    monkeypatch.setattr(github, "answer", answering)
    night(github, 3 + len(results), results[-1], "a")
    assert {call.args[0] for call in answering.call_args_list} == {"GET"}


def test_a_further_attempt_of_the_red_run_that_is_green_closes_the_issue(github: Services) -> None:
    night(github, 4, "failure")
    assert night(github, 4, "success") == "issue 1 is closed"


@pytest.mark.parametrize("results", [("failure", "success"), ("success", "failure")])
def test_a_run_older_than_what_the_issue_says_changes_nothing(github: Services, results: tuple[str, str]) -> None:
    night(github, 4, "failure")
    night(github, 6, results[0])
    before = dict(github.issues[1])
    assert "run 5 is older" in night(github, 5, results[1])
    assert github.issues[1] == before


def test_each_workflow_file_has_an_issue_of_its_own(github: Services) -> None:
    night(github, 4, "failure")
    night(github, 5, "failure", path=".github/workflows/logs.yml@refs/heads/main")
    night(github, 6, "success")
    assert [issue["state"] for issue in github.issues.values()] == ["closed", "open"]
    assert github.issues[2]["title"] == "ci-eval: .github/workflows/logs.yml is red"


def test_an_issue_of_a_person_is_never_touched_nor_is_a_pull_request(github: Services) -> None:
    night(github, 4, "failure")
    body = github.issues.pop(1)["body"]
    others = [
        github.issue(title="a person's", body=body, user=PERSON),
        github.issue(title="a pull request", body=body, pull_request={}),
        github.issue(title="a workflow's, about something else", body=f"See:\n{body}"),
    ]
    before = [dict(each) for each in others]
    assert night(github, 5, "failure") == "issue 4 is opened"
    assert night(github, 6, "success") == "issue 4 is closed"
    assert others == before


def test_of_two_issues_opened_at_the_same_time_one_is_kept(github: Services) -> None:
    night(github, 4, "failure")
    github.issue(title="the same", body=github.issues[1]["body"])
    assert night(github, 5, "failure") == "issue 1 is brought up to date"


def test_an_issue_that_a_person_closed_is_opened_by_the_next_red_night_and_left_by_a_green_one(
    github: Services,
) -> None:
    night(github, 4, "failure")
    github.issues[1]["state"] = "closed"
    night(github, 5, "failure")
    assert github.issues[1]["state"] == "open"
    github.issues[1]["state"] = "closed"
    night(github, 6, "success")
    assert not github.comments


def test_an_issue_is_found_however_many_others_a_workflow_opened(github: Services) -> None:
    night(github, 4, "failure")
    for number in range(120):
        github.issue(title=f"a release note {number}", body="text")
    assert night(github, 5, "success") == "issue 1 is closed"


@pytest.mark.parametrize("result", ["skipped", "neutral"])
def test_what_is_neither_red_nor_green_is_not_told(github: Services, result: str) -> None:
    night(github, 4, "failure")
    assert "nothing is posted" in night(github, 5, result)
    assert github.issues[1]["state"] == "open"


def test_a_job_that_ran_into_its_time_limit_is_told(github: Services) -> None:
    github.workflows[4], github.jobs[4] = NIGHT, [("hangs", "cancelled"), ("breaks", "failure")]
    assert command("ci", "notice", "cancelled", "--run", 4)[0] == 0
    assert re.findall(r"\| \[(\w+)\]", github.issues[1]["body"]) == ["breaks", "hangs"]


@pytest.mark.parametrize("where", ["branch", "fork"])
def test_only_the_default_branch_of_the_repository_is_told(github: Services, where: str) -> None:
    github.branches, github.foreign = ({4: "try"}, set()) if where == "branch" else ({}, {4})
    assert "not of the default branch" in night(github, 4, "failure")
    assert not github.issues


HOSTILE = ["@everyone", "a | b", "[x](http://evil)", "<!-- hidden", "line\nbreak", "`code", "fixes #1", "![](http://e)"]


def test_hostile_names_of_jobs_become_no_markup_no_link_and_no_mention(github: Services) -> None:
    night(github, 4, "failure", *HOSTILE)
    body = github.issues[1]["body"]
    visible = re.sub(r"<code>.*?</code>|`[^`\n]*`", "", body.partition("\n")[2])
    assert not re.search(r"@|<|!\[|#\d|evil", visible)
    rows = [line for line in body.splitlines() if line.endswith("| failure |")]
    assert len(rows) == len(HOSTILE)
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 3 for row in rows)


def test_of_many_jobs_some_are_named_and_the_others_counted(github: Services) -> None:
    night(github, 4, "failure", *(f"{'long name ' * 30}{i}" for i in range(256)))
    assert "| and 226 more |" in github.issues[1]["body"]
    assert len(github.issues[1]["body"]) < 20_000


def test_what_is_no_result_is_refused(github: Services) -> None:
    github.workflows[4] = NIGHT
    code, _, said = command("ci", "notice", "red", "--run", 4)
    assert code == 2
    assert "results are success, failure" in said


def test_a_right_that_is_missing_is_named(github: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    headers = {"content-type": "application/json", "x-accepted-github-permissions": "pull_requests=write"}
    monkeypatch.setattr(github, "answer", lambda *_: (403, b'{"message": "Resource not accessible"}', headers))
    code, _, said = command("ci", "notice", "failure")
    assert code == 4
    assert "(Resource not accessible): give the job `permissions: {pull-requests: write}`" in " ".join(said.split())


# -------------------------------------------------------------------------------------------------------- the comment

HEAD = "1" * 40


def store(github: Services, name: str, report: str, number: str = "7", compared: str = "") -> None:
    """Let run 80 leave a comparison."""
    github.heads[7] = HEAD
    path = github.artifacts / "80" / f"{name}.zip"
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("number.txt", number)
        archive.writestr("report.md", report)
        if compared:
            archive.writestr("comparison.json", compared)


def post(github: Services, report: str, number: str = "7", head: str = HEAD) -> tuple[int, str]:
    """Exit code, and what was done or said."""
    store(github, "comparison", report, number)
    code, out, said = command("ci", "comment", "--run", 80, "--head", head)
    return code, " ".join((out + said).split())


def test_one_comment_is_posted_and_kept_up_to_date(github: Services) -> None:
    assert post(github, "first")[1] == "the comment on #7 is posted"
    assert post(github, "second", "7\n")[1] == "the comment on #7 is brought up to date"
    ((_, comment),) = github.comments.items()
    assert (comment["issue"], comment["body"]) == (7, "<!-- ci-eval -->\nsecond")


SAME = {"gates": [{"passed": True}], "wins": 0, "losses": 0, "onlyBase": 0, "onlyNew": 0}
CHANGED, BROKEN = SAME | {"wins": 1}, SAME | {"gates": [{"passed": False}]}


@pytest.mark.parametrize(
    ("when", "begun"),
    [
        ((), [CHANGED, BROKEN]),
        (("--when", "always"), [SAME, CHANGED, BROKEN]),
        (("--when", "broken"), [BROKEN]),
    ],
)
def test_a_comment_is_begun_only_when_there_is_something_to_say(
    when: tuple[str, ...], begun: list[object], github: Services
) -> None:
    for compared in (SAME, CHANGED, BROKEN):
        github.comments.clear()
        store(github, "comparison", "text", compared=json.dumps(compared))
        code, out, said = command("ci", "comment", "--run", 80, "--head", HEAD, *when)
        assert code == 0, said
        assert bool(github.comments) == (compared in begun), out


def test_a_comment_that_was_begun_does_not_stay_when_the_change_is_taken_back(github: Services) -> None:
    for compared, report in ((CHANGED, "worse"), (SAME, "the same")):
        store(github, "comparison", report, compared=json.dumps(compared))
        assert command("ci", "comment", "--run", 80, "--head", HEAD)[0] == 0
    assert [comment["body"] for comment in github.comments.values()] == ["<!-- ci-eval -->\nthe same"]


@pytest.mark.parametrize("foreign", ["{}", '{"gates": 1}', '{"gates": [1]}', '{"gates": [], "wins": "0"}'])
def test_what_no_comparison_says_is_taken_for_a_change(foreign: str, github: Services) -> None:
    store(github, "comparison", "text", compared=foreign)
    assert command("ci", "comment", "--run", 80, "--head", HEAD)[0] == 0
    assert github.comments


@pytest.mark.parametrize("foreign", ["[" * 100_000, "no JSON", "[]"])
def test_a_comparison_that_cannot_be_read_is_refused(foreign: str, github: Services) -> None:
    store(github, "comparison", "text", compared=foreign)
    code, _, said = command("ci", "comment", "--run", 80, "--head", HEAD)
    assert (code, "comparison.json cannot be read" in " ".join(said.split())) == (2, True), said


def test_several_comparisons_have_a_comment_each(github: Services) -> None:
    for report in ("first", "second"):
        for name in ("comparison", "comparison-go", "comparison-python", "comparisons", "workspace"):
            store(github, name, f"{report} of {name}")
        assert command("ci", "comment", "--run", 80, "--head", HEAD)[0] == 0
    assert [comment["body"] for comment in github.comments.values()] == [
        "<!-- ci-eval -->\nsecond of comparison",
        "<!-- ci-eval go -->\n### go\n\nsecond of comparison-go",
        "<!-- ci-eval python -->\n### python\n\nsecond of comparison-python",
    ]


def test_a_damaged_comparison_fails_the_run_after_the_others_were_posted(github: Services) -> None:
    for name in ("comparison", "comparison-go", "comparison-python"):
        store(github, name, f"of {name}", "seven" if name == "comparison-go" else "7")
    (github.artifacts / "80" / "comparison.zip").write_bytes(b"no archive")
    code, out, said = command("ci", "comment", "--run", 80, "--head", HEAD)
    assert code != 0
    assert "number.txt holds no number" in said
    assert [line.partition(":")[0] for line in out.splitlines()[:3]] == [
        "comparison", "comparison-go", "the comment on #7 is posted",
    ]  # fmt: skip


def test_a_run_that_leaves_many_comparisons_gets_ten_comments_and_no_markup_by_a_name(github: Services) -> None:
    for number in range(11):
        store(github, f"comparison-@{number}-A", "text")
    code, out, _ = command("ci", "comment", "--run", 80, "--head", HEAD)
    assert (code, "comparisons left out: 1, of 11" in out, len(github.comments)) == (0, True, 10)
    assert not any("@" in comment["body"] for comment in github.comments.values())


def test_a_run_without_a_comparison_is_not_commented(github: Services) -> None:
    code, out, _ = command("ci", "comment", "--run", 80, "--head", HEAD)
    assert (code, "nothing is posted" in out) == (0, True)


def test_two_pull_requests_from_forks_are_answered_where_they_asked(github: Services) -> None:
    github.heads |= {8: "8" * 40, 9: "9" * 40}
    for number in (9, 8):
        assert post(github, f"of {number}", str(number), str(number) * 40)[1] == f"the comment on #{number} is posted"
    assert {comment["issue"]: comment["body"] for comment in github.comments.values()} == {
        8: "<!-- ci-eval -->\nof 8",
        9: "<!-- ci-eval -->\nof 9",
    }


def test_a_comment_of_a_person_or_on_another_pull_request_is_not_touched(github: Services) -> None:
    for number, user in ((7, {"user": PERSON}), (8, {})):
        github.commented(number, body="<!-- ci-eval -->\nmine", **user)
    post(github, "text")
    assert [comment["body"] for comment in github.comments.values()][:2] == ["<!-- ci-eval -->\nmine"] * 2
    assert len(github.comments) == 3


@pytest.mark.parametrize(("number", "head"), [("7", "2" * 40), ("8", HEAD)])
def test_nothing_is_posted_about_a_commit_that_the_pull_request_is_not_at(
    github: Services, number: str, head: str
) -> None:
    code, said = post(github, "text", number, head)
    assert (code, "nothing is posted" in said) == (0, True)
    assert not github.comments


@pytest.mark.parametrize("number", ["8/../../x", "-1", "7; rm", " ", "7\n8", "1234567890", "\u0667"])
def test_a_number_that_is_none_is_refused(github: Services, number: str) -> None:
    code, said = post(github, "text", number)
    assert (code, "number.txt holds no number" in said) == (2, True)


@pytest.mark.parametrize("text", ["@a <!-- x\n" * 9000, "@@9 <!--<!--", "\N{PILE OF POO}\n" * 60_000, "x" * 99_999])
def test_hostile_text_mentions_nobody_hides_nothing_and_fits(github: Services, text: str) -> None:
    assert post(github, text)[0] == 0
    body = github.comments[1]["body"]
    assert len(body.encode("utf-16-le")) // 2 <= 65_536
    assert not re.search(r"@[A-Za-z0-9]", body)
    assert body.count("<!--") == 1


def test_a_report_that_is_a_link_is_not_followed(github: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    github.heads[7] = HEAD
    write(Path("hostile"), number__txt="7")
    Path("hostile/report.md").symlink_to("/etc/passwd")
    monkeypatch.setattr(Repository, "fetch", lambda *_: Path("hostile"))
    code, said = post(github, "text")
    assert (code, "root" in said, github.comments) == (2, False, {})


@pytest.mark.parametrize(("there", "linked"), [("trend.json", True), ("index.html", False)])
def test_the_comment_ends_in_a_link_to_the_site_where_that_shows_trends(
    github: Services, there: str, linked: bool
) -> None:
    github.site.mkdir()
    (github.site / there).touch()
    post(github, "x" * 100_000)
    assert github.comments[1]["body"].endswith(f"\n\n[Trends over the nights]({github.address}/site/)") == linked


def test_a_site_that_asks_for_a_login_is_not_linked(github: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    github.site.mkdir()
    (github.site / "login.html").touch()
    answer, login = github.answer, (302, b"", {"location": f"{github.address}/site/login.html"})
    monkeypatch.setattr(github, "answer", lambda *asked: login if asked[1].endswith("/trend.json") else answer(*asked))
    post(github, "text")
    assert github.comments[1]["body"] == "<!-- ci-eval -->\ntext"
