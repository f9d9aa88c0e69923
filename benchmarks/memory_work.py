"""What the processes of the subject `memory` do: write or read one stream. Run as a module."""

import sys

from jellyframe import ntriples, open_reader, open_writer

from .datasets import DATASETS
from .timing import count


def write(name: str, statements: str, path: str) -> None:
    with open_writer(path) as writer:
        for chunk in DATASETS[name].chunks(int(statements)):
            for batch in ntriples.read(chunk, quads=DATASETS[name].quads):
                writer.write_batch(batch)


def read(path: str) -> None:
    with open_reader(path) as reader:
        count(reader.batches())


def read_statements(path: str) -> None:
    with open_reader(path) as reader:
        count(reader.statements())


if __name__ == "__main__":
    work, *arguments = sys.argv[1:]
    {"write": write, "read": read, "read-statements": read_statements}[work](*arguments)
