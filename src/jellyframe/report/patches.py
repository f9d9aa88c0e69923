"""The survey of a stream of patches as a YAML or JSON document, and as a page."""

from __future__ import annotations

from typing import Any

from jellyframe.ops.patches.survey import PatchCounts, PatchSurvey
from jellyframe.patch.options import PatchOptions
from jellyframe.report import plots
from jellyframe.report.history import MAX_STEPS, TOP_PREDICATES
from jellyframe.report.page import Page, facts, table_of
from jellyframe.report.plots import Bar, Column, Part, Strip
from jellyframe.report.text import number, share, short_iri, short_number, size

_NAMES = {
    "A": "statement_add",
    "D": "statement_delete",
    "PA": "namespace_add",
    "PD": "namespace_delete",
    "TX": "transaction_start",
    "TC": "transaction_commit",
    "TA": "transaction_abort",
    "H": "header",
}

_TABLES = ("name", "prefix", "datatype")


def patch_options_document(options: PatchOptions | None) -> dict[str, Any]:
    """Return the options of a stream of patches."""
    if options is None:
        return {}
    return {
        "statement_type": f"PATCH_STATEMENT_TYPE_{options.statement_type.name} ({int(options.statement_type)})",
        "stream_type": f"PATCH_STREAM_TYPE_{options.stream_type.name} ({int(options.stream_type)})",
        "generalized_statements": options.generalized_statements,
        "rdf_star": options.rdf_star,
        "max_name_table_size": options.max_name_table_size,
        "max_prefix_table_size": options.max_prefix_table_size,
        "max_datatype_table_size": options.max_datatype_table_size,
        "version": options.version,
    }


def patch_totals_document(survey: PatchSurvey) -> dict[str, Any]:
    """Return the sums over all patches."""
    document: dict[str, Any] = {
        "patch_count": survey.patches,
        "frame_count": survey.frames,
        **_rows_document(survey.counts),
    }
    entries = survey.lookup_entries
    if entries is not None:
        document |= {f"{table}_count": count for table, count in zip(_TABLES, entries[:3], strict=True)}
        replaced = zip(_TABLES, entries[3:], strict=True)
        document["replaced_entries"] = {f"{table}_count": count for table, count in replaced}
    if survey.text_bytes is not None:
        document["rdf_patch_size"] = survey.text_bytes
        document["rdf_patch_ratio"] = round(survey.text_bytes / max(survey.input_bytes, 1), 2)
    return document


def patch_document(patch: PatchCounts) -> dict[str, Any]:
    """Return the counts of one patch."""
    document: dict[str, Any] = {"patch_index": patch.number, **_rows_document(patch)}
    return {**document, "headers": patch.headers} if patch.headers else document


def patch_input_document(survey: PatchSurvey) -> dict[str, Any]:
    """Return the description of the file."""
    return {"delimited": survey.delimited, "size": survey.input_bytes}


def _rows_document(counts: PatchCounts) -> dict[str, Any]:
    rows = {f"{name}_count": counts.rows[word] for word, name in _NAMES.items()}
    return {**rows, "row_count": counts.all_rows}


class PatchHistory:
    """Collects the patches of a survey in steps of equal length, which grow with the stream."""

    def __init__(self) -> None:
        self.steps: list[list[int]] = []
        self._patches_a_step = 1

    def add(self, _survey: PatchSurvey, patch: PatchCounts) -> None:
        """Add the next patch. A step has the number of its first patch, and counts of patches, adds and deletes."""
        changes = [patch.rows["A"], patch.rows["D"]]
        if self.steps and self.steps[-1][1] < self._patches_a_step:
            first, count, *sums = self.steps[-1]
            self.steps[-1] = [first, count + 1, sums[0] + changes[0], sums[1] + changes[1]]
            return
        if len(self.steps) == MAX_STEPS:
            self.steps = [
                [one[0], *(mine + theirs for mine, theirs in zip(one[1:], two[1:], strict=True))]
                for one, two in zip(self.steps[::2], self.steps[1::2], strict=True)
            ]
            self._patches_a_step *= 2
        self.steps.append([patch.number, 1, *changes])


