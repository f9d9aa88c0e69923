"""Spark looks for packages with names like this one and registers their data source, here the format `jelly-patch`.

One such package that cannot be imported makes Spark give up on all of them, so this one never fails.
"""

try:
    from jellyframe.spark.source import JellyPatchDataSource as DefaultSource
except Exception:  # an incomplete installation says so where it is used
    __all__ = []
else:
    __all__ = ["DefaultSource"]
