"""The column `op` of tables of patches: the operation of each row, by its name in RDF Patch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from jellyframe.errors import TableError, shortened
from jellyframe.kernel import patch_fields as fields
from jellyframe.kernel.memory_cy import int_column

if TYPE_CHECKING:
    from jellyframe.batch import Batch

OP_COLUMN = "op"
# RDF Patch has no name for the end of a patch.
OP_NAMES = {
    fields.PATCH_ADD: "A",
    fields.PATCH_DELETE: "D",
    fields.PATCH_NAMESPACE_ADD: "PA",
    fields.PATCH_NAMESPACE_DELETE: "PD",
    fields.PATCH_TRANSACTION_START: "TX",
    fields.PATCH_TRANSACTION_COMMIT: "TC",
    fields.PATCH_TRANSACTION_ABORT: "TA",
    fields.PATCH_HEADER: "H",
    fields.PATCH_PUNCTUATION: "P",
}
_NAMES = pa.array([OP_NAMES.get(op) for op in range(max(OP_NAMES) + 1)], pa.string())
_CODES = {name: op for op, name in OP_NAMES.items()}

_MARKS = (
    fields.PATCH_TRANSACTION_START,
    fields.PATCH_TRANSACTION_COMMIT,
    fields.PATCH_TRANSACTION_ABORT,
    fields.PATCH_PUNCTUATION,
)
# For each position, the operations whose rows have no term there.
_WITHOUT = {
    "s": pa.array(_MARKS, pa.int32()),
    "p": pa.array(
        [*_MARKS, fields.PATCH_HEADER, fields.PATCH_NAMESPACE_ADD, fields.PATCH_NAMESPACE_DELETE], pa.int32()
    ),
    "o": pa.array(_MARKS, pa.int32()),
    "g": pa.array([*_MARKS, fields.PATCH_HEADER], pa.int32()),
}


def operation_names(batch: Batch, *, dictionary: bool) -> pa.Array:
    """Return the names of the operations of a batch of a patch."""
    codes = pa.Array.from_buffers(pa.int32(), len(batch), [None, pa.py_buffer(batch.operations)])
    return pa.DictionaryArray.from_arrays(codes, _NAMES) if dictionary else _NAMES.take(codes)


def require_no_terms(ops: memoryview, record_batch: pa.RecordBatch) -> None:
    """Raise TableError, with the row, if a row has a term at a position where its operation has none."""
    codes = pa.Array.from_buffers(pa.int32(), len(ops), [None, pa.py_buffer(ops)])
    for position, without in _WITHOUT.items():
        if position in record_batch.schema.names:
            is_odd = pc.and_(pc.is_in(codes, without), record_batch[position].is_valid())
            row = pc.index(is_odd, True).as_py()
            if row >= 0:
                raise TableError(f"a term in column {position!r}, where a row {OP_NAMES[ops[row]]!r} has none", row=row)


def operations(names: pa.Array) -> memoryview:
    """Return the numbers of operations for their names. Raises TableError, with the row, for an unknown name."""
    if names.null_count:
        raise TableError("there is no operation (null)", row=pc.index(names.is_null(), True).as_py())
    encoded = names if pa.types.is_dictionary(names.type) else names.dictionary_encode()
    codes = [_CODES.get(name) for name in encoded.dictionary.to_pylist()]
    column = int_column(len(names))[: len(names)]
    for row, index in enumerate(encoded.indices.to_pylist()):
        code = codes[index]
        if code is None:
            shown = shortened(str(encoded.dictionary[index].as_py()))
            raise TableError(f"{shown} is not an operation: they are {', '.join(_CODES)}", row=row)
        column[row] = code
    return column
