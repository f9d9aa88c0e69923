"""Default values, and the words that options choose from.

Nothing here takes time to import, so that the command line can show these values in its help. Defaults that only one
module has a use for are in that module.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

# How the terms of statements are shown in the columns of a table: see `jellyframe.arrow.layouts`.
LayoutName: TypeAlias = Literal["struct", "ntriples", "flat"]
LAYOUT_NAMES: Final[tuple[LayoutName, ...]] = get_args(LayoutName)
# How rows lie in bytes: see `jellyframe.dialects`.
DialectName: TypeAlias = Literal["released", "draft"]
DIALECT_NAMES: Final[tuple[DialectName, ...]] = get_args(DialectName)

# ---- streams ----

DEFAULT_BATCH_ROWS: Final = 16_384
DEFAULT_FRAME_ROWS: Final = 256
DEFAULT_FRAME_BYTES: Final = 1_000_000
DEFAULT_RESTART_EVERY: Final = 8 << 20
# Entries of lookup tables: of files, and of small messages.
NAME_TABLE_SIZE: Final = 4000
PREFIX_TABLE_SIZE: Final = 150
DATATYPE_TABLE_SIZE: Final = 32
SMALL_NAME_TABLE_SIZE: Final = 128
SMALL_PREFIX_TABLE_SIZE: Final = 16
SMALL_DATATYPE_TABLE_SIZE: Final = 16

# ---- servers and clients ----

HTTP_ADDRESS: Final = "127.0.0.1:8080"
GRPC_ADDRESS: Final = "127.0.0.1:9090"
CONNECT_SECONDS: Final = 10.0
RECONNECT_SECONDS: Final = 300.0
# gRPC servers that are not told otherwise drop clients that ask more often than every five minutes.
KEEPALIVE_SECONDS: Final = 300.0
# Rows in a frame that is published, where they do not come one by one.
PUBLISHED_FRAME_ROWS: Final = 2048

# ---- jobs ----

SUBJECT_BUCKETS: Final = 16
SNAPSHOTS_KEPT: Final = 2
