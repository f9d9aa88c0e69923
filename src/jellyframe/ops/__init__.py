"""Operations on whole streams: compare, transcode, survey, validate, count.

`convert`, `scan` and `statistics` are functions of `jellyframe`; here their names are those of modules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jellyframe.lazy import attribute_loader

if TYPE_CHECKING:
    from jellyframe.ops.comparing import Comparison, compare
    from jellyframe.ops.progress import Progress, ProgressCallback
    from jellyframe.ops.summary import Summary
    from jellyframe.ops.survey import StreamSurvey, inspect
    from jellyframe.ops.transcoding import Transcoded, transcode
    from jellyframe.ops.validating import validate
    from jellyframe.ops.validation_report import ValidationReport

__all__ = [
    "Comparison",
    "Progress",
    "ProgressCallback",
    "StreamSurvey",
    "Summary",
    "Transcoded",
    "ValidationReport",
    "compare",
    "inspect",
    "transcode",
    "validate",
]

_HOMES = {
    "Comparison": "comparing",
    "Progress": "progress",
    "ProgressCallback": "progress",
    "StreamSurvey": "survey",
    "Summary": "summary",
    "Transcoded": "transcoding",
    "ValidationReport": "validation_report",
    "compare": "comparing",
    "inspect": "survey",
    "transcode": "transcoding",
    "validate": "validating",
}

if not TYPE_CHECKING:  # for type checkers, a name that is not there is a mistake
    __getattr__ = attribute_loader(__name__, _HOMES)
