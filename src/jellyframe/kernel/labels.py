"""Labels of blank nodes that N-Triples cannot hold: written in hexadecimal, and restored when read."""

from __future__ import annotations

import re
from functools import cache

# Labels that N-Triples cannot hold are written as these letters and the label's bytes in hexadecimal. So are labels
# that begin with these letters themselves, so that no two labels are written the same.
HEX_LABEL = b"hex-"


@cache
def _label_pattern() -> re.Pattern[str]:
    """Return the pattern of labels, compiled at the first call, as many programs never need it."""
    # PN_CHARS of the grammar; the compiled scanner of text has the same ranges.
    first = (
        "A-Za-z0-9_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f"
        "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
    )
    later = f"{first}\\-\u00b7\u0300-\u036f\u203f\u2040"
    return re.compile(f"[{first}](?:[{later}.]*[{later}])?")


def hex_label(label: bytes) -> bytes:
    """Return a label in a form that N-Triples can hold."""
    return HEX_LABEL + label.hex().encode()


def written_label(label: str) -> str:
    """Return a label as N-Triples can hold it: unchanged if possible, else in hexadecimal."""
    if _label_pattern().fullmatch(label) and not label.startswith(HEX_LABEL.decode()):
        return label
    # UTF-8 cannot hold a lone surrogate, but this text is shown to a person, not written to a file.
    return hex_label(label.encode("utf-8", "surrogatepass")).decode()


def original_label(label: bytes) -> bytes:
    """Return the label that was written like this: itself, unless `hex_label` wrote it."""
    try:
        original = bytes.fromhex(label.removeprefix(HEX_LABEL).decode())
        original.decode()
    except ValueError:
        return label
    return original if hex_label(original) == label else label
