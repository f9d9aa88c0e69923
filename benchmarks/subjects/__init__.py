"""One module per subject; importing them, in the order of the table, registers them."""

from . import decode, column_memory, encode, text, grouped, http, message, integrations  # noqa: F401, I001
from . import size, memory, draft, patch, patch_diff, scaling, cli, grpc, spark, spark_patch, spark_start  # noqa: F401
