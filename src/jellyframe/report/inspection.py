"""The counts of a survey with the names of jelly-cli, and some more."""

from __future__ import annotations

from typing import Any

from jellyframe.ops.survey import LOOKUP_TABLES, POSITIONS, ROW_FIELDS, TERM_KINDS, Counts, FrameCounts, StreamSurvey
from jellyframe.options import StreamOptions
from jellyframe.report.documents import JsonWriter, YamlWriter

# jelly-cli counts neither repeated terms, which take no bytes, nor those inside of quoted triples.
_STORED_KINDS = TERM_KINDS[:-1]


def options_document(survey: StreamSurvey) -> dict[str, Any]:
    options = survey.options
    if options is None:
        return {}
    if survey.dialect == "draft":
        return _draft_options(options)
    return released_options(options)


def released_options(options: StreamOptions) -> dict[str, Any]:
    """Return the options of a stream in the released format, by the names and values of its specification."""
    return {
        "stream_name": options.stream_name,
        "physical_type": f"PHYSICAL_STREAM_TYPE_{options.physical_type.name} ({int(options.physical_type)})",
        "generalized_statements": options.generalized_statements,
        "rdf_star": options.rdf_star,
        "max_name_table_size": options.max_name_table_size,
        "max_prefix_table_size": options.max_prefix_table_size,
        "max_datatype_table_size": options.max_datatype_table_size,
        "logical_type": f"LOGICAL_STREAM_TYPE_{options.logical_type.name} ({int(options.logical_type)})",
        "version": options.version,
    }


def _draft_options(options: StreamOptions) -> dict[str, Any]:
    return {
        "stream_name": options.stream_name,
        "stream_type": f"RDF_STREAM_TYPE_{options.physical_type.name} ({int(options.physical_type)})",
        "generalized_statements": options.generalized_statements,
        "use_repeat": options.use_repeat,
        "rdf_star": options.rdf_star,
        "max_name_table_size": options.max_name_table_size,
        "max_prefix_table_size": options.max_prefix_table_size,
        "max_datatype_table_size": options.max_datatype_table_size,
        "version": options.version,
    }


def totals_document(survey: StreamSurvey, detail: str | None, *, sizes: bool) -> dict[str, Any]:
    """Return the sums over all frames."""
    counts = survey.counts
    document = {"frame_count": counts.frames, **_counts_document(counts, detail, sizes=sizes)}
    if sizes and survey.content is not None:
        document["ntriples_size"] = survey.content.ntriples_bytes
        document["ntriples_ratio"] = round(survey.content.ntriples_bytes / max(counts.frame_bytes, 1), 2)
    if not sizes:
        document["replaced_entries"] = {f"{table}_count": counts.replaced(table) for table in LOOKUP_TABLES}
    return document


def input_document(survey: StreamSurvey) -> dict[str, Any]:
    return {
        # A stream without statements may be valid in both.
        "dialect": survey.dialect or "either",
        "delimited": survey.delimited is not False,
        "compression": survey.compression or "none",
        "uncompressed_size": survey.input_bytes,
    }


class FrameWriter:
    """Writes the options, and then each frame as it is read."""

    def __init__(self, writer: YamlWriter | JsonWriter, detail: str | None, *, sizes: bool) -> None:
        self._writer = writer
        self._detail = detail
        self._sizes = sizes
        # Empty frames may come before the options.
        self._waiting: list[FrameCounts] = []
        self._has_begun = False

    def add(self, survey: StreamSurvey, frame: FrameCounts) -> None:
        if not self._has_begun:
            self._waiting.append(frame)
            if survey.options is not None:
                self._begin(survey)
            return
        self._write(frame)

    def end(self, survey: StreamSurvey) -> None:
        if not self._has_begun:
            self._begin(survey)
        self._writer.end_list()

    def _begin(self, survey: StreamSurvey) -> None:
        self._writer.member("stream_options", options_document(survey))
        self._writer.begin_list("frames")
        self._has_begun = True
        for frame in self._waiting:
            self._write(frame)
        self._waiting.clear()

    def _write(self, frame: FrameCounts) -> None:
        document: dict[str, Any] = {"frame_index": frame.number}
        if frame.metadata:
            document["metadata"] = {key: value.hex() for key, value in frame.metadata.items()}
        self._writer.item(document | _counts_document(frame.counts, self._detail, sizes=self._sizes))


def _counts_document(counts: Counts, detail: str | None, *, sizes: bool) -> dict[str, Any]:
    unit = "size" if sizes else "count"
    of_rows, of_terms = (counts.row_bytes, counts.term_bytes) if sizes else (counts.rows, counts.terms)
    document: dict[str, Any] = {f"{kind}_{unit}": of_rows(kind) for kind in ROW_FIELDS}
    if sizes:
        document |= {
            "metadata_size": counts.metadata_bytes,
            "wrapping_size": counts.wrapping_bytes,
            "frame_size": counts.frame_bytes,
        }
    else:
        document |= {
            "metadata_count": counts.metadata,
            "row_count": counts.all_rows,
            "statement_count": counts.statements,
        }
    if detail == "node":
        by_kind = {kind: sum(of_terms(position, kind) for position in POSITIONS) for kind in _STORED_KINDS}
        document["node_details"] = _without_zeros(by_kind, unit)
    elif detail == "term":
        by_position = {position: sum(of_terms(position, kind) for kind in _STORED_KINDS) for position in POSITIONS}
        document["term_details"] = {f"{position}_{unit}": number for position, number in by_position.items()}
    elif detail == "all":
        for position in POSITIONS:
            by_kind = {kind: of_terms(position, kind) for kind in TERM_KINDS}
            if any(by_kind.values()):
                document[position] = _without_zeros(by_kind, unit)
    if detail is not None and not sizes:
        document |= _more_details(counts, detail)
    return document


def _more_details(counts: Counts, detail: str) -> dict[str, Any]:
    more: dict[str, Any] = {}
    if detail in ("node", "term"):
        repeated = {position: counts.terms(position, "repeated") for position in POSITIONS}
        more["repeated_details"] = _without_zeros(repeated, "count")
    if detail in ("node", "all"):
        more["quoted_details"] = _without_zeros({kind: counts.quoted_terms(kind) for kind in _STORED_KINDS}, "count")
    return {name: details for name, details in more.items() if details}


def _without_zeros(numbers: dict[str, int], unit: str) -> dict[str, int]:
    return {f"{name}_{unit}": number for name, number in numbers.items() if number}
