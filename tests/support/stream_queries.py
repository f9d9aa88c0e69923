"""Queries of the stream source, asked as Spark asks, without a running Spark."""

from __future__ import annotations

import json
import os
from collections import Counter

import pyarrow as pa

from jellyframe.spark.source import JellyDataSource
from support.spark_data import write_jelly


class Query:
    """A run of a query from an offset on, which is that of the run before."""

    def __init__(self, path, offset=None, **options):
        source = JellyDataSource({"path": str(path), "layout": "ntriples", **{k: str(v) for k, v in options.items()}})
        self.reader = source.streamReader(source.schema())
        self.offset = offset or self.reader.initialOffset()

    def read(self, start, end):
        batches = [batch for part in self.reader.partitions(start, end) for batch in self.reader.read(part)]
        return pa.Table.from_batches(batches, self.reader.columns.arrow)

    def next(self, limit=None):
        """The next batch."""
        end = self.reader.latestOffset(self.offset, limit or self.reader.getDefaultReadLimit())
        start, self.offset = self.offset, json.loads(json.dumps(end))
        return self.read(start, self.offset)

    def sizes(self, limit=None):
        """The sizes of the batches up to the first that is empty."""
        sizes = []
        while table := self.next(limit):
            sizes.append(table.num_rows)
        return sizes


def counted(table):
    return Counter(zip(*(column.to_pylist() for column in table.columns), strict=True))


def add(folder, name, statements, modified=None, **options):
    path = write_jelly(folder / name, statements, **options)
    if modified is not None:
        os.utime(path, (modified, modified))
    return path
