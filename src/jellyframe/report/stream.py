"""The page of one Jelly stream."""

from __future__ import annotations

from collections.abc import Callable

from jellyframe.ops.survey import LOOKUP_TABLES, POSITIONS, ROW_FIELDS, TERM_KINDS, Counts, StreamSurvey
from jellyframe.options import StreamOptions
from jellyframe.report import plots
from jellyframe.report.history import TOP_PREDICATES, FrameHistory, Step
from jellyframe.report.page import Page, facts, table_of
from jellyframe.report.plots import Bar, Column, Part, Strip
from jellyframe.report.text import number, share, short_iri, short_number, size

_ROW_TITLES = {
    "option": ("options", 7),
    "triple": ("triples", 1),
    "quad": ("quads", 1),
    "graph_start": ("graph starts and ends", 5),
    "graph_end": ("graph starts and ends", 5),
    "namespace": ("namespaces", 6),
    "name": ("name entries", 2),
    "prefix": ("prefix entries", 3),
    "datatype": ("datatype entries", 4),
}
_KIND_TITLES = {
    "iri": ("IRIs", 1),
    "bnode": ("blank nodes", 3),
    "literal": ("literals", 2),
    "triple": ("quoted triples", 4),
    "default_graph": ("default graph", 6),
    "repeated": ("repeated, no bytes", 8),
}


def stream_page(survey: StreamSurvey, history: FrameHistory, name: str, stored_bytes: int | None = None) -> str:
    """Return the page of a stream, from a survey with content. `stored_bytes` is the size of the stored file."""
    return _filled(Page(name, _subtitle(survey)), survey, history, stored_bytes).html()


def stream_figures(survey: StreamSurvey, history: FrameHistory, stored_bytes: int | None = None) -> str:
    """Return the figures of `stream_page`, for another page."""
    return _filled(Page("", ""), survey, history, stored_bytes).content()


def _filled(page: Page, survey: StreamSurvey, history: FrameHistory, stored_bytes: int | None) -> Page:
    counts = survey.counts
    _add_tiles(page, survey)
    if survey.content is not None:
        _add_compression(page, survey, stored_bytes)
    _add_row_mix(page, counts)
    _add_terms(page, counts)
    _add_predicates(page, survey)
    _add_frames(page, history)
    _add_lookups(page, survey, history)
    if survey.options is not None:
        _add_options(page, survey.options, survey.dialect)
    return page


def _subtitle(survey: StreamSurvey) -> str:
    words = ["Jelly stream"]
    if survey.options is not None:
        words = [f"Jelly stream of {survey.options.physical_type.name.lower()}"]
        if survey.options.logical_type:
            words.append(f"logical type {survey.options.logical_type.name.lower().replace('_', ' ')}")
        if survey.options.stream_name:
            words.append(f"named “{survey.options.stream_name}”")
    words.append("delimited frames" if survey.delimited is not False else "one bare frame")
    if survey.compression is not None:
        words.append(f"compressed with {survey.compression}")
    return ", ".join(words)


def _add_tiles(page: Page, survey: StreamSurvey) -> None:
    counts = survey.counts
    statements = counts.statements
    page.add_tile("Statements", number(statements), f"in {number(counts.all_rows)} rows")
    page.add_tile("Frames", number(counts.frames), f"{number(statements / max(counts.frames, 1))} statements each")
    page.add_tile(
        "Size as Jelly", size(survey.input_bytes), f"{survey.input_bytes / max(statements, 1):.1f} B per statement"
    )
    if survey.content is not None:
        text_bytes = survey.content.ntriples_bytes
        what = "N-Quads" if survey.options is not None and survey.options.has_graph else "N-Triples"
        page.add_tile(f"Size as {what}", size(text_bytes), f"{text_bytes / max(statements, 1):.1f} B per statement")
        page.add_tile(
            "Jelly is smaller by", f"{text_bytes / max(survey.input_bytes, 1):.1f}×", "before any compression"
        )
        predicates = survey.content.predicate_count
        page.add_tile("Predicates", "thousands" if predicates is None else number(predicates), "distinct ones")


def _add_compression(page: Page, survey: StreamSurvey, stored_bytes: int | None) -> None:
    assert survey.content is not None
    text_bytes = survey.content.ntriples_bytes
    what = "N-Quads" if survey.options is not None and survey.options.has_graph else "N-Triples"
    items = [
        Bar(what, text_bytes, "100 %", 8),
        Bar("Jelly", survey.input_bytes, share(survey.input_bytes, text_bytes), 1),
    ]
    if stored_bytes is not None and survey.compression is not None:
        items.append(Bar(f"Jelly, {survey.compression}", stored_bytes, share(stored_bytes, text_bytes), 3))
    table = table_of(
        ("Form", "Bytes", "Bytes per statement"),
        [(item.label, number(item.value), f"{item.value / max(survey.content.statements, 1):.2f}") for item in items],
    )
    words = f"The same statements as canonical {what} text and as Jelly."
    page.add_figure(f"Size against {what}", words, plots.bars(f"Size against {what}", items, size), table)


