"""Find the differences between runs (configuration, seeds), and name runs by their differences."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ci_eval.core.base.quoting import short
from ci_eval.core.manifest import Manifest
from ci_eval.core.model.engine import GRAMMAR, Condition, SentConfiguration
from ci_eval.core.workspace import Workspace

COMMON = frozenset({"autoImport", "dependencies", "limits.timeout", "limits.memory", "limits.suggestions"})
"""The settings that have the same meaning for all engines."""
NEITHER = frozenset({None, "none", "unknown"})
LEADING = ("autoImport", "dependencies")


def conditions(base: Manifest, new: Manifest) -> tuple[Condition, ...]:
    """Return the differences in grammar, seeds and settings. Between different engines, only COMMON settings count."""
    read = [Condition(name=GRAMMAR, base=base.grammar, new=new.grammar)] if base.grammar != new.grammar else []
    ours, theirs = ({"seed": str(side.seed), **side.draws} for side in (base, new))
    read += [
        Condition(name=f"seed of the {name}" if name != "seed" else name, base=ours[name], new=theirs[name])
        for name in ours
        if name in theirs and ours[name] != theirs[name]
    ]
    if base.sent is None or new.sent is None:
        return tuple(read)
    kinds = {side.sent.like or side.engine.name for side in (base, new) if side.sent}
    return (*read, *compare_settings(base.sent, new.sent, same_kind=len(kinds) == 1))


def explain_draws(base: Manifest, new: Manifest) -> str:
    """Return why differences are not judged, if different random seeds may explain them; else ""."""
    measured = min(base.rounds, new.rounds) > 1
    # The plain `seed` only selects sessions, and does not matter, since compared sessions are on both sides. A language
    # model gets another seed in each round, so several rounds measure its randomness.
    names = [of.name for of in conditions(base, new) if "seed" in of.name and of.name != "seed"]
    others = [name for name in names if not (measured and name.endswith("sampling.seed"))]
    if not others:
        return ""
    return f"not judged: the random draws differ ({', '.join(others)}); evaluate both sides with the same seed"


def compare_settings(base: SentConfiguration, new: SentConfiguration, *, same_kind: bool) -> tuple[Condition, ...]:
    ours, theirs = dict(list_settings(base)), dict(list_settings(new))
    names = sorted(ours.keys() | theirs.keys(), key=lambda name: (name not in LEADING, name))
    pairs = [(name, ours.get(name), theirs.get(name)) for name in names]
    return tuple(
        Condition(name=name, base=was, new=now)
        for name, was, now in pairs
        if was != now and (same_kind or (name in COMMON and NEITHER.isdisjoint((was, now))))
    )


def list_settings(sent: SentConfiguration) -> Iterator[tuple[str, str]]:
    """Yield the dotted name and JSON value of each setting."""
    for name, value in msgspec.to_builtins(sent).items():
        # `like`, the engine that a command resembles, has an effect only through the settings that follow from it.
        if name != "like":
            yield from _leaves(name, value)


def _leaves(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for key, below in value.items():
            yield from _leaves(f"{name}.{key}", below)
    elif value not in (None, "", {}, [], ()):
        yield name, value if isinstance(value, str) else msgspec.json.encode(value).decode()


def name_sides(
    titles: Mapping[Workspace, str], programs: Mapping[Workspace, str] | None = None
) -> dict[Workspace, str]:
    """Return a unique title for each run. If runs share a title, what differs is added to it: the engine, type of
    completion, ranker or project; if these are equal, settings, then the folder's name, then the start time.
    `programs`: the absolute paths of users' own engines. They are shown, since the versions are mere digests."""
    names = dict(titles)
    paths = programs or {}
    for level in range(4):
        alike: dict[str, list[Workspace]] = defaultdict(list)
        for workspace, name in names.items():
            alike[name].append(workspace)
        for name, group in alike.items():
            facts = [_facts(workspace)[level] for workspace in group]
            if level == 0 and len(group) > 1 and all(workspace in paths for workspace in group):
                # Show paths relative to their common folder. Paths are equal if one program was built several times.
                top = os.path.commonpath([paths[workspace] for workspace in group])
                for workspace, own in zip(group, facts, strict=True):
                    own["engine"] = os.path.relpath(paths[workspace], top)
            keys = dict.fromkeys(key for own in facts for key in own)
            differing = [key for key in keys if len({own.get(key) for own in facts}) > 1]
            # Show commits rather than engines if every run has a commit: the engine's version may be a digest.
            less = "engine" if "revision" in differing and all(own["revision"] for own in facts) else "revision"
            differing = [key for key in differing if key != less][:3]
            # Do not repeat a title that is itself a fact: the JetBrains plugin uses the completion type as title.
            is_fact = any(own.get(key) == name for own in facts for key in differing)
            for workspace, own in zip(group, facts, strict=True):
                texts = [own[key] for key in differing if key in own]
                title, first = name, name.partition(" ")[0]
                if "engine" in differing and workspace in paths and Path(paths[workspace]).stem == Path(first).stem:
                    # The title becomes `main/server` rather than `server, main/server`.
                    title = name.replace(first, texts.pop(differing.index("engine")), 1)
                names[workspace] = ", ".join(texts if is_fact else [title, *texts])
    return names


def _facts(workspace: Workspace) -> tuple[dict[str, str], ...]:
    manifest = workspace.manifest()
    sent = list_settings(manifest.sent) if manifest.sent else ()
    revision = manifest.revision.partition("+")
    engine = {
        "engine": manifest.engine.text,
        "revision": "".join((revision[0][:12], *revision[1:])),
        "completion type": manifest.completion_type,
        "project": f"{manifest.project.name} {manifest.project.revision}",
        **({"ranker": f"ranker {manifest.model[:8]}"} if manifest.model else {}),
    }
    settings = {name: f"{name}={short(value)}" for name, value in sent}
    if manifest.sent and manifest.sent.arguments:
        settings["arguments"] = " ".join(manifest.sent.arguments)
    return engine, settings, {"folder": workspace.folder.name}, {"start": manifest.start}
