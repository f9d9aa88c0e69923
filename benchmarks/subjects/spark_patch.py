"""Patches on Spark: `apply` of changes to a twentieth of the statements against `merge --distinct` of the same data.

Half of the changes delete statements, the others add new ones. With `--spark-statements 20000000` these are a million
changes. Hashes of the statements check beforehand that the result is exact.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..comparison import against_peer, measurement
from ..datasets import DATASETS
from ..registry import Measurement, Row, Settings, once
from ..timing import Contestant

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from jellyframe.batch import Batch

DATASET = "people"
MEMORY_LIMIT = 1e9
_CHANGED = 40
APPLY = Row("spark-apply", "Spark: apply changes to 1 of 20 statements", "merge --distinct", "statements/s", 0.5)
MEMORY = Row("spark-apply-memory", "Spark: apply, peak of a Python worker", "1 GB", "bytes", 1.0, at_most=True)


@once("spark-patch", APPLY, MEMORY)
def measure(settings: Settings, wanted: frozenset[str]) -> Iterator[Measurement]:
    # Imported here, so that the other subjects need no Spark.
    from ..spark_session import started_session, worker_peak_bytes

    settings.directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=settings.directory) as folder, started_session() as spark:
        files = _Files(Path(folder).absolute(), settings.spark_statements)
        apply = Contestant(lambda: files.apply(spark), files.statements)
        apply.run()
        files.require_exact()
        if MEMORY.name in wanted:
            yield measurement(MEMORY, DATASET, worker_peak_bytes(spark), MEMORY_LIMIT)
        if APPLY.name in wanted:
            merge = Contestant(lambda: files.merge(spark), files.statements)
            merge.run()
            yield from against_peer(settings, DATASET, merge, {APPLY: apply}, wanted)


class _Files:
    """Data, a patch for it, and the results of jobs on them."""

    def __init__(self, folder: Path, statements: int) -> None:
        from jellyframe import PatchOptions, PatchStatementType, PatchStreamType, open_patch_writer, open_writer
        from jellyframe.formats import ntriples
        from jellyframe.kernel.patch_fields import PATCH_ADD, PATCH_DELETE
        from jellyframe.ops.patches.core import with_operation

        self.statements = statements
        self._data, self._patch = str(folder / "data.jelly"), str(folder / "changes.jellyp")
        self._applied, self._merged = str(folder / "applied"), str(folder / "merged")
        olds: list[Any] = []
        removed: list[Any] = []
        news: list[Any] = []
        text = folder / "data.nt"
        DATASETS[DATASET].write(text, statements + statements // _CHANGED)
        options = PatchOptions(PatchStatementType.TRIPLES, PatchStreamType.FLAT)
        written = 0
        with open_writer(self._data, index=True) as data, open_patch_writer(self._patch, options) as patch:
            for batch in ntriples.read(str(text)):
                old = batch.slice(0, max(statements - written, 0))
                new = batch.slice(len(old))
                deleted = old.take(row for row in range(len(old)) if (written + row) % _CHANGED == 0)
                data.write_batch(old)
                patch.write_batch(with_operation(deleted, PATCH_DELETE))
                patch.write_batch(with_operation(new, PATCH_ADD))
                for hashes, some in ((olds, old), (removed, deleted), (news, new)):
                    hashes.append(_hashes(some))
                written += len(batch)
        text.unlink()
        self._expected = _applied(*(np.concatenate(hashes) for hashes in (olds, removed, news)))

    def apply(self, spark: "SparkSession") -> int:
        from jellyframe.spark import jobs

        jobs.apply(spark, self._data, self._patch, self._applied, save="overwrite")
        return self.statements

    def merge(self, spark: "SparkSession") -> int:
        from jellyframe.spark import jobs

        jobs.merge(spark, self._data, self._merged, distinct=True, save="overwrite")
        return self.statements

    def require_exact(self) -> None:
        """Raise unless `apply` has written exactly the statements that remain after the patch."""
        from jellyframe import open_reader

        found: list[Any] = []
        for path in Path(self._applied).glob("*.jelly"):
            with open_reader(path) as reader:
                found += [_hashes(batch) for batch in reader.batches()]
        if not np.array_equal(np.sort(np.concatenate(found)), self._expected):
            raise AssertionError("the result of apply is not the data after the patch")


def _hashes(batch: "Batch") -> Any:
    """Return a number for each statement."""
    from jellyframe.ops.fingerprints import seeded_fingerprints
    from jellyframe.ops.hashing import statement_hashes

    return statement_hashes(batch, seeded_fingerprints(0))[0].to_numpy()


def _applied(old: Any, deleted: Any, added: Any) -> Any:
    """Return statements after deletes and then adds, sorted. Some may occur twice."""
    kept = old[~np.isin(old, deleted[~np.isin(deleted, added)])]
    return np.sort(np.concatenate([kept, np.setdiff1d(added, old)]))
