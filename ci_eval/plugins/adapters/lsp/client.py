"""The client of one server: it sends the document, asks for completion, and answers the server's requests."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import unquote

import msgspec

from ci_eval import __version__
from ci_eval.core.base.errors import EngineFailure, EngineMisbehaved, EngineRaised, EngineTimeout, EngineUnstarted
from ci_eval.core.base.quoting import quote
from ci_eval.core.contracts import Edit
from ci_eval.plugins.adapters.lsp import protocol
from ci_eval.plugins.adapters.process import MessageProcess, SandboxPolicy

QUIET = 0.3
"""A known server is taken to be ready after this many seconds without announced work."""
LOADING = 30.0
"""Work that a server announces within this many seconds of its start is taken to be the loading of the project."""
TRIES = 5
PAUSE = 0.1
"""The wait before the second try, in seconds. Each further wait is twice as long."""
GOODBYE = 2.0
"""The time for a server to answer a cancellation or to shut down, in seconds."""

_Kind = TypeVar("_Kind")
INVOKED = {"triggerKind": 1}
METHOD_NOT_FOUND = -32601
CANCELLED = frozenset({-32800, -32801, -32802})
"""RequestCancelled, ContentModified and ServerCancelled: the server wants to be asked again."""

CAPABILITIES: dict[str, Any] = {
    # VS Code offers only UTF-16, and servers should work as they do for VS Code's users.
    "general": {"positionEncodings": ["utf-16"]},
    "window": {"workDoneProgress": True},
    "workspace": {"configuration": True, "workspaceFolders": True, "didChangeConfiguration": {}},
    "textDocument": {
        "synchronization": {"dynamicRegistration": False},
        "completion": {
            "contextSupport": True,
            "completionItem": {
                "snippetSupport": True,
                "commitCharactersSupport": True,
                "documentationFormat": ["markdown", "plaintext"],
                "deprecatedSupport": True,
                "preselectSupport": True,
                "tagSupport": {"valueSet": [1]},
                "insertTextModeSupport": {"valueSet": [1, 2]},
                "insertReplaceSupport": True,
                "labelDetailsSupport": True,
                "resolveSupport": {"properties": ["documentation", "detail", "additionalTextEdits"]},
            },
            "completionItemKind": {"valueSet": list(range(1, 26))},
            "insertTextMode": 2,
            "completionList": {
                "itemDefaults": ["commitCharacters", "editRange", "insertTextFormat", "insertTextMode", "data"]
            },
        },
        "inlineCompletion": {"dynamicRegistration": False},
        "publishDiagnostics": {},
    },
}
"""The capabilities of completion are those of `fillClientCapabilities` in `completion.ts` of vscode-languageclient
9.0.1, which VS Code's extensions use."""


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    command: Sequence[str]
    root: Path
    cwd: Path
    environment: Mapping[str, str]
    walls: SandboxPolicy
    options: Any  # the value of `initializationOptions`
    capabilities: Mapping[str, Any]
    settings: Mapping[str, Any]
    announces: bool
    quiet: float
    initialize: float  # seconds
    ready: float
    """After this many seconds of work (indexing, loading packages), the server is asked even if it is not done."""


