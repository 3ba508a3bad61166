"""The workspaces of the plugin since 2023, for token completion only. Since 2024, they may have several projects."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ci_eval.core import model
from ci_eval.core.config import Config
from ci_eval.core.model import Action, CallCompletion, DeleteRange, FinishSession, MoveCaret, OpenFile, PrintText
from ci_eval.plugins.jetbrains import fields as properties
from ci_eval.plugins.jetbrains import generation
from ci_eval.plugins.jetbrains.fields import Fields

UNPLAYED = {"DELAY", "OPEN_FILE_IN_BACKGROUND", "OPTIMISE_IMPORTS", "OPTIMIZE_IMPORTS", "SELECT_RANGE"}
"""Actions that change no text. They are not played, and are stored as fields that were not requested."""


def read_actions(fields: Fields) -> model.FileActions:
    # The files do not record the prefix of a call or the end of a session, so both are inferred.
    path, checksum = fields.text("path"), fields.text("checksum")
    actions: list[Action] = [OpenFile(path=path, checksum=checksum)]
    typed = ""
    last_session, end, ends = "", 0, 0
    for action in fields.objects("actions"):
        kind = action.text("type")
        if kind in UNPLAYED:
            continue
        session = action.text("sessionId", "")
        match kind:
            case "MOVE_CARET":
                typed = ""
                actions.append(MoveCaret(offset=action.number("offset")))
            case "PRINT_TEXT":
                typed += action.text("text")
                actions.append(PrintText(text=action.text("text")))
            case "DELETE_RANGE":
                actions.append(DeleteRange(begin=action.number("begin"), end=action.number("end")))
            case "CALL_FEATURE" | "CALL_COMPLETION":
                # A session ends right after its last call.
                if end and session != last_session:
                    actions.insert(end, FinishSession())
                    ends += 1
                expected = action.text("expectedText")
                call = CallCompletion(
                    session=session,
                    offset=action.number("offset"),
                    # The text typed since the caret moved may belong to another token.
                    prefix=typed if expected.startswith(typed) else "",
                    expected_text=expected,
                    properties=properties.read_token_properties(action.section("nodeProperties")),
                )
                actions.append(call)
                last_session, end = session, len(actions)
            case _:
                raise action.wrong(f"{kind!r} is not an action of token completion")
    if last_session:
        actions.insert(end, FinishSession())
        ends += 1
    sessions = fields.number("sessionsCount", ends)
    return model.FileActions(path=path, checksum=checksum, sessions=sessions, unparsable=0.0, actions=tuple(actions))


def write_actions(actions: Sequence[Action]) -> list[dict[str, object]]:
    """Return the plugin's actions. Each has the session of the next call, or of the last call if none follows."""
    session = next((action.session for action in reversed(actions) if isinstance(action, CallCompletion)), "")
    written: list[dict[str, object]] = []
    for action in reversed(actions):
        fields: dict[str, object]
        match action:
            case MoveCaret():
                kind, fields = "MOVE_CARET", {"offset": action.offset}
            case PrintText():
                kind, fields = "PRINT_TEXT", {"text": action.text}
            case DeleteRange():
                kind, fields = "DELETE_RANGE", {"begin": action.begin, "end": action.end}
            case CallCompletion():
                session = action.session
                kind, fields = "CALL_FEATURE", {"expectedText": action.expected_text, "offset": action.offset}
                fields["nodeProperties"] = properties.write_token_properties(action.properties)
            case _:
                continue
        written.append({"type": kind, "sessionId": session, **fields})
    return written[::-1]


def config(configuration: Config, project: str) -> dict[str, object]:
    strategy, interpret = configuration.actions.strategy, configuration.interpret
    prefix = generation.prefix(strategy.prefix)
    del prefix["emulateTyping"]
    return {
        **generation.head(configuration, project),
        "strategy": {"type": interpret.completion_type, **generation.context_of(strategy), "prefix": prefix},
        "actions": {
            "evaluationRoots": list(configuration.actions.evaluation_roots),
            "ignoreFileNames": list(configuration.actions.ignore_file_names),
        },
        "interpret": {
            "experimentGroup": None,
            "sessionProbability": interpret.session_probability,
            "sessionSeed": interpret.seed,
            "sessionsLimit": interpret.sessions_limit,
            "filesLimit": None,
            "order": "LINEAR",
            "saveLogs": interpret.save_logs,
            "saveFeatures": interpret.save_logs,
            "logLocationAndItemText": False,
            "trainTestSplit": interpret.train_test_split,
        },
        "reports": {**generation.reports(configuration), "defaultMetrics": None, "comparisonFilters": []},
    }


GENERATION = generation.Generation(
    name="ij23",
    summary="the plugin since 2023, token completion",
    # Since 2023, the configuration has the strategy at the top level.
    wrote=lambda config: "strategy" in config,
    listed=partial(generation.list_source_files, projects=True),
    by_relevance=True,
    read_actions=read_actions,
    config=config,
    write_actions=write_actions,
)
