"""Each test of the suite's `from_jelly` manifest through every command that reads Jelly, in this process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import jellyframe
from jellyframe.cli.main import main
from support.conformance_checking import RefusedError, assert_conforms, read_text
from support.conformance_manifest import Entry
from support.plain import PlainStatement, plain


class Commands:
    """Runs commands, of which those that fail say why in one line and leave no output."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[bytes]) -> None:
        self._folder = folder
        self._capture = capture

    def output(self, *words: str | Path, to: str) -> Path:
        """Run a command that writes a file."""
        target = self._folder / to
        code = main([*map(str, words), "--to", str(target)])
        captured = self._capture.readouterr()
        if code:
            assert code == 2
            assert captured.err.startswith(b"jellyframe: error: ")
            assert captured.err.count(b"\n") == 1
            assert list(self._folder.iterdir()) == []
            raise RefusedError(captured.err.decode())
        assert captured.err == b""
        return target

    def from_jelly(self, source: Path) -> list[PlainStatement]:
        return read_text(self.output("rdf", "from-jelly", source, to="out.nq"))

    def transcode(self, source: Path, *options: str) -> list[PlainStatement]:
        """With and without `concatenated` the output means the same."""
        path = self.output("rdf", "transcode", source, *options, to="out.jelly")
        with jellyframe.open_reader(path, concatenated=True) as reader:
            statements = plain(reader.statements())
        with jellyframe.open_reader(path) as reader:
            assert plain(reader.statements()) == statements
        return statements

    def transcode_small(self, source: Path) -> list[PlainStatement]:
        return self.transcode(source, "--preset=small", "--opt.stream-name=other")


@pytest.fixture
def commands(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Commands:
    return Commands(tmp_path, capfdbinary)


def test_from_jelly(from_jelly_entry: Entry, commands: Commands) -> None:
    assert_conforms(from_jelly_entry, commands.from_jelly)


def test_transcode(from_jelly_entry: Entry, commands: Commands) -> None:
    assert_conforms(from_jelly_entry, commands.transcode)


def test_transcode_to_other_options(from_jelly_entry: Entry, commands: Commands) -> None:
    assert_conforms(from_jelly_entry, commands.transcode_small)


def test_validate(from_jelly_entry: Entry, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    (source,) = map(str, from_jelly_entry.action)
    # Tables that are too large are refused, which is no answer.
    assert main(["rdf", "validate", source]) in ((0,) if from_jelly_entry.positive else (1, 2))
    if not from_jelly_entry.positive:
        return
    for frame, result in enumerate(from_jelly_entry.result):
        compared = ["--compare-to-rdf-file", str(result), "--compare-frame-indices", str(frame)]
        for order in ("--compare-ordered=false", "--compare-ordered=true"):
            assert main(["rdf", "validate", source, *compared, order]) == 0, capfdbinary.readouterr()


def test_inspect(from_jelly_entry: Entry, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """The structure can be counted in bad streams, too; their content cannot."""
    (source,) = map(str, from_jelly_entry.action)
    assert main(["rdf", "inspect", source, "--detail=all", "--json"]) == 0
    found = json.loads(capfdbinary.readouterr().out)["frames"]
    if from_jelly_entry.positive:
        expected = [len(read_text(path)) for path in from_jelly_entry.result]
        assert (found["frame_count"], found["statement_count"]) == (len(expected), sum(expected))
    code = main(["rdf", "inspect", source, "--size", "--json"])
    assert code == (0 if from_jelly_entry.positive else 2), capfdbinary.readouterr()
