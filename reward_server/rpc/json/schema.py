"""Describes messages of the contract by JSON schemas, as OpenAPI takes them."""

from __future__ import annotations

from typing import Any

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from codereward.unknown import repeated_fields
from codereward.v1 import reward_service_pb2 as pb

Schema = dict[str, Any]

SCORE_REQUEST, SCORE_RESPONSE = "ScoreRequest", "ScoreResponse"
SCORE_BATCH_REQUEST, SCORE_BATCH_RESPONSE = "ScoreBatchRequest", "ScoreBatchResponse"
SERVER_INFO = "GetServerInfoResponse"
_ROOTS = (SCORE_REQUEST, SCORE_RESPONSE, SCORE_BATCH_REQUEST, SCORE_BATCH_RESPONSE, SERVER_INFO)

_NUMBERS = {FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT}
_WHOLE = {FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_UINT32}
# Protobuf's JSON form writes these as texts, and reads numbers too.
_LONG = {FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT64}


def schemas() -> dict[str, Schema]:
    """Returns the schemas of all messages that the JSON form of judging uses, by name."""
    found: dict[str, Schema] = {}
    for name in _ROOTS:
        _add(pb.DESCRIPTOR.message_types_by_name[name], found)
    return found


def reference(name: str) -> Schema:
    """Returns a reference to the schema of a message."""
    return {"$ref": f"#/components/schemas/{name}"}


def _add(kind: Descriptor | EnumDescriptor, found: dict[str, Schema]) -> Schema:
    if kind.name not in found:
        found[kind.name] = {}
        found[kind.name] = (
            {"type": "string", "enum": [value.name for value in kind.values]}
            if isinstance(kind, EnumDescriptor)
            else _object(kind, found)
        )
    return reference(kind.name)


def _object(kind: Descriptor, found: dict[str, Schema]) -> Schema:
    repeated = repeated_fields(kind)
    fields = {field.name: _field(field, found, field.name in repeated) for field in kind.fields}
    return {"type": "object", "properties": fields}


def _field(field: FieldDescriptor, found: dict[str, Schema], is_repeated: bool) -> Schema:
    kind = field.message_type
    if kind is not None and kind.GetOptions().map_entry:
        return {
            "type": "object",
            "additionalProperties": _one(kind.fields_by_name["value"], found),
        }
    if is_repeated:
        return {"type": "array", "items": _one(field, found)}
    return _one(field, found)


def _one(field: FieldDescriptor, found: dict[str, Schema]) -> Schema:
    kind = field.message_type or field.enum_type
    if kind is not None:
        return _add(kind, found)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return {"type": "string", "format": "byte"}
    if field.cpp_type in _NUMBERS:
        return {"type": "number"}
    if field.cpp_type in _WHOLE:
        return {"type": "integer"}
    if field.cpp_type in _LONG:
        return {"type": "string", "format": "int64"}
    return {"type": "boolean" if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL else "string"}
