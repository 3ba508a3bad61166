"""A generation of the plugin's workspaces: the functions that recognise, read and write its files, and shared code."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from ci_eval.core import model
from ci_eval.core.base import stored
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.config import Config
from ci_eval.core.model import Action, Properties, Suggestion
from ci_eval.plugins.jetbrains.fields import Fields, read_json, read_token_properties, write_token_properties


class Generation(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    summary: str
    wrote: Callable[[Mapping[str, object]], bool]
    """Content of config.json → whether this generation wrote it. Exactly one generation accepts a config.json."""
    since_2021: bool = True
    prefix: str = "prefix"
    """The name of the field with the text that was typed before a lookup."""
    properties: str = "_properties"
    listed: Callable[[Path], Sequence[tuple[str, Path]]]
    """The folder `data` → (path of a source file, file with its sessions) for each source file."""
    read_properties: Callable[[Fields], Properties] = read_token_properties
    by_relevance: bool = False
    """Whether the files say which suggestions are relevant."""
    read_actions: Callable[[Fields], model.FileActions]
    """Fields of a file → its actions. The `session` of a call is the plugin's id, or "" if the file lacks it."""
    config: Callable[[Config, str], dict[str, object]]
    write_properties: Callable[[Properties], dict[str, object]] = write_token_properties
    write_actions: Callable[[Sequence[Action]], list[dict[str, object]]]


LIST = "files.json"


def list_source_files(data: Path, *, projects: bool = False) -> list[tuple[str, Path]]:
    """Return each path in `files.json` with its file below `data` (2019) or `data/files`. With `projects`, `files.json`
    may list projects (2024); then the files of all these projects are returned."""
    content = read_json(data / LIST) if (data / LIST).is_file() else {}
    if projects and isinstance(content, list):
        return [listed for name in content for listed in list_source_files(_inside(data, name))]
    if not isinstance(content, Mapping):
        raise WorkspaceError(f"{data / LIST} is neither an object nor a list; fetch the workspace again")
    candidates = [(path, _inside(data, name), _inside(data / "files", name)) for path, name in content.items()]
    return [(path, later if later.is_file() and not first.is_file() else first) for path, first, later in candidates]


def _inside(folder: Path, name: object) -> Path:
    try:
        # On Windows, the plugin writes backslashes.
        return folder / stored.inside(str(name).replace("\\", "/"))
    except ValueError as error:
        raise WorkspaceError(f"{folder}: {error}; fetch the workspace again") from error


NO_GOLF = "sessions of code golf cannot be imported"


def read(fields: Fields, properties: Callable[[Fields], Properties]) -> model.FileActions:
    path, checksum = fields.text("path"), fields.text("checksum")
    actions: list[Action] = [model.OpenFile(path=path, checksum=checksum)]
    caret = 0
    for action in fields.objects("actions"):
        match kind := action.text("type"):
            case "MOVE_CARET":
                caret = action.number("offset")
                actions.append(model.MoveCaret(offset=caret))
            case "PRINT_TEXT":
                action.optional("completable", bool)
                actions.append(model.PrintText(text=action.text("text")))
            case "DELETE_RANGE":
                action.optional("completable", bool)
                actions.append(model.DeleteRange(begin=action.number("begin"), end=action.number("end")))
            case "FINISH_SESSION":
                actions.append(model.FinishSession())
            case "CALL_COMPLETION" | "EMULATE_USER_SESSION":
                is_emulated = kind != "CALL_COMPLETION"
                prefix = "" if is_emulated else action.text("prefix")
                expected = action.text("expectedText")
                known = properties(action.section("nodeProperties"))
                # The file has no offset for a call. The token begins where the caret was last moved to.
                actions.append(
                    model.CallCompletion(
                        session="", offset=caret, prefix=prefix, expected_text=expected, properties=known
                    )
                )
                # After an emulated session, the document has the whole expected text.
                actions += [model.FinishSession(), model.PrintText(text=expected)] if is_emulated else []
            case "CODE_GOLF":
                raise action.wrong(NO_GOLF)
            case _:
                raise action.wrong(f"{kind!r} is not a known action")
    sessions = fields.number("sessionsCount", 0)
    return model.FileActions(path=path, checksum=checksum, sessions=sessions, unparsable=0.0, actions=tuple(actions))


