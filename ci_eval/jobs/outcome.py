"""The rules by which a run counts as failed."""

from __future__ import annotations

from ci_eval.core.base import errors
from ci_eval.core.config import Config
from ci_eval.core.manifest import Manifest
from ci_eval.core.model import FAILED, SessionScore, Status
from ci_eval.core.rendering.advice import describe_empty_responses
from ci_eval.core.scoring import ResponseCounts
from ci_eval.core.workspace import Workspace


def trouble(workspace: Workspace, config: Config) -> errors.CiEvalError | None:
    manifest = workspace.manifest()
    failed = sum(manifest.statuses.get(name, 0) for name in (status.value for status in FAILED))
    if manifest.finished == 0:
        if manifest.shard and manifest.planned == 0:
            # There are fewer files than shards; other shards have the sessions.
            return None
        return errors.NothingToEvaluate(
            f"none of {manifest.planned:,} planned sessions could be evaluated; see errors/ in the workspace"
        )
    allowed, share = config.interpret.allowed_failures, failed / manifest.finished
    if share <= allowed:
        return _unread(manifest, config) or _unreadable(manifest, config) or _emptiness(workspace, manifest, config)
    return errors.TooManyFailures(
        f"the engine failed on {failed:,} of {manifest.finished:,} sessions ({share:.1%}), allowed are {allowed:.1%} "
        "(interpret.allowedFailures); the report shows them, errors first"
        + (f"\n{manifest.given_up or manifest.trouble}" if manifest.given_up or manifest.trouble else "")
    )


def _unread(manifest: Manifest, config: Config) -> errors.TooMuchUnread | None:
    allowed, share = config.actions.allowed_unparsable, manifest.unparsable
    if share <= allowed:
        return None
    worst = ", ".join([*manifest.unparsable_files][:3])
    return errors.TooMuchUnread(
        f"{share:.1%} of the source could not be read, allowed are {allowed:.1%} (actions.allowedUnparsable), so the "
        f"figures are of the rest alone; most was lost in {worst}. Leave such files out by actions.ignoreFileNames"
    )


def _unreadable(manifest: Manifest, config: Config) -> errors.TooManyUnreadable | None:
    allowed, count = config.engine.allowed_unreadable, manifest.statuses.get(Status.UNREADABLE.value, 0)
    if count <= allowed * manifest.finished:
        return None
    return errors.TooManyUnreadable(
        f"{count:,} of {manifest.finished:,} answers could not be read ({count / manifest.finished:.1%}), allowed are "
        f"{allowed:.1%} (engine.allowedUnreadable): they are no code at their place, or have not the form that was "
        "asked for; the sessions' pages have what the model wrote"
    )


def _emptiness(workspace: Workspace, manifest: Manifest, config: Config) -> errors.NothingSuggested | None:
    statuses, most = manifest.statuses, config.interpret.allowed_empty
    empty = statuses.get("empty", 0)
    # A share of 1 turns the check off.
    if most == 1 or manifest.engine.name == EMPTY:
        return None
    if manifest.endpoint and empty + statuses.get("cut-off", 0) >= most * manifest.finished:
        counts = ResponseCounts()
        for _, sessions in workspace.sessions(SessionScore):
            for session in sessions:
                counts.add(session)
        # Results that are cut off before they begin count as empty, too.
        responses, none = counts.figures(), counts.empty.total()
        if responses is None or none < most * manifest.finished:
            return None
        return errors.NothingSuggested(
            f"the model gave no answer in {none:,} of {manifest.finished:,} sessions: "
            f"{describe_empty_responses(responses)}. With interpret.allowedEmpty: 1 the run counts all the same"
        )
    if empty < most * manifest.finished:
        return None
    return errors.NothingSuggested(
        f"the engine suggested nothing in {empty:,} of {manifest.finished:,} sessions: "
        "it may lack what the project needs (--dependencies), not know where the project is, or want a "
        "letter typed (actions.strategy.prefix); with interpret.allowedEmpty: 1 the run counts all the same"
    )


EMPTY = "empty"
"""The name of the control that never suggests anything, on purpose."""
