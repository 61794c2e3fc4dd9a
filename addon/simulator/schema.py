"""Requests checked against Google's own description of its APIs, where that is installed."""

import importlib.util
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from addon.simulator.errors import Refusal, invalid
from addon.simulator.fieldmask import Mask

_DOCUMENTS = ("sheets.v4.json", "drive.v3.json")


@dataclass(frozen=True, slots=True)
class _Route:
    """One method of an API, as its discovery document describes it."""

    verb: str
    path: re.Pattern[str]
    parameters: Mapping[str, Any]
    request: str | None
    response: str | None
    schemas: Mapping[str, Any]


class Schema:
    """The discovery documents that google-api-python-client carries; inactive where it is not installed."""

    def __init__(self) -> None:
        self._routes: list[_Route] = []
        folder = _folder()
        for name in _DOCUMENTS if folder else ():
            self._routes += _routes(json.loads((Path(str(folder)) / name).read_text("utf-8")))
        # A literal path such as files/generateIds must win over files/{fileId}.
        self._routes.sort(key=lambda route: route.path.pattern.count("[^/]"))

    @property
    def active(self) -> bool:
        """Whether requests are checked."""
        return bool(self._routes)

    def knows(self, verb: str, path: str) -> bool:
        """Whether Google has such a method, as far as is known here."""
        return self._route(verb, path) is not None

    def _route(self, verb: str, path: str) -> _Route | None:
        fitting = (item for item in self._routes if item.verb == verb and item.path.fullmatch(path))
        return next(fitting, None)

    def check(
        self, verb: str, path: str, query: Iterable[tuple[str, str]], body: Any, mask: Mask | None
    ) -> None:
        """Refuse what Google's description does not allow; ``path`` as it was sent, still percent-encoded.

        Raises
        ------
        Refusal
            404 for an unknown method, 400 for an unknown or ill-typed parameter or field.
        """
        if not self.active:
            return
        route = self._route(verb, path)
        if route is None:
            raise Refusal(404, "The requested URL was not found on this server.")
        _check_query(route, list(query))
        if body is not None:
            if route.request is None:
                raise invalid("Invalid JSON payload received. This method takes no body.")
            _check({"$ref": route.request}, body, "", route.schemas)
        if mask is not None and route.response is not None:
            _check_mask(mask, {"$ref": route.response}, route.schemas)


def _folder() -> Path | None:
    found = importlib.util.find_spec("googleapiclient")
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent / "discovery_cache" / "documents"
    return folder if all((folder / name).exists() for name in _DOCUMENTS) else None


def _routes(document: Mapping[str, Any]) -> list[_Route]:
    common = document["parameters"]
    result = []

    def add(method: Mapping[str, Any], path: str) -> None:
        pattern = "".join(
            "[^/]+" if part.startswith("{") else re.escape(part) for part in re.split(r"(\{[^}]*\})", path)
        )
        parameters = {
            name: item
            for name, item in {**common, **method.get("parameters", {})}.items()
            if item["location"] == "query"
        }
        result.append(
            _Route(
                method["httpMethod"],
                re.compile(pattern),
                parameters,
                method.get("request", {}).get("$ref"),
                method.get("response", {}).get("$ref"),
                document["schemas"],
            )
        )

    def walk(resource: Mapping[str, Any]) -> None:
        for method in resource.get("methods", {}).values():
            add(method, "/" + document["servicePath"] + method["path"])
            upload = method.get("mediaUpload", {}).get("protocols", {}).get("simple", {}).get("path")
            if upload:
                add(method, upload)
        for below in resource.get("resources", {}).values():
            walk(below)

    walk(document)
    return result


def _check_query(route: _Route, query: list[tuple[str, str]]) -> None:
    names = [name for name, _ in query]
    for name, value in query:
        known = route.parameters.get(name)
        if known is None:
            raise invalid(
                f'Invalid JSON payload received. Unknown name "{name}": Cannot bind query parameter. '
                f"Field '{name}' could not be found in request message."
            )
        if names.count(name) > 1 and not known.get("repeated"):
            raise invalid(f"Parameter '{name}' may be given only once.")
        kind = known["type"]
        if (
            ("enum" in known and value not in known["enum"])
            or (kind == "boolean" and value not in {"true", "false"})
            or (kind == "integer" and not re.fullmatch(r"-?[0-9]+", value))
        ):
            raise invalid(f"Invalid value at '{name}' ({_type_name(known)}), \"{value}\"")
    for name, known in route.parameters.items():
        if known.get("required") and name not in names:
            raise invalid(f"Required parameter '{name}' is missing.")


def _check(schema: Mapping[str, Any], value: Any, where: str, schemas: Mapping[str, Any]) -> None:
    """Check a value of a body, at any depth."""
    if value is None or schema.get("type") == "any":
        return  # null means that the field is not set
    if "$ref" in schema:
        schema = schemas[schema["$ref"]]
    kind = schema["type"]
    if kind == "object" and isinstance(value, dict):
        _check_object(schema, value, where, schemas)
    elif kind == "array" and isinstance(value, list):
        for position, item in enumerate(value):
            _check(schema["items"], item, f"{where}[{position}]", schemas)
    elif not _fits(schema, value):
        raise invalid(f"Invalid value at '{where}' ({_type_name(schema)}), {json.dumps(value)[:80]}")


def _check_object(
    schema: Mapping[str, Any], value: dict[str, Any], where: str, schemas: Mapping[str, Any]
) -> None:
    properties = schema.get("properties", {})
    for name, item in value.items():
        below = properties.get(name, schema.get("additionalProperties"))
        if below is None:
            place = f" at '{where}'" if where else ""
            raise invalid(f'Invalid JSON payload received. Unknown name "{name}"{place}: Cannot find field.')
        _check(below, item, f"{where}.{name}" if where else name, schemas)


def _fits(schema: Mapping[str, Any], value: Any) -> bool:
    kind = schema["type"]
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "string":
        if schema.get("format") in {"int64", "uint64"} and not isinstance(value, bool):
            return bool(re.fullmatch(r"-?[0-9]+", str(value)))
        return isinstance(value, str) and ("enum" not in schema or value in schema["enum"])
    if kind in {"integer", "number"} and not isinstance(value, bool):
        if kind == "integer":
            return isinstance(value, int) or bool(isinstance(value, str) and re.fullmatch(r"-?[0-9]+", value))
        return isinstance(value, int | float)
    return False


def _type_name(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "TYPE_ENUM"
    return {"boolean": "TYPE_BOOL", "integer": "TYPE_INT32", "number": "TYPE_DOUBLE"}.get(
        schema["type"], f"TYPE_{schema['type'].upper()}"
    )


def _check_mask(mask: Mask, schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> None:
    while "$ref" in schema or schema.get("type") == "array":
        schema = schemas[schema["$ref"]] if "$ref" in schema else schema["items"]
    properties = schema.get("properties", {})
    for name, below in mask.items():
        if name == "*":
            continue
        found = properties.get(name, schema.get("additionalProperties"))
        if found is None:
            raise Refusal(
                400, f"Invalid field selection {name}", reason="invalidParameter", location="fields"
            )
        _check_mask(below, found, schemas)
