"""Build the output of jobs from the options of the data source."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from jellyframe import formats
from jellyframe.formats.settings import TABLE_COMPRESSION
from jellyframe.ops.outputs import Output
from jellyframe.patch.options import PatchStreamType
from jellyframe.spark.jobs.inputs import option_texts
from jellyframe.spark.options import PatchWriteOptions, WriteOptions
from jellyframe.storage.commit import ERROR, SaveMode

if TYPE_CHECKING:
    from jellyframe.options import LayoutName


def job_output(
    path: str | PathLike[str],
    *,
    has_graph: bool,
    out_format: str = "jelly",
    save: SaveMode = ERROR,
    layout: LayoutName | None = None,
    **options: Any,
) -> Output:
    """Return the output of a job that writes statements.

    The options are those of the data source. `layout` applies to Parquet files.
    """
    write = WriteOptions.read(option_texts({**options, "path": fspath(path)}))
    if formats.format_by_name(out_format, formats.CUT_FORMATS).is_table and "compression" not in options:
        write = replace(write, compression=TABLE_COMPRESSION)
    return Output.of(path, write, has_graph=has_graph, out_format=out_format, save=save, layout=layout)


def patch_output(path: str | PathLike[str], *, has_graph: bool, save: SaveMode = ERROR, **options: Any) -> Output:
    """Return the output of a job that writes patches.

    The options are those of the data source. Streams are FLAT by default: their files can be split anywhere outside of
    transactions.
    """
    given = {"stream_type": PatchStreamType.FLAT, **options, "path": fspath(path)}
    write = PatchWriteOptions.read(option_texts(given))
    return Output.of_patches(path, write, has_graph=has_graph, save=save)
