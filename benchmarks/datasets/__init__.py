"""Seeded data sets of any length as N-Triples or N-Quads text.

A data set is the same for the same seed on every machine, and a shorter one is the beginning of a longer one.
Nothing is kept but a small vocabulary, so a stream of any length needs little memory.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from . import articles, nanopubs, people, sensors, star

DEFAULT_SEED = 20_250_101
CHUNK_STATEMENTS = 8192

Blocks = Callable[[random.Random], Iterator[list[str]]]


@dataclass(frozen=True)
class Dataset:
    """One kind of data; `blocks` yields without end the lines of one entity after the other."""

    name: str
    description: str
    blocks: Blocks
    quads: bool = False
    rdf_star: bool = False

    @property
    def suffix(self) -> str:
        return ".nq" if self.quads else ".nt"

    def chunks(self, statements: int, *, seed: int = DEFAULT_SEED) -> Iterator[bytes]:
        """Yield the given number of statements, one per line, as UTF-8 text in pieces of whole lines."""
        remaining = statements
        pending: list[str] = []
        for block in self._blocks(seed):
            pending += block[:remaining]
            remaining -= min(len(block), remaining)
            if len(pending) >= CHUNK_STATEMENTS or not remaining:
                if pending:
                    yield "".join(pending).encode()
                pending.clear()
            if not remaining:
                return

    def text(self, statements: int, *, seed: int = DEFAULT_SEED) -> bytes:
        return b"".join(self.chunks(statements, seed=seed))

    def groups(self, count: int, *, seed: int = DEFAULT_SEED) -> Iterator[bytes]:
        """Yield the text of a number of entities, one piece each."""
        for _, block in zip(range(count), self._blocks(seed), strict=False):
            yield "".join(block).encode()

    def write(self, path: Path, statements: int, *, seed: int = DEFAULT_SEED) -> None:
        with path.open("wb") as file:
            file.writelines(self.chunks(statements, seed=seed))

    def _blocks(self, seed: int) -> Iterator[list[str]]:
        # Seeded by module, so that both spellings of `star` describe the same facts.
        topic = self.blocks.__module__.rpartition(".")[2]
        return self.blocks(random.Random(f"{seed} {topic}"))


DATASETS = {
    dataset.name: dataset
    for dataset in (
        Dataset("sensors", "sensor observations: short typed literals, many new subjects", sensors.blocks),
        Dataset("people", "people and links: blank nodes, names, language tags", people.blocks),
        Dataset("articles", "articles with long literals, escapes and language tags", articles.blocks),
        Dataset("nanopubs", "nanopublications: four named graphs each", nanopubs.blocks, quads=True),
        Dataset("star", "annotated facts: quoted triples, some nested", star.blocks, rdf_star=True),
    )
}

GROUPED = Dataset("grouped", "many small data sets of 7 to 15 quads", nanopubs.small_blocks, quads=True)

# For readers that know RDF 1.2 and not RDF-star; not one of the five.
STAR_REIFIED = Dataset(
    "star-reified", "the data set `star` with reifiers instead of quoted subjects", star.reified_blocks
)
