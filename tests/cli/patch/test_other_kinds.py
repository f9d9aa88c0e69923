"""Patches given to commands on RDF data, and the reverse: the error says what the file is, and nothing else."""

from __future__ import annotations

import gzip

import pytest

from support.command import run

PATCH = run("patch", "to-jelly", data=b"TX .\nA <x:s> <x:p> <x:o> .\nTC .\n").out
COMMANDS = [("from-jelly",), ("transcode",), ("inspect",), ("validate",), ("from-jelly", "--recover")]


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
@pytest.mark.parametrize("dialect", [(), ("--dialect=released",), ("--dialect=draft",)])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_patch_given_to_commands_on_data(
    command: tuple[str, ...], dialect: tuple[str, ...], compress: type[bytes]
) -> None:
    done = run("rdf", *command, *dialect, data=compress(PATCH), code=1 if command == ("validate",) else 2)
    told = done.out.decode() + done.err
    assert "this is a Jelly-Patch stream, not one of RDF statements" in told
    assert "`jellyframe patch`" in told
    assert "dialect" not in told


@pytest.mark.parametrize("dialect", ["released", "draft"])
@pytest.mark.parametrize(
    "command", [("from-jelly",), ("transcode",), ("inspect",), ("validate",), ("log",), ("invert",)]
)
def test_data_given_to_commands_on_patches(command: tuple[str, ...], dialect: str) -> None:
    data = run("rdf", "to-jelly", "--in-format=nt", "--dialect", dialect, data=b"<x:s> <x:p> <x:o> .\n").out
    done = run("patch", *command, data=data, code=1 if command == ("validate",) else 2)
    told = done.out.decode() + done.err
    assert "this is a stream of RDF statements, not a Jelly-Patch stream" in told
    assert "`jellyframe rdf`" in told
    assert "dialect" not in told
