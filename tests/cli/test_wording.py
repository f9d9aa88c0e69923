"""Messages use the words of the command line, and advise options that exist."""

from __future__ import annotations

import argparse
import ast
import io
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

import jellyframe
from jellyframe import IRI, Literal, Quad, Triple, dumps, open_writer
from jellyframe.cli.arguments import CommandParser
from jellyframe.cli.commands import build_parser
from jellyframe.cli.wording import describe, fitting_advice, option_words
from jellyframe.errors import Advice
from jellyframe.options import Limits, PhysicalType, StreamOptions
from support.command import error_of, run

SOURCES = sorted(Path(jellyframe.__file__).parent.rglob("*.py"))
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9.-]*[a-z0-9]")
# Of other programs, and of CSS and Java.
_OTHER_OPTIONS = {
    "--add-modules",
    "--print-completion",
    # Of neo4j-admin.
    "--array-delimiter",
    "--multiline-fields",
    "--nodes",
    "--relationships",
}
# A name and a value of advice whose own are made at run time.
_MADE = {"argument": ("in_format", "nt"), "function": ("open_reader", "jellyframe rdf")}
_KINDS = ("limit", "stream option", "argument", "function")


def options_of(parser: CommandParser) -> Iterator[str]:
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from options_of(command)


def strings_in(path: Path) -> Iterator[str]:
    """The text of a module, without docstrings of modules and functions."""
    tree = ast.parse(path.read_text())
    documentation = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.value


