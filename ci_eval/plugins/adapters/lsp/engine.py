"""The declaration of a language server as an engine, and a running server."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ci_eval.core.base.errors import EngineCrash, EngineRaised
from ci_eval.core.base.files import is_own, read_own
from ci_eval.core.base.workspaces import find_members, table
from ci_eval.core.contracts import Answer, Edit, Installation, Query, Running, Surroundings
from ci_eval.core.model import Suggestion
from ci_eval.core.model.engine import SentConfiguration
from ci_eval.plugins.adapters.engine import FromRecipe
from ci_eval.plugins.adapters.lsp import completion, overlay
from ci_eval.plugins.adapters.lsp.client import CAPABILITIES, QUIET, Client, Launch
from ci_eval.plugins.adapters.lsp.protocol import CompletionList, language_id, offset_in_line
from ci_eval.plugins.adapters.lsp.quirks import ERROR, PLAIN, ServerQuirks, show_project
from ci_eval.plugins.adapters.place import DRIVERS, Place, configuration, replace_texts, variables
from ci_eval.plugins.adapters.process import MessageProcess

NO_COMPLETION = (
    "{} announces no completion (it answered `initialize` without completionProvider): is this the right program, do "
    "its arguments start a language server, and does completion need a setting (engine.settings, engine.options)?"
)

ECMASCRIPT = frozenset({"javascript", "typescript"})

OPEN_TIMEOUT = 60.0
"""The time limit for opening a document, in seconds. Opening does not count as part of a completion."""
WARM_UP = 10.0
"""A server that has suggested nothing yet is asked again until this many seconds after its start."""
PAUSE = 0.25
"""The pause between requests during `WARM_UP`, in seconds."""


class LspEngine(FromRecipe, frozen=True, kw_only=True):
    """The declaration of a server. Workers get it by pickle, so its functions must be importable, not lambdas."""

    command: Callable[[Place], Sequence[str]]
    options: Callable[[Place], Any] = overlay.Template(None)
    settings: Callable[[Place], Mapping[str, Any]] = overlay.Template({})
    """Section of the configuration → the value that the server gets when it asks for the section."""
    variables: Callable[[Place], Mapping[str, str]] = overlay.Template({})
    only_language_id: str = ""
    """The protocol's language name for all files. If empty, the name depends on the suffix of a file."""
    installs: tuple[Path, ...] = ()
    quirks: ServerQuirks = PLAIN
    quiet: float = QUIET
    auto_import: overlay.AutoImport = overlay.UNKNOWN
    auto_imports: str = "default"
    programs: tuple[str, ...] = ()
    """Names that identify this server: its program or npm package in a user's command, or the name that it reports."""
    flags: tuple[str, ...] = ()
    """Arguments that are added to a user's command if the command is configured like this server."""
    own: overlay.Overlay = overlay.NOTHING
    like: str = ""
    """The name of the engine whose configuration a user's command gets, or ""."""

    def launch(self, place: Place) -> Launch:
        """Return the server's command, environment and settings. Raises ConfigError."""
        # The user's settings come last, so they win over `interpret.autoImport`.
        layers = (self.auto_import.chosen(self.auto_imports, self.name), self.own)
        folders = {"{root}": str(place.root), "{dependencies}": str(place.environment or "")}
        command, options = list(self.command(place)), self.options(place)
        settings, environment = dict(self.settings(place)), variables(place) | dict(self.variables(place))
        for layer in layers:
            command = overlay.add_arguments(command, replace_texts(layer.arguments, folders))
            settings = overlay.merge_objects(settings, replace_texts(layer.settings, folders))
            options = (
                overlay.merge_objects(options, replace_texts(layer.options, folders)) if layer.options else options
            )
            environment |= replace_texts(layer.variables(), folders)
        return Launch(
            command=command,
            root=place.root,
            cwd=place.scratch,
            environment=environment,
            walls=place.walls(command[0], *self.needs, reads=self.installs),
            options=options,
            capabilities=overlay.merge_objects(CAPABILITIES, self.own.capabilities),
            settings=settings,
            announces=self.quirks.announces,
            quiet=self.quiet,
            initialize=place.surroundings.initialize,
            ready=place.surroundings.ready,
        )

    def sent(self, installation: Installation, surroundings: Surroundings) -> SentConfiguration:
        with Place.temporary(installation.folder or DRIVERS, surroundings) as place:
            launch = self.launch(place)
            suffixes = surroundings.suffixes or ("",)
            return configuration(
                place,
                launch.command,
                launch.environment,
                auto_import=self.auto_import.state(self.auto_imports),
                taken_over=[name for name, value in self.own.environment.items() if value is None],
                like=self.like,
                settings=launch.settings,
                options=launch.options,
                capabilities=dict(launch.capabilities),
                languageIds={end: self.language_id(surroundings.language, f"file{end}") for end in suffixes},
                quirks=self.quirks.unusual(),
            )

    def introduce(self, installation: Installation, surroundings: Surroundings) -> tuple[str, bool]:
        """Start the server. Returns the name that it reports, or "", and whether it completes. Raises EngineFailure."""
        with (
            Place.temporary(installation.folder or DRIVERS, surroundings) as place,
            # The server can report both before it has loaded the project.
            closing(Client(replace(self.launch(place), ready=QUIET))) as client,
        ):
            if not (client.completes or client.completes_inline):
                client.settle()  # the server may announce completion a little later
            return client.info.name if client.info else "", client.completes or client.completes_inline

    def start(self, installation: Installation, surroundings: Surroundings) -> Running:
        assert installation.folder is not None
        return RunningLsp(self, installation.folder, surroundings)

    def left_out(self, root: Path) -> str:
        return self.quirks.left_out(root) if self.quirks.left_out else ""

    @property
    def reads_all(self) -> bool:
        return self.quirks.reads_all and self.auto_import.state(self.auto_imports) != "off"

    def language_id(self, language: str, path: str) -> str:
        return self.only_language_id or language_id(path, language)


