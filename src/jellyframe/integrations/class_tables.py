"""The property tables of all classes of a data set, made by many tasks: of each class one folder of Parquet files."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from jellyframe.errors import JellyError
from jellyframe.integrations.column_types import ColumnType
from jellyframe.integrations.property_tables import (
    Properties,
    Property,
    classes_of,
    instances,
    make_table,
    merge_properties,
    properties_of,
    statement_rows,
    untyped,
)
from jellyframe.ops.inputs import Inputs
from jellyframe.ops.outputs import MANIFEST, Output
from jellyframe.ops.reading import piece_batches
from jellyframe.storage.stores import DataFile
from jellyframe.stream.splits import Piece

# What stands for the class of subjects that have none, and the folder of their table.
NO_CLASS = ""
UNTYPED_FOLDER = "untyped"
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass
class ClassProperties:
    """The columns of the table of each class."""

    classes: dict[str, Properties] = field(default_factory=dict)

    @classmethod
    def merged(cls, found: Iterable[ClassProperties]) -> ClassProperties:
        """Return columns that hold what all tasks have found, in the order of their IRIs."""
        total = cls()
        for one in found:
            for name, properties in one.classes.items():
                merge_properties(total.classes.setdefault(name, {}), properties)
        total.classes = {name: dict(sorted(total.classes[name].items())) for name in sorted(total.classes)}
        return total

    def as_json(self) -> dict[str, Any]:
        """Return what `from_json` takes."""
        return {
            name: {predicate: [*found.type, found.repeats] for predicate, found in properties.items()}
            for name, properties in self.classes.items()
        }

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> ClassProperties:
        """Return what `as_json` has returned."""
        return cls(
            {
                name: {
                    predicate: Property(ColumnType(kind, digits, scale), repeats)
                    for predicate, (kind, digits, scale, repeats) in properties.items()
                }
                for name, properties in found.items()
            }
        )

    def folders(self) -> dict[str, str]:
        """Return a name for the folder of each class: the last part of its IRI, with a hash where two are the same."""
        plain = {name: _readable(name) for name in self.classes}
        uses: dict[str, int] = {UNTYPED_FOLDER: 1}
        for name, folder in plain.items():
            if name != NO_CLASS:
                uses[folder.lower()] = uses.get(folder.lower(), 0) + 1
        return {
            name: UNTYPED_FOLDER
            if name == NO_CLASS
            else folder
            if folder and uses[folder.lower()] == 1
            else f"{folder}-{hashlib.blake2b(name.encode(), digest_size=5).hexdigest()}".lstrip("-")
            for name, folder in plain.items()
        }


def _readable(class_iri: str) -> str:
    return _UNSAFE.sub("-", re.split(r"[/#:]", class_iri.rstrip("/#:"))[-1]).strip("-_")[:60]


def _rows(inputs: Inputs, file: DataFile) -> pa.Table:
    return statement_rows(piece_batches(Piece(file), inputs, _raise))


def _raise(error: JellyError) -> None:
    raise error


def _by_class(rows: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    for class_iri in classes_of(rows):
        yield class_iri, instances(rows, class_iri)
    others = untyped(rows)
    if len(others):
        yield NO_CLASS, others


def find_properties(inputs: Inputs, file: DataFile) -> ClassProperties:
    """Return the columns that a file makes, which has all statements of the subjects that are in it."""
    return ClassProperties({name: properties_of(rows) for name, rows in _by_class(_rows(inputs, file))})


def write_class_tables(
    inputs: Inputs, file: DataFile, plan: ClassProperties, output: Output, folder: str, name: str
) -> list[dict[str, Any]]:
    """Write the tables of a file into a folder for each class below `folder`, and return what was written."""
    storage = output.target.storage
    folders = plan.folders()
    written = []
    for class_iri, rows in _by_class(_rows(inputs, file)):
        table = make_table(rows, plan.classes[class_iri])
        own = f"{folder}/{folders[class_iri]}"
        storage.fs.create_dir(own, recursive=True)
        path = f"{own}/{name}.parquet"
        pq.write_table(table, path, filesystem=storage.fs, compression="zstd")
        size = storage.info(path).size
        written.append(
            {"class": class_iri, "folder": folders[class_iri], "path": path, "bytes": size, "rows": len(table)}
        )
    return written


@dataclass
class ClassTables:
    """The files that tasks have written."""

    written: Sequence[dict[str, Any]]

    @classmethod
    def of(cls, written: Sequence[dict[str, Any]]) -> ClassTables:
        """Return what tasks have said that they have written."""
        return cls(written)

    @property
    def files(self) -> list[str]:
        """The paths of the files."""
        return [entry["path"] for entry in self.written]

    @property
    def sizes(self) -> list[tuple[str, int]]:
        """The files with their sizes."""
        return [(entry["path"], entry["bytes"]) for entry in self.written]

    def stage_manifest(self, output: Output) -> str:
        """Write the list of the tables to the staging folder, and return its path."""
        tables: dict[str, dict[str, Any]] = {}
        for entry in self.written:
            known = tables.setdefault(
                entry["folder"], {"class": entry["class"] or None, "folder": entry["folder"], "rows": 0, "files": 0}
            )
            known["rows"] += entry["rows"]
            known["files"] += 1
        path = f"{output.target.staging}/driver/{MANIFEST}"
        storage = output.target.storage
        storage.fs.create_dir(path.rpartition("/")[0], recursive=True)
        document = {"by": "class", "tables": [tables[name] for name in sorted(tables)]}
        with storage.fs.open_output_stream(path) as stream:
            stream.write((json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode())
        return path
