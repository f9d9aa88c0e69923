"""The data source `jelly-grpc`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from jellyframe.spark.grpc.reading import TopicReader
    from jellyframe.spark.grpc.stream_source import TopicStreamReader
    from jellyframe.spark.grpc.writing import TopicStreamWriter, TopicWriter


class JellyGrpcDataSource(DataSource):
    """The data source `format("jelly-grpc")`. `jellyframe.spark.grpc.options` has its options."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "jelly-grpc"

    def schema(self) -> StructType:
        """Return the schema of a read for which the user gives none."""
        from jellyframe.spark.grpc.options import TopicReadOptions
        from jellyframe.spark.schema import default_schema

        return default_schema(TopicReadOptions.read(self.options).rows)

    def reader(self, schema: StructType) -> TopicReader:
        """Return a reader of rows of a `schema`, from the frames that a topic has when the query is planned."""
        from jellyframe.spark.grpc.options import TopicReadOptions
        from jellyframe.spark.grpc.reading import TopicReader

        return TopicReader(TopicReadOptions.read(self.options), schema)

    def streamReader(self, schema: StructType) -> TopicStreamReader:  # noqa: N802
        """Return a reader of rows of a `schema` from frames as they arrive."""
        from jellyframe.spark.grpc.options import TopicReadOptions
        from jellyframe.spark.grpc.stream_source import TopicStreamReader

        return TopicStreamReader(TopicReadOptions.read(self.options), schema)

    def writer(self, schema: StructType, overwrite: bool) -> TopicWriter:
        """Return a writer that publishes rows of a `schema`; `overwrite` is refused."""
        from jellyframe.spark.grpc.options import TopicWriteOptions
        from jellyframe.spark.grpc.writing import TopicWriter

        return TopicWriter(TopicWriteOptions.read(self.options), schema, overwrite=overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> TopicStreamWriter:  # noqa: N802
        """Return a writer that publishes rows of a `schema` for the batches of a query; `overwrite` is refused."""
        from jellyframe.spark.grpc.options import TopicWriteOptions
        from jellyframe.spark.grpc.writing import TopicStreamWriter

        return TopicStreamWriter(TopicWriteOptions.read(self.options), schema, overwrite=overwrite)
