"""The protobuf classes, also together with pyjelly's classes of the same names."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("google.protobuf", reason="protobuf is not installed")

from jellyframe.proto import grpc_pb2, patch_pb2, rdf_pb2

PROJECT = Path(__file__).resolve().parents[2]

BOTH = """
{first}
{second}
frame = ours.RdfStreamFrame(metadata={{"key": b"value"}})
frame.rows.add().options.physical_type = ours.PHYSICAL_STREAM_TYPE_QUADS
frame.rows.add().quad.s_triple_term.p_literal.langtag = "pl"
data = frame.SerializeToString()
assert theirs.RdfStreamFrame.FromString(data).SerializeToString(deterministic=True) == data
assert ours.RdfStreamFrame.DESCRIPTOR is not theirs.RdfStreamFrame.DESCRIPTOR
"""
OURS = "from jellyframe.proto import rdf_pb2 as ours, patch_pb2, grpc_pb2"
THEIRS = "import pyjelly.jelly.rdf_pb2 as theirs"


@pytest.mark.parametrize(("first", "second"), [(OURS, THEIRS), (THEIRS, OURS)], ids=["before", "after"])
@pytest.mark.parametrize("implementation", ["upb", "python"])
def test_messages_can_be_imported_before_and_after_pyjelly(first, second, implementation, monkeypatch):
    pytest.importorskip("pyjelly")
    monkeypatch.setenv("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", implementation)
    code = BOTH.format(first=first, second=second)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def described(message):
    return {
        field.number: (
            field.name,
            field.type,
            field.is_repeated,
            field.containing_oneof and field.containing_oneof.name,
            (field.message_type or field.enum_type) and (field.message_type or field.enum_type).full_name,
        )
        for field in message.fields
    }


def test_the_messages_are_those_that_pyjelly_has():
    theirs = pytest.importorskip("pyjelly.jelly.rdf_pb2").DESCRIPTOR
    ours = rdf_pb2.DESCRIPTOR
    assert ours.package == theirs.package
    assert {name: described(message) for name, message in ours.message_types_by_name.items()} == {
        name: described(message) for name, message in theirs.message_types_by_name.items()
    }
    assert {name: dict(rdf_pb2.__dict__[name].items()) for name in ours.enum_types_by_name} == {
        name: {value.name: value.number for value in enum.values} for name, enum in theirs.enum_types_by_name.items()
    }


def test_patches_and_subscriptions_are_made_of_the_same_messages():
    row = patch_pb2.RdfPatchRow(statement_add=rdf_pb2.RdfQuad(s_bnode="b0"))
    assert row.SerializeToString() == b"\x12\x04\x12\x02b0"
    wanted = grpc_pb2.RdfStreamSubscribe(topic="t", requested_options=rdf_pb2.RdfStreamOptions(version=1))
    assert wanted.SerializeToString() == b"\x0a\x01t\x12\x02\x78\x01"


def test_the_service_streams_in_the_right_directions():
    methods = grpc_pb2.DESCRIPTOR.services_by_name["RdfStreamService"].methods_by_name
    assert {name: (m.client_streaming, m.server_streaming) for name, m in methods.items()} == {
        "SubscribeRdf": (False, True),
        "PublishRdf": (True, False),
    }


def test_the_generated_modules_are_up_to_date():
    pytest.importorskip("grpc_tools", reason="protoc is not installed")
    spec = importlib.util.spec_from_file_location("generate_proto", PROJECT / "proto" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    # The stubs differ a little from one protoc to the next.
    for name, text in generate.generated().items():
        if name.endswith(".py"):
            assert (generate.TARGET / name).read_text() == text, f"{name}: run `make proto`"
