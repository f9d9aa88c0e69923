"""The data sources `jelly` and `jelly-patch`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pyspark.sql.datasource import DataSource

from jellyframe import formats

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from jellyframe.spark.reading import JellyBatchReader
    from jellyframe.spark.stream_sink import JellyStreamWriter
    from jellyframe.spark.stream_source import JellyStreamReader
    from jellyframe.spark.types import Session
    from jellyframe.spark.writing import JellyBatchWriter


class JellyDataSource(DataSource):
    """The data source `format("jelly")`: statements. `jellyframe.spark.options` has its options."""

    _format: ClassVar[formats.Format] = formats.JELLY

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return cls._format.name

    def schema(self) -> StructType:
        """Return the schema of a read for which the user gives none."""
        from jellyframe.spark.options import ReadOptions
        from jellyframe.spark.schema import default_schema

        return default_schema(ReadOptions.read(self.options, self._format))

    def reader(self, schema: StructType) -> JellyBatchReader:
        """Return a reader of rows of a `schema`."""
        from jellyframe.spark.options import ReadOptions
        from jellyframe.spark.reading import JellyBatchReader

        return JellyBatchReader(ReadOptions.read(self.options, self._format), schema)

    def streamReader(self, schema: StructType) -> JellyStreamReader:  # noqa: N802
        """Return a reader of rows of a `schema` from files as they arrive."""
        from jellyframe.spark.options import ReadOptions
        from jellyframe.spark.stream_source import JellyStreamReader

        return JellyStreamReader(ReadOptions.read(self.options, self._format), schema)

    def writer(self, schema: StructType, overwrite: bool) -> JellyBatchWriter:
        """Return a writer of rows of a `schema`, which with `overwrite` replaces the files in the folder."""
        from jellyframe.spark.options import read_write_options
        from jellyframe.spark.writing import JellyBatchWriter

        return JellyBatchWriter(read_write_options(self.options, self._format), schema, overwrite=overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> JellyStreamWriter:  # noqa: N802
        """Return a writer of rows of a `schema` for the batches of a query; `overwrite` is refused."""
        from jellyframe.spark.options import read_write_options, without_query_options
        from jellyframe.spark.stream_sink import JellyStreamWriter

        options = read_write_options(without_query_options(self.options), self._format)
        return JellyStreamWriter(options, schema, overwrite=overwrite)


class JellyPatchDataSource(JellyDataSource):
    """The data source `format("jelly-patch")`: the rows of patches, with their operation in the column `op`.

    `jellyframe.spark.options` has its options.
    """

    _format = formats.JELLY_PATCH


SOURCES = (JellyDataSource, JellyPatchDataSource)


def register(spark: Session) -> None:
    """Make `format("jelly")` and `format("jelly-patch")` known to a session, and activate the session.

    This is needed only where the packages `pyspark_jelly` and `pyspark_jelly_patch` are not installed.

    Args:
        spark: the session
    """
    from jellyframe.spark.threads import activate

    for source in SOURCES:
        spark.dataSource.register(source)
    activate(spark)
