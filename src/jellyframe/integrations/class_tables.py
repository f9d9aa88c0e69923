"""The property tables of all classes of a data set, written by many tasks: a folder of Parquet files for each class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from jellyframe.batch import Batch
from jellyframe.integrations.planned_files import PartFile, Plan
from jellyframe.integrations.property_columns import make_tables, properties_of
from jellyframe.integrations.subject_rows import NO_CLASS, SubjectRows
from jellyframe.ops.outputs import Output
from jellyframe.storage.names import name_digest, safe_name
from jellyframe.storage.stores import Storage

# The folder of the table of subjects without a class.
UNTYPED_FOLDER = "untyped"


def write_class_tables(
    batches: Iterable[Batch], output: Output, folder: str, name: str, plan: Plan | None
) -> list[PartFile]:
    """Write a file for each class of the statements into `folder`, and return the files.

    The batches have all statements of their subjects. The columns follow from the statements; with a `plan`, only
    the classes in it are written, with its columns.
    """
    storage = output.target.storage
    written = []
    for class_iri, rows in SubjectRows.of(batches).by_class():
        if plan is not None and class_iri not in plan:
            continue
        parts = rows.parts()
        columns = plan[class_iri] if plan is not None else dict(sorted(properties_of(rows.terms, parts).items()))
        own = f"{folder}/{name_digest(class_iri)}"
        storage.fs.create_dir(own, recursive=True)
        path = f"{own}/{name}.parquet"
        _write_tables(make_tables(rows, parts, columns), storage, path)
        written.append(PartFile(class_iri, path, storage.info(path).size, len(rows.subjects), columns))
    return written


def _write_tables(tables: Iterator[pa.Table], storage: Storage, path: str) -> None:
    """Write tables with the same columns as one file. There is at least one."""
    first = next(tables)
    with pq.ParquetWriter(path, first.schema, filesystem=storage.fs, compression="zstd") as writer:
        for table in chain([first], tables):
            writer.write_table(table)


def folder_names(classes: Iterable[str]) -> dict[str, str]:
    """Return a name for the folder of each class: the last part of its IRI, with a hash if two are equal."""
    plain = {name: safe_name(name) for name in sorted(classes)}
    uses: dict[str, int] = {UNTYPED_FOLDER: 1}
    for name, folder in plain.items():
        if name != NO_CLASS:
            uses[folder.lower()] = uses.get(folder.lower(), 0) + 1
    return {
        name: UNTYPED_FOLDER
        if name == NO_CLASS
        else folder
        if folder and uses[folder.lower()] == 1
        else f"{folder}-{name_digest(name)}".lstrip("-")
        for name, folder in plain.items()
    }


def publish_class_tables(files: Iterable[PartFile], output: Output) -> None:
    """Publish the files of all classes, with a manifest."""
    found = list(files)
    folders = folder_names({file.table for file in found})
    places = {file.path: f"{folders[file.table]}/{file.path.rpartition('/')[2]}" for file in found}
    tables: dict[str, dict[str, Any]] = {
        class_iri: {"class": class_iri or None, "folder": folders[class_iri], "rows": 0, "files": 0}
        for class_iri in sorted(folders, key=folders.__getitem__)
    }
    for file in found:
        tables[file.table]["rows"] += file.rows
        tables[file.table]["files"] += 1
    manifest = output.stage_manifest({"by": "class", "tables": list(tables.values())})
    output.publish([*places, manifest], places)