def _add_row_mix(page: Page, counts: Counts) -> None:
    kinds = [kind for kind in ROW_FIELDS if counts.rows(kind)]
    rest = [Part("row and frame wrapping", counts.wrapping_bytes, 8), Part("metadata", counts.metadata_bytes, 9)]
    rows = [
        Strip("Rows", _parts_of_rows(kinds, counts.rows)),
        Strip("Bytes", _parts_of_rows(kinds, counts.row_bytes) + rest, size),
    ]
    table = table_of(
        ("Kind of row", "Rows", "Bytes", "Bytes per row"),
        [
            (
                kind.replace("_", " "),
                number(counts.rows(kind)),
                number(counts.row_bytes(kind)),
                f"{counts.row_bytes(kind) / counts.rows(kind):.1f}",
            )
            for kind in kinds
        ]
        + [(part.label, "", number(part.value), "") for part in rest],
    )
    page.add_figure("Row mix", "The rows of the stream, by number and by bytes.", plots.strips("Row mix", rows), table)


def _parts_of_rows(kinds: list[str], measure: Callable[[str], int]) -> list[Part]:
    sums: dict[tuple[str, int], int] = {}
    for kind in kinds:
        sums[_ROW_TITLES[kind]] = sums.get(_ROW_TITLES[kind], 0) + measure(kind)
    return [Part(title, value, series) for (title, series), value in sums.items()]


def _add_terms(page: Page, counts: Counts) -> None:
    positions = [place for place in POSITIONS if any(counts.terms(place, kind) for kind in TERM_KINDS)]
    rows = [
        Strip(
            place.capitalize() + "s",
            [Part(_KIND_TITLES[kind][0], counts.terms(place, kind), _KIND_TITLES[kind][1]) for kind in TERM_KINDS],
        )
        for place in positions
    ]
    kinds = [kind for kind in TERM_KINDS if any(counts.terms(place, kind) for place in POSITIONS)]
    lines = [
        (
            _KIND_TITLES[kind][0],
            *(number(counts.terms(place, kind)) for place in positions),
            number(counts.quoted_terms(kind)),
        )
        for kind in kinds
    ]
    table = table_of(("Kind", *(place.capitalize() for place in positions), "In quoted triples"), lines)
    words = "The terms at each position. A term that repeats that of the statement before takes no bytes."
    page.add_figure("Kinds of terms", words, plots.strips("Kinds of terms by position", rows), table)


def _add_predicates(page: Page, survey: StreamSurvey) -> None:
    if survey.content is None:
        return
    top = survey.content.top_predicates(TOP_PREDICATES)
    whole = survey.content.statements
    items = [Bar(short_iri(text), uses, share(uses, whole)) for text, uses in top]
    rest = whole - sum(uses for _text, uses in top)
    if rest:
        items.append(Bar("all others", rest, share(rest, whole), 8))
    table = table_of(
        ("Predicate", "Statements", "Share"), [(text, number(uses), share(uses, whole)) for text, uses in top]
    )
    words = f"The {len(top)} most frequent ones." if rest else "All of them, by frequency."
    page.add_figure("Predicates", words, plots.bars("Predicates", items), table)


def _add_frames(page: Page, history: FrameHistory) -> None:
    steps = history.steps
    if not steps:
        return
    items = [Column(number(step.first_frame), (step.frame_bytes / step.frames,), _step_tip(step)) for step in steps]
    a_step = "" if steps[0].frames == 1 else f" Each column is the mean of up to {number(steps[0].frames)} frames."
    page.add_figure(
        "Frame sizes along the stream",
        f"The sizes of the frames, in their order.{a_step}",
        plots.columns("Frame sizes", items, ("bytes",), x_title="frame", y_title="bytes in a frame", form=size),
        table_of(
            ("Frames", "Statements", "Bytes", "Smallest", "Largest"),
            [
                (
                    _frames_of(step),
                    number(step.statements),
                    number(step.frame_bytes),
                    number(step.smallest),
                    number(step.largest),
                )
                for step in steps
            ],
        ),
        wide=True,
    )
    used = sorted(history.frames_by_bits)
    all_bits = range(used[0], used[-1] + 1)
    found = [(bits, history.frames_by_bits.get(bits, 0)) for bits in all_bits]
    bins = [
        Column(_from_bits(bits), (frames,), f"{_range_of_bits(bits)}: {number(frames)} frames")
        for bits, frames in found
    ]
    page.add_figure(
        "Distribution of frame sizes",
        "The number of frames of at least this size, and less than twice this size.",
        plots.columns(
            "Distribution of frame sizes",
            bins,
            ("frames",),
            x_title="bytes in a frame, from",
            y_title="frames",
            label_all=len(bins) <= 12,
        ),
        table_of(("Bytes in a frame", "Frames"), [(_range_of_bits(bits), number(frames)) for bits, frames in found]),
    )


