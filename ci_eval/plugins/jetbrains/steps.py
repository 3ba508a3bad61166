"""The actions of the plugin until 2022: one after the other, with a FINISH_SESSION at the end of each session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ci_eval.core.model import (
    Action,
    CallCompletion,
    DeleteRange,
    FinishSession,
    MoveCaret,
    OpenFile,
    PrintText,
    Properties,
)
from ci_eval.plugins.jetbrains.contract import StoredActions
from ci_eval.plugins.jetbrains.fields import Fields

ReadProperties = Callable[[Fields], Properties]
NO_GOLF = "it plays golf, which is not imported: leave the workspaces of golf out"


def read(fields: Fields, properties: ReadProperties) -> StoredActions:
    """Return the actions of one file."""
    path, checksum = fields.text("path"), fields.text("checksum")
    actions: list[Action] = [OpenFile(path=path, checksum=checksum)]
    caret = 0
    for fields_of_action in fields.objects("actions"):
        read_action = list(_read(fields_of_action, properties, caret))
        actions += read_action
        # These calls have no offset; their token begins where the caret was put last.
        if read_action and isinstance(read_action[0], MoveCaret):
            caret = read_action[0].offset
    return StoredActions(path=path, checksum=checksum, sessions=fields.number("sessionsCount", 0), actions=actions)


def _read(fields: Fields, properties: ReadProperties, caret: int) -> Iterator[Action]:
    kind = fields.text("type")
    match kind:
        case "MOVE_CARET":
            yield MoveCaret(offset=fields.number("offset"))
        case "PRINT_TEXT":
            fields.flag("completable", missing=False)
            yield PrintText(text=fields.text("text"))
        case "DELETE_RANGE":
            fields.flag("completable", missing=False)
            yield DeleteRange(begin=fields.number("begin"), end=fields.number("end"))
        case "FINISH_SESSION":
            yield FinishSession()
        case "CALL_COMPLETION":
            yield _call(fields, properties, caret, fields.text("prefix"))
        case "EMULATE_USER_SESSION":
            call = _call(fields, properties, caret, "")
            # The modelled user leaves the whole text in the document.
            yield from (call, FinishSession(), PrintText(text=call.expected_text))
        case "CODE_GOLF":
            raise fields.wrong(NO_GOLF)
        case _:
            raise fields.wrong(f"{kind!r} is no action that is known")


def _call(fields: Fields, properties: ReadProperties, caret: int, prefix: str) -> CallCompletion:
    return CallCompletion(
        session="",
        offset=caret,
        prefix=prefix,
        expected_text=fields.text("expectedText"),
        properties=properties(fields.section("nodeProperties")),
    )


def write(actions: Sequence[Action], properties: Callable[[Properties], object]) -> list[dict[str, object]]:
    """Return our actions as the plugin's."""
    written: list[dict[str, object]] = []
    expected: str | None = None
    finished = False
    for action in actions:
        match action:
            case MoveCaret():
                written.append({"type": "MOVE_CARET", "offset": action.offset})
            case PrintText():
                # What stands between a FINISH_SESSION and the text that the session typed may be left out by the
                # plugin, if the IDE has put the text in place itself (`completable`).
                completable = finished and action.text == expected
                finished = finished and not completable
                written.append({"type": "PRINT_TEXT", "text": action.text, "completable": completable})
            case DeleteRange():
                place = {"begin": action.begin, "end": action.end, "completable": finished}
                written.append({"type": "DELETE_RANGE", **place})
            case CallCompletion():
                expected, finished = action.expected_text, False
                call = {"prefix": action.prefix, "expectedText": expected}
                written.append({"type": "CALL_COMPLETION", **call, "nodeProperties": properties(action.properties)})
            case FinishSession():
                finished = True
                written.append({"type": "FINISH_SESSION"})
            case _:
                pass
    return written
