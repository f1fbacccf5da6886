"""The OpenAPI document, made from the endpoints and the records that check their requests.

Source: OpenAPI Specification 3.1.1, 2024.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from koderz_core import __version__
from koderz_core.serve.endpoint import JSON, Endpoint
from koderz_core.serve.records import ErrorAnswer

_TEMPLATE = "#/components/schemas/{name}"
_FAILURES = ("4XX", "5XX")


def document(endpoints: Iterable[Endpoint]) -> Mapping[str, Any]:  # Any: JSON
    """The description of all endpoints."""
    listed = list(endpoints)
    types = [
        kind for each in listed for kind in (each.body, each.query, each.answer) if kind and not isinstance(kind, str)
    ]
    _, schemas = msgspec.json.schema_components([*types, ErrorAnswer], ref_template=_TEMPLATE)
    paths: dict[str, dict[str, object]] = {}
    for each in listed:
        paths.setdefault(each.path, {})[each.method.lower()] = _operation(each, schemas)
    return {
        "openapi": "3.1.1",
        "info": {"title": "koderz serve", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _operation(endpoint: Endpoint, schemas: Mapping[str, Any]) -> Mapping[str, object]:
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in endpoint.parameters
    ]
    in_query = [
        {"name": name, "in": "query", "required": False, "schema": schema}
        for name, schema in schemas[endpoint.query.__name__]["properties"].items()
    ]
    body = {"requestBody": {"required": True, "content": _content(endpoint.body)}} if endpoint.body else {}
    return {
        "summary": endpoint.summary,
        "operationId": endpoint.handle.__name__,
        "parameters": [*in_path, *in_query],
        **body,
        "responses": {
            str(endpoint.status): {"description": "Success", "content": _content(endpoint.answer)},
            **{code: {"description": "Failure", "content": _content(ErrorAnswer)} for code in _FAILURES},
        },
    }


def _content(kind: Any) -> Mapping[str, object]:  # Any: as ``Endpoint.answer``
    if isinstance(kind, str):
        return {kind: {}}
    (schema,), _ = msgspec.json.schema_components([kind], ref_template=_TEMPLATE)
    return {JSON: {"schema": schema}}
