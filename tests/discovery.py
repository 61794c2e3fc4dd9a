"""Checks a recorded request against Google's discovery documents: what they do not know, Google refuses."""

import functools
import json
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from scripted import Received

ALIASES = {"$alt"}  # system parameters that the documents list without their second spelling
TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "object": dict,
    "array": list,
}


def problems(service: str, request: Received, *, integer_enums: bool = False) -> list[str]:
    """What is wrong with a request to ``service`` (``sheets.v4``, ``drive.v3``, ``cloudtasks.v2``)."""
    document = _document(service)
    method = _method(service, request.method, request.path)
    if method is None:
        return [f"no method {request.method} {request.path}"]
    found = list(_query_problems(document, method, request))
    body = _json_body(request)
    if body is not None:
        if "request" not in method:
            return [*found, f"{method['id']} takes no body"]
        schema = {"$ref": method["request"]["$ref"]}
        found += _Schemas(document["schemas"], integer_enums).problems(schema, body, "body")
    return found


@functools.cache
def _document(service: str) -> dict[str, Any]:
    folder = files("googleapiclient.discovery_cache") / "documents"
    document: dict[str, Any] = json.loads((folder / f"{service}.json").read_text())
    return document


def _methods(resource: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from resource.get("methods", {}).values()
    for inner in resource.get("resources", {}).values():
        yield from _methods(inner)


@functools.lru_cache(1000)
def _method(service: str, verb: str, asked: str) -> dict[str, Any] | None:
    document = _document(service)
    prefix = "/" + document["servicePath"]
    fitting = []
    for method in _methods(document):
        template = method.get("flatPath", method["path"])
        paths = [prefix + template]
        if "mediaUpload" in method:
            paths = [method["mediaUpload"]["protocols"]["simple"]["path"]] if _is_upload(asked) else paths
        elif _is_upload(asked):
            continue
        for path in paths:
            pattern = re.sub(r"\\\{[^}]*\\\}", "[^/:]+", re.escape(path))
            if method["httpMethod"] == verb and re.fullmatch(pattern, asked):
                fitting.append((template.count("{"), method["id"], method))
    return min(fitting)[2] if fitting else None  # a literal route beats one with a parameter


def _is_upload(path: str) -> bool:
    return path.startswith("/upload/")


def _query_problems(document: dict[str, Any], method: dict[str, Any], request: Received) -> Iterator[str]:
    known = {**document["parameters"], **method.get("parameters", {})}
    for name, values in request.query.items():
        parameter = known.get(name)
        if parameter is None or parameter.get("location") == "path":
            if name not in ALIASES:
                yield f"unknown query parameter {name}"
            continue
        if len(values) > 1 and not parameter.get("repeated"):
            yield f"{name} is given {len(values)} times"
        for value in values:
            if parameter["type"] == "boolean" and value not in {"true", "false"}:
                yield f"{name}={value} is not true or false"
            if parameter["type"] == "integer" and not re.fullmatch(r"-?[0-9]+", value):
                yield f"{name}={value} is not an integer"
            if "enum" in parameter and value not in parameter["enum"]:
                yield f"{name}={value} is not one of {parameter['enum']}"


def _json_body(request: Received) -> Any:
    kind = request.headers.get("Content-Type", "")
    if kind.startswith("multipart/related"):
        boundary = kind.partition("boundary=")[2].encode()
        part = request.body.split(b"--" + boundary)[1]
        return json.loads(part.partition(b"\r\n\r\n")[2])
    return json.loads(request.body) if kind.startswith("application/json") and request.body else None


class _Schemas:
    def __init__(self, schemas: dict[str, Any], integer_enums: bool) -> None:
        self._schemas = schemas
        self._integer_enums = integer_enums

    def problems(self, schema: dict[str, Any], value: Any, where: str) -> Iterator[str]:
        if "$ref" in schema:
            schema = self._schemas[schema["$ref"]]
        kind = schema.get("type", "any")
        if kind == "any":
            return
        if self._integer_enums and "enum" in schema and isinstance(value, int):
            return
        fits = isinstance(value, TYPES[kind]) and not (
            kind in {"integer", "number"} and isinstance(value, bool)
        )
        if not fits:
            yield f"{where} is {type(value).__name__}, not {kind}"
        elif "enum" in schema and value not in schema["enum"]:
            yield f"{where}={value} is not one of {schema['enum']}"
        elif kind == "array":
            for number, item in enumerate(value):
                yield from self.problems(schema["items"], item, f"{where}[{number}]")
        elif kind == "object":
            yield from self._field_problems(schema, value, where)

    def _field_problems(self, schema: dict[str, Any], value: dict[str, Any], where: str) -> Iterator[str]:
        known = schema.get("properties", {})
        others = schema.get("additionalProperties")
        for name, item in value.items():
            if name in known:
                yield from self.problems(known[name], item, f"{where}.{name}")
            elif others is not None:
                yield from self.problems(others, item, f"{where}.{name}")
            else:
                yield f"unknown field {where}.{name}"
