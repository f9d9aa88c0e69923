"""Operations on whole streams: convert, scan, transcode, inspect, validate, compare, count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jellyframe.lazy import attribute_loader

if TYPE_CHECKING:
    from jellyframe.ops.comparing import Comparison, compare
    from jellyframe.ops.converting import Converted, convert
    from jellyframe.ops.progress import Progress, ProgressCallback
    from jellyframe.ops.scanning import scan
    from jellyframe.ops.stats.collecting import statistics
    from jellyframe.ops.stats.result import Statistics
    from jellyframe.ops.summary import Summary
    from jellyframe.ops.survey import StreamSurvey, inspect
    from jellyframe.ops.transcoding import Transcoded, transcode
    from jellyframe.ops.validating import validate
    from jellyframe.ops.validation_report import ValidationReport

__all__ = [
    "Comparison",
    "Converted",
    "Progress",
    "ProgressCallback",
    "Statistics",
    "StreamSurvey",
    "Summary",
    "Transcoded",
    "ValidationReport",
    "compare",
    "convert",
    "inspect",
    "scan",
    "statistics",
    "transcode",
    "validate",
]

_HOMES = {
    "Comparison": "comparing",
    "Converted": "converting",
    "Progress": "progress",
    "ProgressCallback": "progress",
    "Statistics": "stats.result",
    "StreamSurvey": "survey",
    "Summary": "summary",
    "Transcoded": "transcoding",
    "ValidationReport": "validation_report",
    "compare": "comparing",
    "convert": "converting",
    "inspect": "survey",
    "scan": "scanning",
    "statistics": "stats.collecting",
    "transcode": "transcoding",
    "validate": "validating",
}

if not TYPE_CHECKING:  # type checkers must report unknown names
    __getattr__ = attribute_loader(__name__, _HOMES)
