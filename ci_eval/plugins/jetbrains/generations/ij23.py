"""The plugin since 2023: any feature of the IDE, of which token completion is read; several projects since 2024."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ci_eval.core.config import Config
from ci_eval.core.model import (
    Action,
    CallCompletion,
    DeleteRange,
    FinishSession,
    MoveCaret,
    OpenFile,
    PrintText,
)
from ci_eval.plugins.jetbrains import fields as properties
from ci_eval.plugins.jetbrains import generation
from ci_eval.plugins.jetbrains.fields import Fields
from ci_eval.plugins.jetbrains.generation import StoredActions

UNPLAYED = {"DELAY", "OPEN_FILE_IN_BACKGROUND", "OPTIMISE_IMPORTS", "OPTIMIZE_IMPORTS", "SELECT_RANGE"}
"""Actions that change no text: left out, and stored as left over."""


def wrote(config: Mapping[str, object]) -> bool:
    """This generation has the strategy of a feature at the top."""
    return "strategy" in config


def read_actions(fields: Fields) -> StoredActions:
    # These files say neither what is typed before a call, nor where a session ends.
    path, checksum = fields.text("path"), fields.text("checksum")
    actions: list[Action] = [OpenFile(path=path, checksum=checksum)]
    typed = ""
    for fields_of_action in fields.objects("actions"):
        action = _read(fields_of_action, typed)
        match action:
            case MoveCaret():
                typed = ""
            case PrintText():
                typed += action.text
            case CallCompletion():
                actions += _end(actions, action.session)
            case _:
                pass
        if action:
            actions.append(action)
    actions += _end(actions, "")
    ends = sum(isinstance(action, FinishSession) for action in actions)
    count = fields.number("sessionsCount", ends)
    # A session ends right after its last call.
    ordered: list[Action] = []
    behind = 0
    for action in actions:
        if isinstance(action, FinishSession):
            ordered.insert(behind, action)
            continue
        ordered.append(action)
        if isinstance(action, CallCompletion):
            behind = len(ordered)
    return StoredActions(path=path, checksum=checksum, sessions=count, actions=ordered)


def _read(fields: Fields, typed: str) -> Action | None:
    kind = fields.text("type")
    if kind in UNPLAYED:
        return None
    session = fields.text("sessionId", "")
    match kind:
        case "MOVE_CARET":
            return MoveCaret(offset=fields.number("offset"))
        case "PRINT_TEXT":
            return PrintText(text=fields.text("text"))
        case "DELETE_RANGE":
            return DeleteRange(begin=fields.number("begin"), end=fields.number("end"))
        case "CALL_FEATURE" | "CALL_COMPLETION":
            expected = fields.text("expectedText")
            return CallCompletion(
                session=session,
                offset=fields.number("offset"),
                # What was typed since the caret moved may belong to another token.
                prefix=typed if expected.startswith(typed) else "",
                expected_text=expected,
                properties=properties.read_token_properties(fields.section("nodeProperties")),
            )
        case _:
            raise fields.wrong(f"{kind!r} is no action of token completion")


def _end(actions: Sequence[Action], session: str) -> list[Action]:
    last = next((action for action in reversed(actions) if isinstance(action, CallCompletion | FinishSession)), None)
    return [FinishSession()] if isinstance(last, CallCompletion) and last.session != session else []


def write_actions(actions: Sequence[Action]) -> list[dict[str, object]]:
    """Give all actions the session of the next call, or of the last one."""
    reversed_sessions: list[str] = []
    following = ""
    for action in reversed(actions):
        following = action.session if isinstance(action, CallCompletion) else following
        reversed_sessions.append(following)
    last = next(filter(None, reversed_sessions), "")
    sessions = [session or last for session in reversed(reversed_sessions)]
    written: list[dict[str, object]] = []
    for action, session in zip(actions, sessions, strict=True):
        match action:
            case MoveCaret():
                written.append({"type": "MOVE_CARET", "sessionId": session, "offset": action.offset})
            case PrintText():
                written.append({"type": "PRINT_TEXT", "sessionId": session, "text": action.text})
            case DeleteRange():
                place = {"begin": action.begin, "end": action.end}
                written.append({"type": "DELETE_RANGE", "sessionId": session, **place})
            case CallCompletion():
                call = {"expectedText": action.expected_text, "offset": action.offset}
                known = properties.as_tokens(action.properties)
                written.append({"type": "CALL_FEATURE", "sessionId": session, **call, "nodeProperties": known})
            case _:
                pass
    return written


def config(configuration: Config, project: str) -> dict[str, object]:
    strategy, interpret = configuration.actions.strategy, configuration.interpret
    prefix = generation.prefix(strategy.prefix)
    prefix.pop("emulateTyping")
    return {
        **generation.head(configuration, project),
        "strategy": {
            "type": interpret.completion_type,
            "context": "ALL" if strategy.context == "ALL" else "PREVIOUS",
            "prefix": prefix,
            "filters": generation.filters(strategy.filters),
        },
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


GENERATION = generation.since_2021(
    name="ij23",
    summary="the plugin since 2023, token completion",
    wrote=wrote,
    listed=generation.list_project_files,
    rank=generation.rank_by_relevance,
    read_actions=read_actions,
    config=config,
    write_actions=write_actions,
)
