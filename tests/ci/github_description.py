"""GitHub's own description of its REST API, as JSON schemas: https://github.com/github/rest-api-description.

Octokit publishes it as the npm package @octokit/openapi (MIT). `python -m tests.ci.github_description` writes
github_examples.json anew: its examples, without what their schemas do not require.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

from jsonschema import Draft4Validator

from tests.ci.tools import described_api

EXAMPLES = (
    "full-repository",
    "workflow-run",
    "job",
    "artifact",
    "pull-request",
    "issue",
    "issue-comment",
    "page",
    "pull-request-review-comment",
    "commit-comparison",
    "commit-comment",
    "commit",
    "repo-search-result-item",
)
FILE = Path(__file__).with_name("github_examples.json")
Schema = Mapping[str, Any]


@cache
def description() -> Schema:
    """All of it."""
    return cast("Schema", json.loads(described_api().read_text()))


def operation(method: str, template: str) -> Schema | None:
    """What is said of a method of a path; None if there is no such."""
    return cast("Schema | None", description()["paths"].get(template, {}).get(method.lower()))


def parameters(found: Schema, where: str) -> dict[str, Schema]:
    """The schemas of those in the query, or in the path."""
    known = [_meant(each) for each in found.get("parameters", [])]
    return {each["name"]: each["schema"] for each in known if each["in"] == where}


def body(found: Schema) -> Schema:
    """The schema of what is sent."""
    return _schema(found.get("requestBody", {}))


def response(found: Schema, status: int) -> Schema | None:
    """The schema of an answer; empty where it has no content, None where there is no such status."""
    if str(status) not in found["responses"]:
        return None
    return _schema(_meant(found["responses"][str(status)]))


def _schema(found: Schema) -> Schema:
    return cast("Schema", found.get("content", {}).get("application/json", {"schema": {}})["schema"])


def mistakes(value: object, schema: Schema) -> list[str]:
    """What is wrong with a value."""
    whole = {**_plain(schema), "components": _components()}
    return [f"{error.json_path}: {error.message[:200]}" for error in Draft4Validator(whole).iter_errors(value)]


@cache
def _components() -> Schema:
    return cast("Schema", _plain(description()["components"]))


def _plain(value: Any) -> Any:
    """OpenAPI 3.0 has `nullable` where JSON Schema has another type."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {name: _plain(each) for name, each in value.items()}
    return {"anyOf": [found, {"type": "null"}]} if found.pop("nullable", None) is True else found


def _meant(schema: Schema) -> Schema:
    while "$ref" in schema:
        found: Any = description()
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        schema = found
    return schema


def examples() -> dict[str, Any]:
    """Of each schema in EXAMPLES."""
    known = description()["components"]["examples"]
    return {name: _required(_example(known, name), {"$ref": f"#/components/schemas/{name}"}) for name in EXAMPLES}


def _example(known: Mapping[str, Schema], name: str) -> Any:
    if name in known:
        return known[name]["value"]
    if page := known.get(f"{name}-paginated"):
        return page["value"]["items"][0]
    return known[f"{name}-default-response"]["value"]


def _required(value: Any, schema: Schema) -> Any:
    """Without what is not required, and without what is in lists."""
    schema = _meant(schema)
    if isinstance(value, list):
        return []
    if not isinstance(value, dict):
        return value
    parts = schema.get("allOf") or (schema.get("anyOf") or schema.get("oneOf") or [{}])[:1]
    found = {name: each for part in parts if part for name, each in _required(value, part).items()}
    known = schema.get("properties", {})
    return found | {name: _required(value[name], known[name]) for name in schema.get("required", []) if name in value}


if __name__ == "__main__":
    FILE.write_text(json.dumps(examples(), indent=1) + "\n")
