"""The examples of help texts, the README and the documentation, and the files that they work on."""

from __future__ import annotations

import argparse
import gzip
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import jellyframe
from jellyframe import DEFAULT_GRAPH, IRI, Literal, LogicalType, PhysicalType, Quad, StreamOptions, Triple
from jellyframe.cli.commands import build_parser
from jellyframe.ops.patches.converting import convert_patches

ROOT = Path(__file__).parents[2]
_PERSON, _NAME = "https://people.example.org/id/p", IRI("http://xmlns.com/foaf/0.1/name")

# Programs that examples use beside ours, as far as the examples need them.
_PROGRAMS = {
    "jellyframe": f'exec {sys.executable} -m jellyframe "$@"',
    "curl": 'cat "$(basename "$2")"',
    "less": "cat",
    "jq": f'exec {sys.executable} -c "import json, sys; json.load(sys.stdin)"',
}


class Example(NamedTuple):
    """A command line, and where it is shown."""

    place: str
    command: str

    @property
    def needs_spark(self) -> bool:
        return "jellyframe spark" in self.command

    @property
    def needs_server(self) -> bool:
        """Whether it is a gRPC server that runs on, or a client of one."""
        return "jellyframe grpc" in self.command

    @property
    def is_server(self) -> bool:
        """Whether the command serves over HTTP until it is ended."""
        return "jellyframe http serve" in self.command or "jellyframe view" in self.command


def help_examples() -> list[Example]:
    """The examples of every command's help."""
    return list(_of_parser(build_parser()))


def _of_parser(parser: argparse.ArgumentParser) -> Iterator[Example]:
    _, _, examples = (parser.epilog or "").partition("examples:\n")
    for line in examples.split("\n\n")[0].splitlines():
        yield Example(parser.prog, line.strip())
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from _of_parser(child)


def page_commands(page: str) -> list[Example]:
    """The commands of a page of the documentation that call `jellyframe`: lines of code after a prompt."""
    found = re.findall(r"^ {4}\$ (.+)$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    return [Example(page, line) for line in found if "jellyframe" in line]


def page_programs(page: str) -> list[str]:
    """The Python programs of a page: blocks of code with neither a prompt nor a continuation of one."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"(?:^(?: {4}.*| *)\n)+", text, re.MULTILINE)
    programs = [re.sub(r"^ {4}", "", block, flags=re.MULTILINE).strip() for block in blocks]
    return [program for program in programs if re.search(r"^(import|from|with|[a-z]+ =) ?", program, re.MULTILINE)]


def run_command(command: str, folder: Path) -> str:
    """Run a command line of an example in a folder with its files. It has to succeed without a word of complaint."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    # A difference between data sets is no failure.
    assert done.returncode == 0 or ("patch diff" in command and done.returncode == 1), done
    assert "error" not in done.stderr, done
    return done.stdout


def make_files(folder: Path) -> None:
    """Make all files and programs that the examples name."""
    (folder / "bin").mkdir()
    for name, script in _PROGRAMS.items():
        path = folder / "bin" / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    people = [Triple(IRI(f"{_PERSON}{number:07}"), _NAME, Literal(f"Anna {number}")) for number in range(100)]
    text = "".join(f"{triple.to_line()}\n" for triple in people)
    for name in ("people", "data"):
        (folder / f"{name}.nt").write_text(text)
        (folder / f"{name}.nt.gz").write_bytes(gzip.compress(text.encode()))
        (folder / f"{name}.ttl").write_text(text)
        (folder / f"{name}.nq").write_text(text)
    for folder_name in ("dump", "dumps/people", ".zfunc", ".config/fish/completions"):
        (folder / folder_name).mkdir(parents=True)
    for name in ("dump/people.nt.gz", "more.nq.gz"):
        (folder / name).write_bytes(gzip.compress(text.encode()))
    for name in ("people", "data", "old", "part-1", "part-2", "a", "b", "all", "monday", "tuesday", "dumps/people/1"):
        with jellyframe.open_writer(folder / f"{name}.jelly") as writer:
            writer.write(people)
    with jellyframe.open_writer(folder / "people-draft.jelly", dialect="draft") as writer:
        writer.write(people)
    (folder / "people.jelly.gz").write_bytes(gzip.compress((folder / "people.jelly").read_bytes()))
    (folder / "all.nq").write_text(text)
    (folder / "server.toml").write_text('listen = "127.0.0.1:0"\ntopics.sensors = "log:sensors"\n')
    for name in ("message", "expected"):
        with jellyframe.open_writer(
            folder / f"{name}.jelly", StreamOptions.small(), delimited=name != "message"
        ) as writer:
            writer.write(people[:3])
    with jellyframe.open_writer(folder / "large-tables.jelly", StreamOptions(max_name_table_size=1 << 19)) as writer:
        writer.write(people)
    for ending in ("nq", "ttl"):
        (folder / f"old.{ending}").write_text(text)
        (folder / f"new.{ending}").write_text("".join(f"{triple.to_line()}\n" for triple in people[5:]))
    _make_graphs(folder)
    _make_patches(folder)


def _make_patches(folder: Path) -> None:
    """Changes, as RDF Patch text and as Jelly-Patch."""
    lines = "".join(
        f'H id <urn:uuid:{number}> .\nTX .\nA <{_PERSON}{number}> {_NAME} "Anna" .\n'
        f'D <{_PERSON}{number}> {_NAME} "Ann" .\nTC .\n'
        for number in range(3)
    )
    (folder / "changes.rdfp.gz").write_bytes(gzip.compress(lines.encode()))
    for name in ("changes", "monday", "tuesday", "day-1", "day-2"):
        (folder / f"{name}.rdfp").write_text(lines)
        convert_patches(folder / f"{name}.rdfp", folder / f"{name}.jellyp")


def _make_graphs(folder: Path) -> None:
    """A stream of datasets, its first three frames as TriG, and some graphs as TriG."""
    graph = IRI("http://example.org/graph")
    frames = [
        [Quad(IRI(f"{_PERSON}{frame}"), _NAME, Literal("Anna"), graph), Quad(graph, _NAME, Literal("G"), DEFAULT_GRAPH)]
        for frame in range(5)
    ]
    options = StreamOptions(PhysicalType.QUADS, LogicalType.DATASETS)
    with jellyframe.open_writer(folder / "graphs.jelly", options) as writer:
        for frame in frames:
            writer.write_frame(frame)
    triples = [(quad.g, f"{quad.s} {quad.p} {quad.o} .") for frame in frames[:3] for quad in frame]
    lines = "".join(f"{line}\n" if place == DEFAULT_GRAPH else f"{place} {{ {line} }}\n" for place, line in triples)
    (folder / "first.trig").write_text(lines)
    (folder / "graphs.trig").write_text(f"@prefix ex: <http://example.org/> .\n{lines}")


def run_programs(page: str, folder: Path) -> str:
    """Run the programs of a page as one, in a folder, and return what they print."""
    source = "\n\n".join(page_programs(page))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", source], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def named_tests(page: str) -> list[tuple[str, str]]:
    """The tests that a page names: each with its file, which is empty if the page leaves it out."""
    return re.findall(r"(?:`(test_\w+\.py)`: )?`(test_\w+)`", (ROOT / page).read_text(encoding="utf-8"))


def unnamed_tests(source: str, page: str) -> list[str]:
    """The tests of a source that a page does not name."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [name for name in re.findall(r"^def (test_\w+)\(", source, re.MULTILINE) if f"`{name}`" not in text]
