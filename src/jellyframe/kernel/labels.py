"""Labels of blank nodes that N-Triples cannot hold: written in hexadecimal, and turned back where we wrote them."""

from __future__ import annotations

import re
from functools import cache

# Labels that N-Triples cannot hold are written as these letters and the label's bytes in hexadecimal. So are labels
# that begin with these letters themselves: no two labels are ever written alike.
HEX_LABEL = b"hex-"


@cache
def _label_pattern() -> re.Pattern[str]:
    """Return a pattern for labels. Many programs start and never need it, so no import compiles it."""
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
    """Return a label as it stands in N-Triples: as it is where that can be, else in hexadecimal."""
    if _label_pattern().fullmatch(label) and not label.startswith(HEX_LABEL.decode()):
        return label
    # A lone surrogate is in no UTF-8 text; here it is for a person to see, not for a file.
    return hex_label(label.encode("utf-8", "surrogatepass")).decode()


def original_label(label: bytes) -> bytes:
    """Return the label that was written like this; the same, if it cannot have been one in hexadecimal."""
    try:
        original = bytes.fromhex(label.removeprefix(HEX_LABEL).decode())
        original.decode()
    except ValueError:
        return label
    return original if hex_label(original) == label else label