class RunningLsp:
    def __init__(self, engine: LspEngine, folder: Path, surroundings: Surroundings) -> None:
        self._engine = engine
        self._surroundings = surroundings
        place = Place.new(folder, surroundings)
        self._place = replace(place, root=_visible_root(place))
        self._root = self._place.root
        self._client: Client | None = None
        self._path = ""
        self._text = self._sent_text = ""
        self._edits: list[Edit] = []
        self._last: CompletionList | None = None
        self._asked = 0
        """The number of characters of the prefix that were typed when the server was last asked for a list."""
        self._is_typed = False
        self._fresh = True
        self._cold_until = 0.0
        self._language = ""
        self._waited = (0.0, 0)

    # ------------------------------------------------------------------------------------------------------ process

    def _start_once(self) -> Client:
        if self._client is None:
            self._place.renew()
            self._client = Client(self._engine.launch(self._place))
            self._fresh = True
        return self._client

    @property
    def confined(self) -> str:
        return self._client.process.confined if self._client else ""

    @property
    def process(self) -> MessageProcess | None:
        return self._client.process if self._client else None

    def peak_memory(self) -> int | None:
        return self._client.process.peak_memory() if self._client else None

    def waited(self) -> tuple[float, int]:
        """Return the seconds spent waiting for announced work, and the number of starts whose work took too long."""
        seconds, unready = self._waited
        return (seconds + self._client.waited, unready + self._client.is_unready) if self._client else self._waited

    @property
    def idle(self) -> float:
        return self._client.idle if self._client else 0.0

    def restart(self) -> None:
        self._end()
        self._start_once()

    def close(self) -> None:
        self._end()
        self._place.remove()

    def _end(self) -> None:
        self._waited = self.waited()
        client, self._client = self._client, None
        if client:
            client.close()

    # --------------------------------------------------------------------------------------------------- completion

    def open(self, path: str, text: str) -> None:
        if self._engine.quirks.restarts and not self._fresh:
            self._end()
        client = self._start_once()
        if self._fresh and self._engine.reads_all:
            ending = ERROR if self._engine.quirks.silent_if_clean else ""
            show_project(client, self._root, self._surroundings, self._engine.language_id, ending)
        self._path, self._text, self._sent_text, self._edits, self._last = path, text, text, [], None
        self._is_typed = False
        self._language = self._engine.language_id(self._surroundings.language, path)
        client.open(self._root / path, self._language, text, time.monotonic() + OPEN_TIMEOUT)
        if self._engine.quirks.serial:
            client.digest(time.monotonic() + OPEN_TIMEOUT)
        elif self._fresh:
            client.settle()
            self._cold_until = time.monotonic() + WARM_UP
        self._fresh = False

    def edit(self, edits: Sequence[Edit]) -> None:
        for offset, deleted, inserted in edits:
            self._text = self._text[:offset] + inserted + self._text[offset + deleted :]
        self._edits += edits
        self._is_typed = False

    def complete(self, query: Query) -> Answer:
        """Ask the server. If a token is being typed and the last list was complete, filter that list, as editors do."""
        client = self._running
        if query.span not in {"word", "around"} and client.completes_inline:
            clocks, started = client.process.start_clock(), time.perf_counter()
            deadline = time.monotonic() + self._surroundings.timeout
            self._send_edits(client, query.offset)
            grey, arrived = client.complete_inline(self._text, query.offset, deadline)
            cpu = client.process.stop_clock(clocks)
            suggestions = list(completion.read_inline_items(grey, self._text, query, client.encoding))
            return Answer(suggestions=suggestions, latency=(arrived - started) * 1000, cpu=cpu)
        # VS Code's extension for clangd treats all lists as incomplete.
        if (
            query.continues
            and self._last is not None
            and not self._last.is_incomplete
            and self._engine.quirks.extension != "clangd"
        ):
            return self._read_list(query, self._last, 0.0, 0.0)
        is_incomplete = query.continues and self._last is not None
        if not client.completes:
            raise EngineRaised(NO_COMPLETION.format(self._engine.name))
        if not self._is_typed and self._engine.quirks.serial:
            # A server that handles one message at a time first gets time to process the edits.
            deadline = time.monotonic() + OPEN_TIMEOUT
            self._send_edits(client, query.offset)
            client.digest(deadline)
        while True:
            clocks, started = client.process.start_clock(), time.perf_counter()
            deadline = time.monotonic() + self._surroundings.timeout
            self._send_edits(client, query.offset)
            answer, arrived = client.complete(self._text, query.offset, deadline, is_incomplete=is_incomplete)
            cpu = client.process.stop_clock(clocks)
            if client.is_loading and not client.is_unready:
                # While the project is being loaded, answers may be incomplete, so the server is asked again.
                client.settle()
            # A server may suggest nothing while it loads the project; a user would notice, and try again.
            elif time.monotonic() > self._cold_until or answer.items:
                break
            else:
                time.sleep(PAUSE)
        self._last, self._asked = answer, len(query.prefix)
        # The latency is from sending the edits to the last byte of the answer.
        return self._read_list(query, answer, arrived - started, cpu)

    def define(self, offset: int) -> list[tuple[str, int, int]]:
        client, deadline = self._running, time.monotonic() + self._surroundings.timeout
        self._send_edits(client, offset)
        defined = []
        for name, position in client.define(self._text, offset, deadline):
            path = name.removeprefix(f"{self._root}/")
            text = self._text
            if path != self._path:
                text = read_own(self._root, path).decode(errors="replace") if is_own(Path(name), self._root) else ""
            line = "".join(text.split("\n")[position.line : position.line + 1])
            # For files outside of the project, columns stay in the server's units.
            column = offset_in_line(line, position.character, client.encoding) if line else position.character
            defined.append((path, position.line, column))
        return defined

    def _read_list(self, query: Query, answer: CompletionList, latency: float, cpu: float | None) -> Answer:
        """Convert the server's list. `latency` is in seconds, `cpu` in milliseconds."""
        encoding, quirks = self._running.encoding, self._engine.quirks
        question = completion.Question(
            self._text,
            query.offset,
            query.prefix,
            encoding,
            self._language,
            since=len(query.prefix) - self._asked,
            replaces=query.span == "around",
        )
        suggestions = question.offers(answer, self._surroundings.word, quirks.extension, kinds=quirks.kinds)
        if suggestions:
            self._cold_until = 0.0
        if quirks.hides_tags:
            suggestions = completion.settle_ties(completion.drop_hidden_types(suggestions))

        # Requests for edits come after the list, so they cannot change the list.
        # The requests of one list share a deadline.
        resolved_by = time.monotonic() + self._surroundings.timeout

        def resolve(item: dict[str, Any]) -> Any:
            return self._running.resolve(item, resolved_by)

        resolves = resolve if self._engine.auto_import.resolves else None
        if query.removed:
            suggestions = completion.add_edits(suggestions, answer, self._text, encoding, [query.expected], resolves)

        def resolve_imported(item: dict[str, Any]) -> Any:
            # If an item would be imported, the list says from where, so most items need no request.
            return resolve(item) if item.get("detail") or table(item, "labelDetails").get("description") else item

        def find_edits(offers: Sequence[Suggestion]) -> Sequence[Suggestion]:
            try:
                return completion.add_edits(
                    offers, answer, text, encoding, [offer.text for offer in offers], resolve_imported
                )
            except EngineRaised:
                # An editor then accepts the item without the edits.
                return offers

        text, switched_off = self._text, self._engine.auto_import.state(self._engine.auto_imports) == "off"
        return Answer(
            suggestions=suggestions,
            latency=latency * 1000,
            cpu=cpu,
            typed=self._asked,
            dropped=answer.dropped,
            find_edits=find_edits if resolves and not switched_off and not query.removed else None,
        )

    @property
    def _running(self) -> Client:
        if self._client is None:
            raise EngineCrash(f"{self._engine.name} is not running")
        return self._client

    def _send_edits(self, client: Client, caret: int) -> None:
        """Send the edits that the server does not have yet, so that the character before the caret is typed last."""
        if self._is_typed:
            return
        edits, self._edits = self._edits, []
        # If the last edit typed that character, and deleted nothing, all edits are sent as they are.
        if caret == 0 or (edits and edits[-1][2] and not edits[-1][1] and edits[-1][0] + len(edits[-1][2]) == caret):
            client.change(self._sent_text, edits, self._text)
        else:
            # The character before the caret is removed and typed again, since servers complete after typing.
            before, typed, after = self._text[: caret - 1], self._text[caret - 1], self._text[caret:]
            client.change(self._sent_text, [*edits, (caret - 1, 1, "")], before + after)
            client.change(before + after, [(caret - 1, 0, typed)], self._text)
        self._sent_text = self._text
        self._is_typed = True