def write(actions: Sequence[Action], properties: Callable[[Properties], object]) -> list[dict[str, object]]:
    written: list[dict[str, object]] = []
    expected: str | None = None
    finished = False
    for action in actions:
        match action:
            case model.MoveCaret():
                written.append({"type": "MOVE_CARET", "offset": action.offset})
            case model.PrintText():
                # `completable` marks the actions from FINISH_SESSION to the typing of the expected text. The plugin may
                # skip these actions if the IDE has inserted the text itself.
                completable = finished and action.text == expected
                finished = finished and not completable
                written.append({"type": "PRINT_TEXT", "text": action.text, "completable": completable})
            case model.DeleteRange():
                place = {"begin": action.begin, "end": action.end, "completable": finished}
                written.append({"type": "DELETE_RANGE", **place})
            case model.CallCompletion():
                expected, finished = action.expected_text, False
                call = {"prefix": action.prefix, "expectedText": expected}
                written.append({"type": "CALL_COMPLETION", **call, "nodeProperties": properties(action.properties)})
            case model.FinishSession():
                finished = True
                written.append({"type": "FINISH_SESSION"})
            case _:
                pass
    return written


def strategy_of(config: Mapping[str, object]) -> Mapping[str, object]:
    actions = config.get("actions")
    known = actions.get("strategy") if isinstance(actions, Mapping) else None
    return known if isinstance(known, Mapping) else {}


def has_later_keys(config: Mapping[str, object]) -> bool:
    """Return whether a configuration has keys that the plugin of 2019 did not know."""
    return "reorder" in config or not {"emulateUser", "completionGolf"}.isdisjoint(strategy_of(config))


ALL_LETTERS = 1_000
"""The number of typed letters that stands for all letters of a name, since names are shorter."""


def prefix(config: model.PrefixConfig) -> dict[str, object]:
    """Return the plugin's prefix: emulated typing for `EveryPrefix`, no prefix for a `Ladder`."""
    if config.name == "EveryPrefix":
        return {"name": "SimplePrefix", "emulateTyping": True, "n": config.n or ALL_LETTERS}
    if config.name in {"SimplePrefix", "CapitalizePrefix"}:
        return {"name": config.name, "emulateTyping": config.emulate_typing} | ({"n": config.n} if config.n else {})
    return {"name": "NoPrefix", "emulateTyping": False}


def context_of(strategy: model.StrategyConfig) -> dict[str, object]:
    context = "ALL" if strategy.context == "ALL" else "PREVIOUS"
    return {"context": context, "prefix": prefix(strategy.prefix), "filters": filters(strategy.filters)}


def filters(config: model.FiltersConfig) -> dict[str, object]:
    kinds = config.statement_types
    return {
        "statementTypes": [kind.value for kind in kinds] if kinds else None,
        "isStatic": config.is_static,
        "packageRegex": config.package_regex,
    }


def head(config: Config, project: str) -> dict[str, object]:
    return {"projectPath": project, "language": language(config.language), "outputDir": config.output_dir}


def reports(config: Config) -> dict[str, object]:
    """Return the settings of the reports: title and filters. Metrics and gates of comparisons have no equivalent."""
    parts = [
        {"name": part.name, "filters": filters(part.filters)}
        for part in config.reports.sessions_filters
        # The plugin has no conditions on `typed`, `file` or `text`. Without these conditions, more sessions would pass.
        if (part.typed, part.file, part.text) == (None, None, None)
    ]
    return {"evaluationTitle": title(config), "sessionsFilters": parts}


def title(config: Config) -> str:
    """Return the title of reports. As in the plugin, it is the completion type if no title is set."""
    return config.reports.evaluation_title or config.interpret.completion_type


TITLES = {"cpp": "C++", "javascript": "JavaScript", "typescript": "TypeScript", "php": "PHP", "text": "Another"}
"""Our name → the plugin's title, for languages whose title is not our name with a capital letter."""
NAMES = {title.lower(): name for name, title in TITLES.items()}


def language(name: str) -> str:
    return TITLES.get(name, name.capitalize())


def normalise_language(title: str) -> str:
    """Return our name of a language, or the title in lower case if we have no name for it."""
    return NAMES.get(title.lower(), title.lower().replace(" ", "-"))


IDENTIFIER = re.compile(r"\w+")


def find_rank(
    language: str, expected: str, shown: Sequence[Suggestion], relevant: Sequence[bool | None] = ()
) -> int | None:
    """Return the rank of the first relevant suggestion. If no relevance is recorded, return the rank of the
    first suggestion that equals the expected text. In Kotlin, the part before " =" may equal it instead; in C++, the
    first identifier."""
    if any(flag is not None for flag in relevant):
        return next((place for place, flag in enumerate(relevant, 1) if flag), None)
    for place, suggestion in enumerate(shown, 1):
        spellings = [suggestion.text]
        if language.lower() == "kotlin":
            spellings.append(suggestion.text.partition(" =")[0])
        elif language.lower() == "c++" and (identifier := IDENTIFIER.search(suggestion.text)):
            spellings.append(identifier[0])
        if expected in spellings:
            return place
    return None