def patch_page(survey: PatchSurvey, history: PatchHistory, name: str) -> str:
    """Return the page of a stream of patches, from a survey with content."""
    assert survey.options is not None
    rows = survey.counts.rows
    page = Page(name, _subtitle(survey))
    page.add_tile("Patches", number(survey.patches), f"{number(survey.counts.all_rows)} rows")
    page.add_tile("Added", number(rows["A"]), "statements")
    page.add_tile("Deleted", number(rows["D"]), "statements")
    page.add_tile("Transactions", number(rows["TX"]), f"{number(rows['TC'])} committed, {number(rows['TA'])} aborted")
    page.add_tile("Size of the file", size(survey.input_bytes))
    if survey.text_bytes is not None:
        page.add_tile("Size as RDF Patch", size(survey.text_bytes), "before any compression")
        items = [
            Bar("RDF Patch", survey.text_bytes, "100 %", 8),
            Bar("this file", survey.input_bytes, share(survey.input_bytes, survey.text_bytes), 1),
        ]
        table = table_of(("Form", "Bytes"), [(item.label, number(item.value)) for item in items])
        page.add_figure(
            "Size against text", "The same rows as RDF Patch text.", plots.bars("Size against text", items, size), table
        )
    parts = [Part(title.replace("_", " "), rows[word], nr) for nr, (word, title) in enumerate(_NAMES.items(), 1)]
    page.add_figure(
        "Row mix",
        "The rows of the patches, by kind.",
        plots.strips("Row mix", [Strip("Rows", [part for part in parts if part.value])]),
        table_of(("Kind of row", "Rows"), [(part.label, number(part.value)) for part in parts]),
    )
    _add_entries(page, survey)
    _add_predicates(page, survey)
    _add_steps(page, history)
    page.add_figure("Stream options", "The options row of the stream.", facts(_facts(survey.options)), wide=True)
    return page.html()


def _subtitle(survey: PatchSurvey) -> str:
    assert survey.options is not None
    if survey.delimited is None:
        return "RDF Patch text"
    kind = f"{survey.options.stream_type.name} of {survey.options.statement_type.name.lower()}"
    return f"Jelly-Patch stream, {kind}, {number(survey.frames)} frames"


def _add_entries(page: Page, survey: PatchSurvey) -> None:
    entries = survey.lookup_entries
    if entries is None:
        return
    counts = list(zip(_TABLES, entries[:3], entries[3:], strict=True))
    strips = [
        Strip(table.capitalize(), [Part("new", count - replaced, 1), Part("replaced another one", replaced, 2)])
        for table, count, replaced in counts
        if count
    ]
    if strips:
        page.add_figure(
            "Lookup entries",
            "Entries that later rows refer to.",
            plots.strips("Lookup entries by table", strips),
            table_of(
                ("Table", "Entries", "Replaced another one"),
                [(table, number(count), number(replaced)) for table, count, replaced in counts],
            ),
        )


def _add_predicates(page: Page, survey: PatchSurvey) -> None:
    if survey.content is None or not survey.content.statements:
        return
    top = survey.content.top_predicates(TOP_PREDICATES)
    page.add_figure(
        "Predicates",
        "The predicates that are changed most often.",
        plots.bars("Predicates", [Bar(short_iri(text), uses) for text, uses in top]),
        table_of(("Predicate", "Changes"), [(text, number(uses)) for text, uses in top]),
    )


def _add_steps(page: Page, history: PatchHistory) -> None:
    def patches(step: list[int]) -> str:
        return number(step[0]) if step[1] == 1 else f"{number(step[0])} to {number(step[0] + step[1] - 1)}"

    items = [
        Column(
            number(step[0]),
            (step[2], step[3]),
            f"{'patch' if step[1] == 1 else 'patches'} {patches(step)}: {number(step[2])} added, "
            f"{number(step[3])} deleted",
        )
        for step in history.steps
    ]
    page.add_figure(
        "Changes along the stream",
        "Statements that each patch, or run of patches, adds and deletes.",
        plots.columns(
            "Changes along the stream",
            items,
            ("added", "deleted"),
            x_title="patch",
            y_title="statements",
            form=short_number,
        ),
        table_of(
            ("Patches", "Added", "Deleted"),
            [(patches(step), number(step[2]), number(step[3])) for step in history.steps],
        ),
        wide=True,
    )


def _facts(options: PatchOptions) -> list[tuple[str, str]]:
    return [(name.replace("_", " "), str(value)) for name, value in patch_options_document(options).items()]
