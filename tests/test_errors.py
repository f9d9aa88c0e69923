"""Errors: short whatever they quote, with advice in the words of each interface, and whole after pickling."""

from __future__ import annotations

import ast
import pickle
import re
from importlib import metadata
from pathlib import Path

import pytest

from jellyframe import errors
from jellyframe.errors import (
    Advice,
    ErrorParts,
    JellyError,
    LimitError,
    ParseError,
    RemoteError,
    StorageError,
    TextError,
    display_name,
    locating,
    one_line,
    short_line,
    split_advice,
)

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "jellyframe"


def test_messages_stay_short() -> None:
    error = ParseError("x" * 5_000_000 + "the end", source="a.jelly", row=3)
    assert len(str(error)) < 1200
    assert str(error).startswith("a.jelly: row 3: xxx")
    assert str(error).endswith("xxxthe end")
    assert "characters" in str(error)
    assert len(short_line("y" * 5_000_000)) < 350
    assert short_line("short") == "short"


def test_advice_is_worded_by_the_interface() -> None:
    error = LimitError("too large", frame=2, advice=Advice("limit", "max_frame_bytes"))
    assert str(error) == "frame 2: too large; raise Limits.max_frame_bytes if you trust the input"
    assert error.describe(lambda advice: f"change {advice.name}") == "frame 2: too large; change max_frame_bytes"


@pytest.mark.parametrize(
    "error",
    [
        LimitError("m", source="s", frame=1, row=2, offset=3, advice=Advice("limit", "max_frame_bytes")),
        TextError("m", line=1, column=2, source="s"),
        StorageError("m", source="s"),
        RemoteError("m", status="UNAVAILABLE", source="s"),
    ],
)
def test_pickling(error: JellyError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert copy.__dict__ == error.__dict__


def test_storage_errors_are_oserrors() -> None:
    error = StorageError("gone", source="a.jelly")
    assert isinstance(error, OSError)
    assert isinstance(error, ValueError)
    assert str(error) == "a.jelly: gone"


def test_source_names_are_shown_as_text() -> None:
    assert display_name("plain é") == "plain é"
    assert display_name("\udcff.jelly") == r"\xff.jelly"
    assert display_name("\ud800") == r"\ud800"
    assert one_line("a\n\x1b[2J\udcff") == r"a  [2J\xff"


@pytest.mark.parametrize(
    "advice",
    [
        None,
        Advice("limit", "max_frame_bytes"),
        Advice("argument", "concatenated", "True"),
        Advice("argument", "batch_rows"),
        Advice("stream option", "logical_type", "FLAT_QUADS"),
        Advice("stream option", "max_name_table_size"),
        Advice("function", "open_patch_reader", "jellyframe patch"),
    ],
)
def test_advice_is_found_in_the_text_of_an_error(advice: Advice | None) -> None:
    error = LimitError("a frame of 9 bytes; too large", source="a.jelly", advice=advice)
    assert split_advice(str(error)) == ("a.jelly: a frame of 9 bytes; too large", advice)


def test_replaced_errors_are_whole_and_leave_the_first_one_alone() -> None:
    error = TextError("m", line=1, column=2, advice=Advice("argument", "lenient", "True"))
    other = error.replace(source="a.nt", line=7)
    assert type(other) is TextError
    assert str(other) == "a.nt: line 7, column 2: m; set lenient=True"
    assert str(error) == "line 1, column 2: m; set lenient=True"
    assert len(error.replace(message="x" * 5000).message) < 1200
    assert str(error.replace(message="n").args[0]) == "n"


def test_locating_names_the_source_unless_it_is_named() -> None:
    with pytest.raises(ParseError, match=r"^a: m$") as caught, locating("b"), locating("a"):
        raise ParseError("m")
    assert str(caught.traceback[-1].statement).strip() == 'raise ParseError("m")'
    with pytest.raises(StorageError, match=r"^inner: m$"), locating("outer"):
        raise StorageError("m", source="inner")


def test_errors_are_not_changed_on_their_way_up() -> None:
    """Two who hold the same error see the same, and one that is raised again keeps what it said first."""
    changes = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Assign | ast.AugAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Attribute)
        and isinstance(target.value, ast.Name)
        and target.value.id == "error"
        and target.attr in ErrorParts.__annotations__
    ]
    assert changes == []


def test_install_commands_name_extras_that_have_the_package() -> None:
    extras = metadata.metadata("jellyframe").get_all("Provides-Extra") or []
    needed = metadata.requires("jellyframe") or []
    distributions = {"google": "protobuf", "grpc": "grpcio", "grpc_health": "grpcio_health_checking"}
    distributions["grpc_reflection"] = "grpcio_reflection"
    for package, extra in errors._EXTRA_OF_PACKAGE.items():
        brought = {re.split(r"[^\w-]", line)[0].replace("-", "_") for line in needed if extra in line.partition(";")[2]}
        assert extra in extras
        assert distributions.get(package, package) in brought, extra
