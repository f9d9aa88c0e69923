"""Properties that follow from file names: compression, Jelly or not, hidden files, patterns."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from jellyframe.storage.types import Compression

# The extension and media type of Jelly. All other formats are in the registry of `formats`.
JELLY_EXTENSION = "jelly"
JELLY_MEDIA_TYPE = "application/x-jelly-rdf"
# The suffixes of compressed files; the first is the one that we write.
_SUFFIXES: dict[Compression, tuple[str, ...]] = {"gzip": (".gz", ".gzip"), "zstd": (".zst", ".zstd")}
_COMPRESSIONS = {suffix: compression for compression, suffixes in _SUFFIXES.items() for suffix in suffixes}
# Letters of a name that is made of an IRI.
_SAFE_LETTERS = 60
_GLOB = re.compile(r"[*?\[{]")

# Decides by the name of a file whether it is a data file.
NameTest = Callable[[str], bool]


def split_compression(path: str) -> tuple[str, Compression | None]:
    """Return the name of the file at a `path` without the suffix of its compression, and that compression."""
    name = os.path.basename(path)
    stem, suffix = os.path.splitext(name)
    compression = _COMPRESSIONS.get(suffix.lower())
    return (name, None) if compression is None else (stem, compression)


def compression_suffix(compression: Compression | None) -> str:
    """Return the suffix of the names of files with a `compression`."""
    return "" if compression is None else _SUFFIXES[compression][0]


def compression_by_name(sink: object) -> Compression | None:
    """Return the compression that the name of an output tells; None if it is not a path, or tells none."""
    return split_compression(os.fspath(sink))[1] if isinstance(sink, str | os.PathLike) else None


def safe_name(iri: str) -> str:
    """Return the last part of an IRI as a name that is valid in every file system; empty if nothing is left of it."""
    last = re.split(r"[/#:]", iri.strip("<>").rstrip("/#:"))[-1]
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", last).strip("-._")[:_SAFE_LETTERS]


def name_digest(text: str) -> str:
    """Return a short name that is different for every text."""
    from hashlib import blake2b

    return blake2b(text.encode(), digest_size=5).hexdigest()


def is_jelly_name(name: str) -> bool:
    return split_compression(name)[0].lower().endswith(f".{JELLY_EXTENSION}")


def looks_compressed(name: str) -> bool:
    return split_compression(name)[1] is not None


def is_hidden(path: str) -> bool:
    """Return whether a part of a path begins with _ or ., as in Spark."""
    return any(part.startswith(("_", ".")) for part in path.split("/") if part)


def is_pattern(path: str) -> bool:
    return _GLOB.search(path) is not None


def first_glob(pattern: str) -> int:
    """Return the position of the first wildcard in a pattern; the length if there is none."""
    found = _GLOB.search(pattern)
    return len(pattern) if found is None else found.start()


def glob_expression(pattern: str) -> re.Pattern[str]:
    """Return a pattern as a regular expression: * ? [ab] {a,b} within a name, ** for any folders in between."""
    out = ""
    depth = 0
    for part in re.findall(r"\*\*/|\*\*|\[!?[^]]+\]|.", pattern, re.DOTALL):
        if part == "**/":
            out += "(?:.*/)?"
        elif part == "**":
            out += ".*"
        elif part == "*":
            out += "[^/]*"
        elif part == "?":
            out += "[^/]"
        elif part.startswith("[") and len(part) > 1:
            out += part.replace("[!", "[^", 1).replace("\\", "\\\\")
        elif part == "{":
            depth += 1
            out += "(?:"
        elif part in ",}" and depth:
            out += "|" if part == "," else ")"
            depth -= part == "}"
        else:
            out += re.escape(part)
    return re.compile(out + ")" * depth, re.DOTALL)
