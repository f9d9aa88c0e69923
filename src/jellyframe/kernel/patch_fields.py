"""Numbers of the wire format of Jelly-Patch, as the kernel uses them.

The operation of a row, in the column `op` of a batch, is the number of its field in RdfPatchRow. `patch_fields.pxd`
repeats the numbers as C constants; a test keeps the two files equal.
"""

# Fields of RdfPatchRow. The options have the same number as in RdfStreamRow.
PATCH_ADD = 2
PATCH_DELETE = 3
PATCH_NAMESPACE_ADD = 4
PATCH_NAMESPACE_DELETE = 5
PATCH_TRANSACTION_START = 6
PATCH_TRANSACTION_COMMIT = 7
PATCH_TRANSACTION_ABORT = 8
PATCH_NAME = 11
PATCH_PREFIX = 12
PATCH_DATATYPE = 13
PATCH_HEADER = 14
PATCH_PUNCTUATION = 15

# In the column `op`, a line of text that could not be read and was left out: of any kind, or one that neither starts
# nor ends a transaction. `jellyframe.patch.recovery` removes these rows.
PATCH_LOST = 0
PATCH_LOST_ROW = 1

# PatchStatementType.
STATEMENT_TRIPLES = 1
STATEMENT_QUADS = 2

# PatchStreamType.
STREAM_FRAME = 1
STREAM_FLAT = 2
STREAM_PUNCTUATED = 3
