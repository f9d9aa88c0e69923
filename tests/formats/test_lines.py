"""Text cut anywhere: every line is read once, whatever the size of the pieces."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from jellyframe.formats.lines import LineRange
from jellyframe.storage.stores import DataFile, Storage
from jellyframe.stream.splits import Piece

LONG = b"x" * 300
TEXTS = {
    "usual": b"".join(b"line %d\n" % i for i in range(40)),
    "no final newline": b"one\ntwo\nthree",
    "CRLF": b"one\r\ntwo\r\n\r\nthree\r\n",
    "empty lines": b"\n\n\none\n\n",
    "a line longer than pieces": b"one\n" + LONG + b"\ntwo\n" + LONG,
    "one line": LONG,
    "empty": b"",
}


def lines_of(file: DataFile, start: int, stop: int, chunk: int) -> bytes:
    with file.open() as source:
        lines = LineRange(source, Piece(file, start, stop))
        text = b""
        while data := lines.read(chunk):
            text += data
        return text


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("chunk", [1, 3, 1000])
def test_pieces_of_any_size_give_every_line_once(name, chunk, tmp_path):
    text = TEXTS[name]
    path = tmp_path / "text"
    path.write_bytes(text)
    file = DataFile(Storage(), str(path), len(text))
    for size in [1, 2, 3, 5, 7, 64, 299, 300, 301, 1000]:
        cuts = [*range(0, len(text), size), len(text)]
        pieces = [lines_of(file, start, stop, chunk) for start, stop in pairwise(cuts)]
        assert b"".join(pieces) == text
        # No line is cut: a piece ends with a line's end, or with the text.
        assert all(piece.endswith(b"\n") for piece in pieces if piece and not text.endswith(piece))
        assert Counter(b"".join(pieces).split(b"\n")) == Counter(text.split(b"\n"))
