"""The result of `reduce` as a text for an issue tracker, and as a case."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ci_eval.core.base import atomic
from ci_eval.core.model import EngineInfo, Session
from ci_eval.core.report.causes import MORE_TEXT, OTHER_RANGE
from ci_eval.core.scoring import rank_of
from ci_eval.jobs.misses.oracle import Oracle, Project

SHOWN = 10
"""The number of suggestions that the text lists."""


@dataclass(frozen=True, kw_only=True)
class Report:
    oracle: Oracle
    result: Project
    before: Session
    after: Session
    fresh: int
    """The number of fresh engines that showed the miss, of as many."""
    ended: str
    lines_before: int
    files_before: int
    info: EngineInfo
    dependencies: dict[str, str]
    environment: str
    """The versions of ci-eval, Python and the system."""
    commands: tuple[str, ...]

    @property
    def lines(self) -> int:
        """Return the number of lines of source code that are left."""
        excerpts = self.result.excerpts
        return sum(len(excerpts[path].text.splitlines()) for path in excerpts.keys() & self.result.files)

    @property
    def questions(self) -> int:
        judge = self.oracle.judge
        return self.oracle.asked.questions + (judge.questions if judge else 0)

    def asked_text(self) -> tuple[str, int]:
        """Return the text of the file as the engine was asked, and the offset of the caret."""
        question = self.oracle.question
        excerpt = self.result.excerpts[question.path]
        begin = excerpt.find(question.call.offset)
        assert begin is not None
        text = excerpt.text[:begin] + question.call.prefix + excerpt.text[excerpt.find_from(question.gap) :]
        return text, begin + len(question.call.prefix)

    def accepted_line(self) -> str:
        """Return the caret's line once the expected text is there."""
        (text, caret), call = self.asked_text(), self.oracle.question.call
        whole = text[:caret] + call.expected_text[len(call.prefix) :] + text[caret:]
        begin, end = whole.rfind("\n", 0, caret) + 1, whole.find("\n", caret)
        return whole[begin : end if end >= 0 else None].strip()

    @property
    def title(self) -> str:
        call, rank = self.oracle.question.call, rank_of(self.after)
        how = f"has rank {rank}" if rank else self.oracle.symptom.cause
        return f"Completion of `{call.expected_text}` after `{call.prefix}`: {how}"

    def issue(self) -> str:
        question, result = self.oracle.question, self.result
        text, caret = self.asked_text()
        line, column = text.count("\n", 0, caret) + 1, caret - text.rfind("\n", 0, caret)
        language = self.oracle.language.name
        parts = [f"# {self.title}", f"`{question.path}`, with the caret at line {line}, column {column}:"]
        parts.append(_fenced(text, language))
        for path in sorted(result.files - {question.path}):
            shown = result.excerpts.get(path)
            parts += [f"`{path}`:", _fenced(shown.text, language)] if shown else [f"`{path}` (in the folder `case`)"]
        shown_list = self.after.lookups[-1].suggestions if self.after.lookups else ()
        total = self.after.lookups[-1].total if self.after.lookups else 0
        names = ", ".join(f"`{item.label or item.text}`" for item in shown_list[:SHOWN]) or "nothing"
        parts += [
            f"**Offered** ({total:,}, in this order): {names}{' …' if total > SHOWN else ''}",
            f"**Expected**: `{question.call.expected_text}`, which leaves `{self.accepted_line()}`"
            + (f"; {self.oracle.judge.setup.engine.name} has it" if self.oracle.judge else ""),
        ]
        if self.after.message:
            parts.append(f"**The engine's error**: {self.after.message}")
        packages = ", ".join(f"{name} {version}" for name, version in self.info.packages.items())
        needs = ", ".join(f"{name} {version}" for name, version in self.dependencies.items())
        parts += [
            f"**Versions**: {self.info.text}{f' ({packages})' if packages else ''}; {self.environment}",
            f"**Dependencies**: {needs or 'none'}",
            f"**Seen** in {self.fresh} of {self.fresh} fresh processes. Reduced from {self.files_before:,} files and "
            f"{self.lines_before:,} lines of this one, by {self.questions:,} questions, until {self.ended}. "
            f"The same in each step: {', '.join(self.oracle.kept)}.",
            _fenced("\n".join(self.commands), "sh"),
            "The messages to and from the engine are in `exchange.txt`.",
        ]
        return "\n\n".join(parts) + "\n"


def _fenced(text: str, language: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def write_case(report: Report, file: Path) -> None:
    """Write the file with the caret, marked in a comment with what is expected there."""
    question = report.oracle.question
    text, caret = report.asked_text()
    sign = report.oracle.language.comment
    begin, end = text.rfind("\n", 0, caret) + 1, text.find("\n", caret)
    end = len(text) if end < 0 else end
    rules = f"expect: {question.call.expected_text}"
    rank = rank_of(report.after)
    if rank:
        theirs = rank_of(report.oracle.judge.last) if report.oracle.judge and report.oracle.judge.last else None
        rules += f"; rank <= {theirs or 1}"
    elif report.after.lookups and report.oracle.symptom.cause in {MORE_TEXT, OTHER_RANGE}:
        rules += f"; leaves: {report.accepted_line()}"
    column = caret - begin
    if column < len(sign):
        # No comment fits before the mark.
        text = f"{text[:caret]}<CURSOR: {question.call.expected_text}>{text[caret:]}"
    else:
        text = f"{text[:end]}\n{sign}{' ' * (column - len(sign))}^ {rules}{text[end:]}"
    atomic.write(file, text.encode())
