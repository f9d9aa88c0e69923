"""The processes of the subject `memory`, which write or read one stream. Run as a module."""

import sys
from collections.abc import Callable, Iterator

from jellyframe import open_reader, open_writer
from jellyframe.formats import ntriples
from jellyframe.options import DialectName

from .datasets import DATASETS
from .timing import count


class Text:
    """Pieces of text as a file object that cannot seek."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = b""

    def read(self, size: int) -> bytes:
        piece = self._rest or next(self._pieces, b"")
        self._rest = piece[size:]
        return piece[:size]


def write(name: str, statements: str, path: str, dialect: DialectName = "released") -> None:
    dataset = DATASETS[name]
    with open_writer(path, dialect=dialect) as writer:
        for batch in ntriples.read(Text(dataset.chunks(int(statements))), quads=dataset.quads):
            writer.write_batch(batch)


def read(path: str, dialect: DialectName = "released") -> None:
    with open_reader(path, dialect=dialect) as reader:
        count(reader.batches())


def read_statements(path: str) -> None:
    with open_reader(path) as reader:
        count(reader.statements())


if __name__ == "__main__":
    work, *arguments = sys.argv[1:]
    works: dict[str, Callable[..., None]] = {"write": write, "read": read, "read-statements": read_statements}
    works[work](*arguments)
