"""The formats that we read and write, by their names and by the names of files."""

from __future__ import annotations

import os
from typing import NamedTuple

from jellyframe.errors import OptionsError


class Format(NamedTuple):
    """A format: how it is called here and elsewhere, how its files are called, and what it can do."""

    name: str
    title: str
    other_names: tuple[str, ...]
    extensions: tuple[str, ...]
    has_graphs: bool = False
    is_binary: bool = False


NTRIPLES = Format("nt", "N-Triples", ("ntriples", "n-triples"), ("nt", "ntriples"))
NQUADS = Format("nq", "N-Quads", ("nquads", "n-quads"), ("nq", "nquads"), has_graphs=True)
TURTLE = Format("ttl", "Turtle", ("turtle",), ("ttl", "turtle"))
TRIG = Format("trig", "TriG", (), ("trig",), has_graphs=True)
RDF_XML = Format("rdfxml", "RDF/XML", ("rdf-xml", "xml", "rdf"), ("rdf", "rdfs", "owl", "xml"))
JSON_LD = Format("jsonld", "JSON-LD", ("json-ld",), ("jsonld", "json-ld"), has_graphs=True)
JELLY_TEXT = Format("jelly-text", "Jelly text", ("jellytext",), ("jelly.txt",), has_graphs=True)
JELLY = Format("jelly", "Jelly", (), ("jelly",), has_graphs=True, is_binary=True)
PARQUET = Format("parquet", "Parquet", (), ("parquet",), has_graphs=True, is_binary=True)
CSV = Format("csv", "CSV", (), ("csv",), has_graphs=True)

TEXT_FORMATS = (NTRIPLES, NQUADS, TURTLE, TRIG, RDF_XML, JSON_LD)
INPUT_FORMATS = (*TEXT_FORMATS, JELLY_TEXT)
OUTPUT_FORMATS = (*TEXT_FORMATS, JELLY_TEXT, PARQUET, CSV)

_COMPRESSIONS = {"gz": "gzip", "gzip": "gzip", "zst": "zstd", "zstd": "zstd"}


def names(formats: tuple[Format, ...]) -> str:
    """The names of formats, for help and errors."""
    return ", ".join(known.name for known in formats)


def split_compression(path: str) -> tuple[str, str | None]:
    """The name of a file without what tells its compression, and that compression."""
    stem, _, ending = os.path.basename(path).rpartition(".")
    compression = _COMPRESSIONS.get(ending.lower())
    return (stem, compression) if compression is not None and stem else (os.path.basename(path), None)


def format_by_name(name: str, formats: tuple[Format, ...]) -> Format:
    """The format that an option names."""
    wanted = name.lower().lstrip(".")
    for known in formats:
        if wanted in (known.name, *known.other_names):
            return known
    raise OptionsError(f"the format {name!r} is not one of {names(formats)}")


def format_by_path(path: str, formats: tuple[Format, ...]) -> Format | None:
    """The format that the name of a file tells."""
    stem = split_compression(path)[0].lower()
    for known in formats:
        if any(stem.endswith(f".{extension}") for extension in known.extensions):
            return known
    return None


def input_format(
    name: str | None, path: str | None, formats: tuple[Format, ...], option: str = "--in-format"
) -> Format:
    """The format of an input: the one that was said, or that its name tells."""
    if name is not None:
        return format_by_name(name, formats)
    if path is None:
        raise OptionsError(f"standard input has no name to tell its format: say it with {option} ({names(formats)})")
    found = format_by_path(path, formats)
    if found is None:
        raise OptionsError(f"{path}: the name does not tell the format: say it with {option} ({names(formats)})")
    return found
