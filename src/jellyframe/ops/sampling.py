"""Random samples that depend only on statements and a seed: not on the format, the order or the split of the files.

Each statement, or each subject, has a hash that depends on the seed. A sample of a fraction has the statements whose
hash is below that part of the range; a sample of a number has those with the smallest hashes. So equal statements are
in the sample together or not at all (in a sample of a number, the last one may be cut off).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from jellyframe.batch import Batch
from jellyframe.errors import OptionsError
from jellyframe.ops.fingerprints import seeded_fingerprints
from jellyframe.ops.hashing import statement_hashes, term_column, term_hashes

_HASH_RANGE = 1 << 64
_MIN_KEPT = 1 << 16


@dataclass(frozen=True)
class Sampler:
    """Selects the statements of a sample: those with a hash below `limit`, and the first `ties` at the limit."""

    seed: int = 0
    whole_subjects: bool = False
    limit: int = _HASH_RANGE
    ties: int = 0

    def of_fraction(self, fraction: float) -> Sampler:
        """Return a sampler of about this fraction of the statements, or of the subjects with all their statements."""
        if not 0 <= fraction <= 1:
            raise OptionsError(f"the fraction is {fraction}, and must be between 0 and 1")
        return replace(self, limit=int(fraction * _HASH_RANGE))

    def up_to(self, limit: int, ties: int) -> Sampler:
        """Return a sampler of the hashes below a limit, and of some statements at the limit."""
        return replace(self, limit=limit, ties=ties)

    def hashes(self, batch: Batch) -> pa.Array:
        """Return the hash that decides about each statement."""
        fingerprints = seeded_fingerprints(self.seed)
        if self.whole_subjects:
            return term_hashes(batch, fingerprints)[0].take(term_column(batch.s))
        return statement_hashes(batch, fingerprints)[0]

    def sample(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Yield the statements of the sample."""
        if self.limit >= _HASH_RANGE:
            yield from batches
            return
        limit = pa.scalar(self.limit, pa.uint64())
        ties = self.ties
        for batch in batches:
            hashes = self.hashes(batch)
            mask = pc.less(hashes, limit)
            if ties:
                at_limit = pc.equal(hashes, limit)
                if at_limit.true_count:
                    count = pc.cumulative_sum(at_limit.cast(pa.int64()))
                    wanted = pc.and_(at_limit, pc.less_equal(count, pa.scalar(ties, pa.int64())))
                    ties -= wanted.true_count
                    mask = pc.or_(mask, wanted)
            if mask.true_count:
                yield batch.filter(memoryview(mask.cast(pa.uint8()).buffers()[1])[: len(mask)])

    def smallest(self, batches: Iterable[Batch], number: int) -> pa.Array:
        """Return the smallest hashes, at most `number`, in order; each subject counts once."""
        kept = pa.array([], pa.uint64())
        new: list[pa.Array] = []
        for batch in batches:
            new.append(self.hashes(batch))
            if sum(map(len, new)) >= max(_MIN_KEPT, number):
                kept, new = self._smallest([kept, *new], number), []
        return self._smallest([kept, *new], number)

    def _smallest(self, parts: list[pa.Array], number: int) -> pa.Array:
        hashes = pa.concat_arrays(parts)
        if self.whole_subjects:
            hashes = hashes.unique()
        return hashes.take(pc.sort_indices(hashes)[:number])