class Client:
    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self.process = MessageProcess(
            launch.command, cwd=launch.cwd, environment=launch.environment, walls=launch.walls
        )
        self._sent: set[str] = set()  # the ids of all requests so far
        self._works: set[int | str] = set()
        self._awaits_work = launch.announces
        self._began = time.monotonic()
        self.waited = 0.0
        """The time spent waiting for announced work, in seconds."""
        self.idle = 0.0
        """The time spent waiting for announcements that did not come, in seconds."""
        self.is_unready = False
        """True if the server was still at work after the longest wait."""
        self._uri = ""
        self._is_checked = False
        self._version = 0
        self._registered: set[str] = set()
        self._triggers: frozenset[str] = frozenset()
        try:
            self._initialize(time.monotonic() + launch.initialize)
        except EngineTimeout as error:
            self.process.close()
            # After two errors of this type, no further session starts the engine.
            raise EngineUnstarted(
                f"{self.process.name} did not answer `initialize` within {launch.initialize:g} s; if it needs longer, "
                "set `engine.initializeTimeout` to more seconds"
            ) from error
        except BaseException:
            self.process.close()
            raise
        # The time for loading counts from the end of `initialize`.
        self._began = time.monotonic()

    def _initialize(self, deadline: float) -> None:
        uri = self._launch.root.as_uri()
        parameters = {
            "processId": None,
            "clientInfo": {"name": "ci-eval", "version": __version__},
            "rootUri": uri,
            # `rootPath` is deprecated, but VS Code's client sends it.
            "rootPath": str(self._launch.root),
            "workspaceFolders": [{"uri": uri, "name": self._launch.root.name}],
            "initializationOptions": self._launch.options,
            "capabilities": self._launch.capabilities,
        }
        answer = self._ask("initialize", parameters, deadline)
        initialized = self._decode(answer, protocol.Initialized, "answered `initialize` with")
        self.info = initialized.server_info
        self._capabilities = initialized.capabilities
        if self._capabilities.completion_provider not in (None, False):
            self._register([protocol.Registration("textDocument/completion", self._capabilities.completion_provider)])
        self.encoding = cast("protocol.Encoding", self._capabilities.position_encoding)
        if self.encoding not in ("utf-8", "utf-16", "utf-32"):
            raise EngineMisbehaved(f"{self.process.name} counts positions in {quote(self.encoding, 80)!r}")
        self._tell("initialized", {})
        # A server that never asks for its configuration takes it from this message.
        if self._launch.settings:
            self._tell("workspace/didChangeConfiguration", {"settings": self._launch.settings})

    # ---------------------------------------------------------------------------------------------------- document

    def open(self, path: Path, language: str, text: str, deadline: float) -> None:
        if self._uri:
            self._tell("textDocument/didClose", {"textDocument": {"uri": self._uri}})
        self._uri = path.as_uri()
        self._is_checked = False
        self._version = 1
        document = {"uri": self._uri, "languageId": language, "version": 1, "text": text}
        self._tell("textDocument/didOpen", {"textDocument": document})
        # The server can read the file while ci-eval does other work.
        self.process.flush(deadline)

    def change(self, before: str, edits: Sequence[Edit], after: str) -> None:
        """Change the document. The server gets the change with the next request."""
        if not edits or not self._capabilities.sync:
            return
        changes: list[dict[str, Any]] = []
        if self._capabilities.sync == 2:
            for offset, deleted, inserted in edits:
                start = protocol.find_position(before, offset, self.encoding)
                end = protocol.find_position(before, offset + deleted, self.encoding) if deleted else start
                changes.append({"range": {"start": start, "end": end}, "text": inserted})
                before = before[:offset] + inserted + before[offset + deleted :]
        else:
            changes.append({"text": after})
        self._version += 1
        document = {"uri": self._uri, "version": self._version}
        self._tell("textDocument/didChange", {"textDocument": document, "contentChanges": changes})

    def complete(
        self, text: str, offset: int, deadline: float, *, is_incomplete: bool = False
    ) -> tuple[protocol.CompletionList, float]:
        """Return the server's list at an offset (code points) of the open document, and when it arrived
        (`time.perf_counter()`). Raises EngineRaised if the list cannot be read.

        `is_incomplete`: whether the last list was incomplete, so that the server is asked again after typing.
        """
        typed = text[max(offset - 1, 0) : offset]
        # These conditions are those of VS Code 1.95 (`checkTriggerCharacter` and `_onNewContext` in suggestModel.ts).
        context: dict[str, Any] = {"triggerKind": 3 if is_incomplete else 1}
        if typed in self._triggers:
            context = {"triggerKind": 2, "triggerCharacter": typed}
        while True:
            question = self._at(text, offset) | {"context": context}
            listed, arrived = self._request("textDocument/completion", question, deadline, protocol.read_answer)
            if listed.items or context["triggerKind"] != 2:
                return listed, arrived
            # An editor shows nothing for such an empty list, and the user asks again with a key.
            context = INVOKED

    def _at(self, text: str, offset: int) -> dict[str, Any]:
        position = protocol.find_position(text, offset, self.encoding)
        return {"textDocument": {"uri": self._uri}, "position": position}

    def _request(
        self, method: str, params: Any, deadline: float, read: Callable[[bytes], _Kind]
    ) -> tuple[_Kind, float]:
        """Return the answer, and when it arrived (`time.perf_counter()`). Raises EngineRaised for an unreadable
        answer."""
        answer, arrived = self._ask(method, params, deadline), time.perf_counter()
        try:
            return read(answer), arrived
        except protocol.UNREADABLE as error:
            raise EngineRaised(f"{self.process.name} sent an unreadable answer to {method}: {error}") from error

    def resolve(self, item: dict[str, Any], deadline: float) -> Any:
        return self._request("completionItem/resolve", item, deadline, msgspec.json.decode)[0]

    def define(self, text: str, offset: int, deadline: float) -> list[tuple[str, protocol.Position]]:
        """Return the path and position of each definition of the name at an offset (code points) of the open document.
        Raises EngineRaised if the answer cannot be read."""
        if self._capabilities.definition_provider in (None, False):
            return []
        question = self._at(text, offset)
        return self._request("textDocument/definition", question, deadline, protocol.read_locations)[0]

    @property
    def completes(self) -> bool:
        return "textDocument/completion" in self._registered

    @property
    def completes_inline(self) -> bool:
        return self._capabilities.inline_completion_provider not in (None, False)

    def complete_inline(
        self, text: str, offset: int, deadline: float
    ) -> tuple[list[protocol.InlineItem] | protocol.InlineList | None, float]:
        """Return the grey text at `offset` (code points), and when it arrived (`time.perf_counter()`). Raises
        EngineRaised."""
        question = self._at(text, offset) | {"context": INVOKED}
        return self._request("textDocument/inlineCompletion", question, deadline, protocol.INLINE_ANSWER.decode)

    def digest(self, deadline: float) -> None:
        """Wait until the server has parsed the document. The server must handle one message at a time."""
        # This is the cheapest request that needs the parsed text: without positions, the answer is empty.
        question = {"textDocument": {"uri": self._uri}, "positions": []}
        with suppress(EngineRaised):  # The server may still complete a text that it cannot parse.
            self._ask("textDocument/selectionRange", question, deadline)

    def await_check(self, deadline: float) -> bool:
        began = time.monotonic()
        while not self._is_checked and (message := self._receive(deadline)) is not None:
            self._handle(message)
        self.waited += time.monotonic() - began
        self.is_unready = not self._is_checked
        return self._is_checked

    def settle(self) -> None:
        """Wait until announced work is done and the server stays quiet, for at most `Launch.ready` seconds in all."""
        began = time.monotonic()
        quiet, deadline = began + self._launch.quiet, began + self._launch.ready - self.waited
        while True:
            began = time.monotonic()
            while not self.is_loading:
                if (message := self._receive(min(quiet, deadline))) is None:
                    self.idle += time.monotonic() - began
                    return
                self._handle(message)
            began = time.monotonic()
            while (self._works or self._awaits_work) and (message := self._receive(deadline)) is not None:
                self._handle(message)
            self.waited += time.monotonic() - began
            self.is_unready = self.is_loading
            if self.is_unready:
                return
            # Many servers announce several pieces of work, one after the other.
            quiet = time.monotonic() + QUIET

    @property
    def is_loading(self) -> bool:
        return bool(self._works) or self._awaits_work

    # ---------------------------------------------------------------------------------------------------- messages

    def _tell(self, method: str, params: Any) -> None:
        self.process.send(msgspec.json.encode({"jsonrpc": "2.0", "method": method, "params": params}))

    def _ask(self, method: str, params: Any, deadline: float) -> bytes:
        """Send a request and return the answer. A cancelled request is sent again. Raises EngineTimeout, and
        EngineRaised if the answer is an error."""
        text = ""
        for attempt in range(TRIES):
            # 31 random bits, so that no server can guess the id of a request.
            while str(identifier := int.from_bytes(os.urandom(4), "big") >> 1) in self._sent:
                pass
            self._sent.add(str(identifier))
            request = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}
            self.process.send(msgspec.json.encode(request))
            answer = self._await_answer(identifier, deadline)
            if answer is None:
                # A server that answers now still works, and needs no restart.
                grace = time.monotonic() + GOODBYE
                self._tell("$/cancelRequest", {"id": identifier})
                is_alive = self._await_answer(identifier, grace) is not None
                raise EngineTimeout(f"{self.process.name} did not answer {method} in time", restart=not is_alive)
            if answer.error is None:
                return bytes(answer.result)
            text = f"error {answer.error.code}: {quote(answer.error.message, 1000)}"
            if answer.error.code not in CANCELLED:
                raise EngineRaised(f"{self.process.name} answered {method} with {text}")
            if attempt < TRIES - 1:
                time.sleep(max(0.0, min(PAUSE * 2**attempt, deadline - time.monotonic())))
        raise EngineRaised(f"{self.process.name} answered {method} {TRIES} times with {text}")

    def _await_answer(self, identifier: int, deadline: float) -> protocol.Message | None:
        while (message := self._receive(deadline)) is not None:
            # VS Code compares ids as texts (`String(id)` in vscode-jsonrpc), so 7 and "7" are the same id.
            if message.method is None and str(message.id) == str(identifier):
                return message
            self._handle(message)
        return None

    def _receive(self, deadline: float) -> protocol.Message | None:
        body = self.process.receive(deadline)
        if body is None:
            return None
        try:
            return protocol.MESSAGE.decode(protocol.mend_text(body))
        except protocol.UNREADABLE as error:
            raise EngineMisbehaved(f"{self.process.name} sent {quote(body, 200)!r}: {error}") from error

    def _handle(self, message: protocol.Message) -> None:
        """Handle a message of the server. Drop late answers. Raises EngineMisbehaved for an answer to no request."""
        if message.method == "$/progress":
            self._progress(message)
        elif message.method == "textDocument/publishDiagnostics":
            if self._is_checked:
                return
            with suppress(*protocol.UNREADABLE):  # Unreadable diagnostics are not about our documents.
                uri = msgspec.json.decode(message.params, type=protocol.Published).uri
                # Servers and `as_uri` escape different characters, so the URIs are compared unescaped.
                self._is_checked = unquote(uri) == unquote(self._uri)
        elif message.method is not None and message.id is not None:
            reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message.id}
            match message.method:
                case "workspace/configuration":
                    reply["result"] = []
                    for item in self._decode(message.params, protocol.Configuration, "asked for").items:
                        value: Any = self._launch.settings
                        for name in item.section.split(".") if item.section else ():
                            value = value.get(name) if isinstance(value, Mapping) else None
                        reply["result"].append(value)
                case "workspace/workspaceFolders":
                    reply["result"] = [{"uri": self._launch.root.as_uri(), "name": self._launch.root.name}]
                case "workspace/applyEdit":
                    # An edit by the server would change what is measured.
                    reply["result"] = {"applied": False, "failureReason": "ci-eval only looks"}
                case "client/registerCapability":
                    self._register(self._decode(message.params, protocol.Registrations, "registered").registrations)
                    reply["result"] = None
                case method if method in protocol.NOTED:
                    reply["result"] = None
                case method:
                    reply["error"] = {"code": METHOD_NOT_FOUND, "message": f"ci-eval does not know {method}"}
            self.process.send(msgspec.json.encode(reply))
        elif message.method is None and message.id is not None and str(message.id) not in self._sent:
            raise EngineMisbehaved(
                f"{self.process.name} answered request {quote(str(message.id), 80)}, which was never sent"
            )

    def _register(self, registrations: Sequence[protocol.Registration]) -> None:
        for method, options in ((registration.method, registration.register_options) for registration in registrations):
            self._registered.add(method)
            characters = options.get("triggerCharacters") if isinstance(options, dict) else None
            if method == "textDocument/completion" and isinstance(characters, list):
                self._triggers |= {typed for typed in characters if isinstance(typed, str)}

    def _progress(self, message: protocol.Message) -> None:
        try:
            progress = msgspec.json.decode(message.params, type=protocol.ProgressStep)
            kind = msgspec.convert(progress.value, protocol.ProgressValue).kind
        except protocol.UNREADABLE:
            # Partial results have no kind; we never ask for them.
            return
        # Later work, such as checks after an edit, is not loading, and nobody waits for it.
        if kind == "begin" and (self._awaits_work or time.monotonic() < self._began + LOADING):
            self._works.add(progress.token)
            self._awaits_work = False
            # Endless announcements must not fill our memory.
            if len(self._works) > protocol.MANY:
                raise EngineMisbehaved(f"{self.process.name} announced more than {protocol.MANY} units of work at once")
        elif kind == "end":
            self._works.discard(progress.token)

    def _decode(self, text: bytes | msgspec.Raw, kind: type[_Kind], verb: str) -> _Kind:
        try:
            return msgspec.json.decode(text, type=kind)
        except protocol.UNREADABLE as error:
            raise EngineMisbehaved(f"{self.process.name} {verb} {quote(bytes(text), 200)!r}: {error}") from error

    # --------------------------------------------------------------------------------------------------------- end

    def close(self) -> None:
        """Ask the server to shut down, and kill it if it does not; never raises."""
        deadline = time.monotonic() + GOODBYE
        # The CPU time is read now, since the process may be gone after the shutdown.
        self.process.count_cpu()
        try:
            self._ask("shutdown", None, deadline)
            self._tell("exit", None)
            end = max(deadline, time.monotonic() + 0.1)
            while self.process.receive(end) is not None:
                pass
        except EngineFailure:
            return
        finally:
            self.process.close()
