"""Properties that follow from file names: format, compression, hidden files, patterns."""

from __future__ import annotations

import re
from collections.abc import Callable

_JELLY_NAME = re.compile(r"\.jelly(\.(gz|gzip|zst|zstd))?$", re.IGNORECASE)
_PATCH_NAME = re.compile(r"\.jellyp(\.(gz|gzip|zst|zstd))?$", re.IGNORECASE)
_COMPRESSED_NAME = re.compile(r"\.(gz|gzip|zst|zstd)$", re.IGNORECASE)
_GLOB = re.compile(r"[*?\[{]")

# Whether the name of a file says that it holds data.
NameTest = Callable[[str], bool]


def is_jelly_name(name: str) -> bool:
    return _JELLY_NAME.search(name) is not None


def is_patch_name(name: str) -> bool:
    return _PATCH_NAME.search(name) is not None


def looks_compressed(name: str) -> bool:
    return _COMPRESSED_NAME.search(name) is not None


def is_hidden(path: str) -> bool:
    """Return whether a part of a path begins with _ or ., as in Spark."""
    return any(part.startswith(("_", ".")) for part in path.split("/") if part)


def is_pattern(path: str) -> bool:
    return _GLOB.search(path) is not None


def first_glob(pattern: str) -> int:
    """Return where the first character of a pattern is that stands for others; the length if there is none."""
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