def _visible_root(place: Place) -> Path:
    """Return the project's root, or a copy if its path has a hidden folder or the project needs links to packages."""
    root = place.root
    links: dict[Path, Path] = {}
    """Path below the root, where Node looks for a package → folder of the package."""
    if place.surroundings.language in ECMASCRIPT:
        members = find_members(root, place.surroundings.sources or ())
        links = {Path("node_modules", name): folder for name, folder in members.items()}
        if environment := place.environment:
            for folder in {root, *members.values()}:
                modules = environment / folder.relative_to(root) / "node_modules"
                for package in (*modules.glob("[!.@]*"), *modules.glob("@*/*")):
                    # Links are skipped: npm made them, and they lead to the manifests that npm was given.
                    if not package.is_symlink():
                        links.setdefault(package.relative_to(environment), package)
    missing = {link: target for link, target in links.items() if not os.path.lexists(root / link)}
    # Some servers ignore all files below a hidden folder.
    if not missing and not any(part.startswith(".") for part in root.parts):
        return root

    def skip(folder: str, names: list[str]) -> set[str]:
        paths = (Path(folder, name) for name in names)
        # Copying a pipe would never end.
        return {".git", *(path.name for path in paths if not (path.is_symlink() or path.is_file() or path.is_dir()))}

    copy = place.base / (root.name.lstrip(".") or "project")
    shutil.copytree(root, copy, symlinks=True, ignore=skip)
    for link, target in missing.items():
        # A link in the project may lead out of the copy.
        if any((copy / folder).is_symlink() for folder in link.parents):
            continue
        (copy / link).parent.mkdir(parents=True, exist_ok=True)
        (copy / link).symlink_to(copy / target.relative_to(root) if target.is_relative_to(root) else target)
    return copy