def advice_in(path: Path) -> Iterator[Advice]:
    """The advice that a module gives; names that are made at run time stand for one of them."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Advice":
            kind, name, *value = (str(arg.value) if isinstance(arg, ast.Constant) else "" for arg in node.args)
            # Where there is none, it is read from the text of another error.
            for known in get_args(get_type_hints(Advice)["kind"]):
                if kind == known:
                    made = _MADE.get(kind, ("max_name_table_size", "QUADS"))
                    yield Advice(known, name or made[0], "" if not value else value[0] or made[1])


def test_every_option_in_a_message_exists() -> None:
    known = {*options_of(build_parser()), *_OTHER_OPTIONS}
    for path in SOURCES:
        if path.name != "style.py":
            # Text that ends in a hyphen is the beginning of a name that is made at run time.
            texts = [text for text in strings_in(path) if not text.endswith("-")]
            mentioned = {option for text in texts for option in _OPTION.findall(text)}
            assert mentioned <= known, path


def test_every_advice_names_an_option_that_exists() -> None:
    known = set(options_of(build_parser()))
    limits = {field.name for field in fields(Limits)}
    found = [advice for path in SOURCES for advice in advice_in(path)]
    assert found
    for advice in found:
        assert advice.kind in _KINDS
        if advice.kind == "function":
            assert callable(getattr(jellyframe, advice.name))
            build_parser().parse_args([*advice.value.split()[1:], "from-jelly"])
            continue
        options = _OPTION.findall(option_words(advice))
        assert options
        assert set(options) <= known, advice
        assert advice.kind != "limit" or advice.name in limits


def test_no_message_of_a_lower_layer_words_limits_itself() -> None:
    for path in SOURCES:
        if path.name != "errors.py":
            assert not any("raise Limits." in text for text in strings_in(path)), path


def test_limits_in_the_words_of_the_command_line(tmp_path: Path) -> None:
    data = dumps([Triple(IRI("a:s"), IRI("a:p"), Literal("x" * 100_000))])
    error = error_of("rdf", "from-jelly", "--limit", "max_frame_bytes=10k", data=data)
    assert "--limit max_frame_bytes=…" in error
    assert "Limits." not in error
    run("rdf", "from-jelly", "--limit", "max_frame_bytes=1M", data=data)


@pytest.mark.parametrize(
    ("text", "arguments", "expected"),
    [
        ("<< <a:s> <a:p> <a:o> >> <a:p> <a:o> .", ["--opt.rdf-star=false"], "use --opt.rdf-star\n"),
        ("<a:s> _:p <a:o> .", ["--opt.generalized-statements=false"], "use --opt.generalized-statements\n"),
        ('<a:s> <a:p> "1"^^<a:d> .', ["--opt.max-datatype-table-size=0"], "raise --opt.max-datatype-table-size\n"),
    ],
)
def test_stream_options_in_the_words_of_the_command_line(text: str, arguments: list[str], expected: str) -> None:
    data = run("rdf", "to-jelly", "--in-format", "nt", data=text.encode()).out
    error = error_of("rdf", "transcode", *arguments, data=data)
    assert error.endswith(f"; {expected}")
    assert not re.search(r"rdf_star|generalized_statements|table_size", error)


def test_a_command_does_not_advise_an_option_that_it_does_not_have() -> None:
    arguments = argparse.Namespace(overwrite=False)
    error = jellyframe.OptionsError("no", advice=Advice("argument", "save", "'overwrite'"))
    with pytest.raises(jellyframe.OptionsError) as raised, fitting_advice(arguments):
        raise error
    assert describe(raised.value) == "no; use --overwrite"
    with pytest.raises(jellyframe.OptionsError) as raised, fitting_advice(argparse.Namespace()):
        raise error
    assert describe(raised.value) == "no"
    data = b"<a:s> <a:p> <a:o> <a:g> .\n"
    refused = error_of("rdf", "to-jelly", "--in-format=nq", "--opt.physical-type=TRIPLES", data=data)
    assert "--merge-graphs" not in refused


def test_a_lookup_table_that_is_too_small_in_the_words_of_each_interface() -> None:
    triple = Triple(IRI("a:0"), IRI("a:1"), IRI("a:2"))
    for number in range(3, 30, 2):
        triple = Triple(triple, IRI(f"a:{number}"), IRI(f"a:{number + 1}"))
    with pytest.raises(jellyframe.EncodeError, match="; raise max_name_table_size in the options") as raised:
        dumps([triple], jellyframe.StreamOptions(max_name_table_size=8))
    assert describe(raised.value).endswith("; raise --opt.max-name-table-size")


@pytest.mark.parametrize("switch", [[], ["--json"]])
def test_a_report_in_the_words_of_the_command_line(switch: list[str]) -> None:
    statement = Triple(IRI("a:s"), IRI("a:p"), IRI("a:o"))
    streams = []
    for name in ("one", "two"):
        sink = io.BytesIO()
        with open_writer(sink, jellyframe.StreamOptions(stream_name=name)) as writer:
            writer.write([statement])
        streams.append(sink.getvalue())
    report = run("rdf", "validate", *switch, data=b"".join(streams), code=1).out.decode()
    assert "use --concatenated" in report
    assert "concatenated=" not in report
    run("rdf", "validate", "--concatenated", *switch, data=b"".join(streams))


def test_long_literals_are_not_quoted_whole(tmp_path: Path) -> None:
    path = tmp_path / "long.jelly"
    with open_writer(path) as writer:
        writer.write([Quad(IRI("a:s"), IRI("a:p"), Literal("x" * 5_000_000), IRI("a:g"))])
    for arguments in (
        ["from-jelly", "--out-format", "nt"],
        ["from-jelly", "--out-format", "ttl"],
        ["transcode", "--opt.physical-type", "TRIPLES"],
    ):
        error = error_of("rdf", *arguments, path)
        assert len(error) < 1500
        assert "--merge-graphs" in error
    (tmp_path / "other.nq").write_text('<a:s> <a:p> "y" <a:g> .\n')
    for extra in ([], ["--compare-ordered"]):
        done = run("rdf", "validate", path, "--compare-to-rdf-file", tmp_path / "other.nq", *extra, code=1)
        assert len(done.out) < 3000
    long = b'<a:s> <a:p> "' + b"x" * 5_000_000 + b'"@- .\n'
    for name in ("nt", "ttl"):
        assert len(error_of("rdf", "to-jelly", "--in-format", name, data=long)) < 1500


@pytest.mark.parametrize("error", [RuntimeError("x" * 10**6), ValueError("y" * 10**6)])
def test_errors_of_other_libraries_are_shortened(error: Exception) -> None:
    assert len(describe(error)) < 1200


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["rdf", "to-jelly", "--opt.max-name-table-size", "4"],
            "--opt.max-name-table-size is 4, and must be at least 8",
        ),
        (["rdf", "to-jelly", "--rows-per-frame", "9" * 30], f"--rows-per-frame is {'9' * 30}, and must be at most"),
        (["rdf", "to-jelly", "--restart-every", "0"], "--restart-every is 0, and must be at least 1"),
        (["rdf", "transcode", "--restart-every", "0"], "--restart-every is 0, and must be at least 1"),
        (["patch", "to-jelly", "--opt.max-name-table-size", "4"], "--opt.max-name-table-size is 4, and must be"),
        (["grpc", "serve", "--log-level", "loud"], "--log-level is 'loud', and must be one of debug"),
        (["grpc", "serve", "--listen", "here"], "--listen: 'here' is not an address"),
    ],
)
def test_values_of_settings_in_the_words_of_the_command_line(arguments: list[str], expected: str) -> None:
    data = run("rdf", "to-jelly", "--in-format=nt").out if "transcode" in arguments else b""
    extra = ["--in-format=nt"] if arguments[:2] == ["rdf", "to-jelly"] else []
    assert error_of(*arguments, *extra, data=data).startswith(f"jellyframe: error: {expected}")


def test_a_setting_of_the_input_is_not_taken_for_an_option() -> None:
    options = StreamOptions(physical_type=PhysicalType.TRIPLES, max_name_table_size=8)
    data = dumps([Triple(IRI("a:s"), IRI("a:p"), IRI("a:o"))], options)
    changed = data.replace(options.to_bytes(), options.replace(max_name_table_size=4).to_bytes())
    assert changed != data
    error = error_of("rdf", "transcode", "--opt.max-name-table-size", "16", data=changed)
    assert "row 0" in error
    assert ": max_name_table_size is 4, and must be at least 8" in error


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["invert", "unnamed"], "--patch-format"),
        (["compact", "unnamed"], "--patch-format"),
        (["log", "unnamed"], "--patch-format"),
        (["apply", "some.nt", "unnamed"], "--patch-format"),
        (["transcode", "unnamed"], "--in-format"),
        (["diff", "some.nt", "some.nt", "--to", "unnamed"], "--out-format"),
        (["invert", "some.rdfp", "--to", "unnamed"], "--out-format"),
    ],
)
def test_patches_of_an_unknown_format_name_the_option_that_tells_it(
    arguments: list[str], option: str, tmp_path: Path
) -> None:
    for name in ("unnamed", "some.nt", "some.rdfp"):
        (tmp_path / name).touch()
    done = run("patch", *arguments, cwd=tmp_path, code=2)
    assert done.err.endswith(f"(jelly-patch, rdfp); use {option}=…\n")


def test_a_stream_of_the_other_kind_names_the_command_for_it() -> None:
    patches = run("patch", "to-jelly", data=b"A <a:s> <a:p> <a:o> .\n").out
    statements = run("rdf", "to-jelly", "--in-format=nt", data=b"<a:s> <a:p> <a:o> .\n").out
    for command in ("from-jelly", "transcode", "inspect"):
        assert error_of("rdf", command, data=patches).endswith("; read it with `jellyframe patch`\n")
        assert error_of("patch", command, data=statements).endswith("; read it with `jellyframe rdf`\n")
