"""Labels of blank nodes that N-Triples cannot hold: written in hexadecimal, and turned back where we wrote them."""

from __future__ import annotations

# Labels that N-Triples cannot hold are written as these letters and the label's bytes in hexadecimal. So are labels
# that begin with these letters themselves: no two labels are ever written alike.
HEX_LABEL = b"hex-"


def hex_label(label: bytes) -> bytes:
    """A label in a form that N-Triples can hold."""
    return HEX_LABEL + label.hex().encode()


def original_label(label: bytes) -> bytes:
    """The label that was written like this; the same, if it cannot have been one in hexadecimal."""
    try:
        original = bytes.fromhex(label.removeprefix(HEX_LABEL).decode())
        original.decode()
    except ValueError:
        return label
    return original if hex_label(original) == label else label