def _frames_of(step: Step) -> str:
    return number(step.first_frame) if step.frames == 1 else f"{number(step.first_frame)} to {number(step.last_frame)}"


def _step_tip(step: Step) -> str:
    if step.frames == 1:
        return f"frame {_frames_of(step)}: {size(step.frame_bytes)}, {number(step.statements)} statements"
    return (
        f"frames {_frames_of(step)}: {size(step.frame_bytes / step.frames)} each, {size(step.smallest)} to "
        f"{size(step.largest)}; {number(step.statements)} statements"
    )


def _from_bits(bits: int) -> str:
    return number(1 << (bits - 1)) if bits else "0"


def _range_of_bits(bits: int) -> str:
    return f"{number(1 << (bits - 1))} to {number((1 << bits) - 1)}" if bits else "0"


def _add_lookups(page: Page, survey: StreamSurvey, history: FrameHistory) -> None:
    counts = survey.counts
    tables = [table for table in LOOKUP_TABLES if counts.rows(table)]
    if not tables:
        return
    rows = [
        Strip(
            f"{table.capitalize()} table",
            [
                Part("in a free slot", counts.rows(table) - counts.replaced(table), 3),
                Part("replacing another", counts.replaced(table), 2),
            ],
        )
        for table in tables
    ]
    places = {table: getattr(survey.options, f"max_{table}_table_size", 0) for table in tables}
    lines = [
        (
            table,
            number(places[table]),
            number(counts.rows(table)),
            number(counts.replaced(table)),
            f"{1000 * counts.rows(table) / max(counts.statements, 1):.1f}",
        )
        for table in tables
    ]
    iris = sum(counts.terms(place, "iri") for place in POSITIONS) + counts.quoted_terms("iri")
    page.add_figure(
        "Lookup entries",
        f"New and replaced entries. {number(iris)} IRIs were written with {number(counts.rows('name'))} name entries: "
        f"{iris / max(counts.rows('name'), 1):.1f} uses of each.",
        plots.strips("Lookup entries by table", rows),
        table_of(("Table", "Slots", "Entries", "Replaced", "Entries per 1000 statements"), lines),
    )
    items = [
        Column(
            number(step.first_frame),
            tuple(1000 * entries / max(step.statements, 1) for entries in step.entries),
            f"{'frame' if step.frames == 1 else 'frames'} {_frames_of(step)}: "
            + ", ".join(
                f"{number(entries)} {table}" for table, entries in zip(LOOKUP_TABLES, step.entries, strict=True)
            )
            + f" entries for {number(step.statements)} statements",
        )
        for step in history.steps
    ]
    page.add_figure(
        "Lookup churn along the stream",
        "New entries per 1000 statements. Few entries mean that earlier ones are reused.",
        plots.columns(
            "Lookup churn",
            items,
            [f"{table} entries" for table in LOOKUP_TABLES],
            x_title="frame",
            y_title="entries per 1000 statements",
            form=short_number,
        ),
        table_of(
            ("Frames", *(f"{table.capitalize()} entries" for table in LOOKUP_TABLES), "Statements"),
            [(_frames_of(step), *map(number, step.entries), number(step.statements)) for step in history.steps],
        ),
        wide=True,
    )


def _add_options(page: Page, options: StreamOptions, dialect: str | None) -> None:
    lines = [
        ("stream name", options.stream_name or "none"),
        ("dialect", dialect or "either"),
        ("physical type", options.physical_type.name),
        ("logical type", options.logical_type.name),
        ("generalized statements", "yes" if options.generalized_statements else "no"),
        ("quoted triples (RDF-star)", "yes" if options.rdf_star else "no"),
        ("slots in the name table", number(options.max_name_table_size)),
        ("slots in the prefix table", number(options.max_prefix_table_size)),
        ("slots in the datatype table", number(options.max_datatype_table_size)),
        ("version tag", str(options.version)),
    ]
    page.add_figure("Stream options", "The options row of the stream.", facts(lines), wide=True)
