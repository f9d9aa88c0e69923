"""`jellyframe patch inspect`: show the options and the content of a stream of patches."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jellyframe import formats
from jellyframe.cli.arguments import add_command, add_format, add_input, add_output, limits_of
from jellyframe.cli.inspect import add_documents, document_writer, is_page_alone, write_page
from jellyframe.cli.patch.options import add_patch_reading_options

if TYPE_CHECKING:
    from jellyframe.ops.patches.survey import PatchCounts, PatchSurvey


def add_parser(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "inspect",
        run,
        help="show the options of a stream of patches, and count its rows",
        description="Show the options of Jelly-Patch, or those that RDF Patch text would have, and count its rows.",
        examples="""
jellyframe patch inspect changes.jellyp
jellyframe patch inspect changes.jellyp --per-patch --json | jq .patches[].statement_add_count
jellyframe patch inspect changes.rdfp --size
jellyframe patch inspect changes.jellyp --html report.html
""",
    )
    add_input(parser)
    add_format(parser, "--in-format", "--input-format", known=formats.PATCH_FORMATS)
    add_output(parser, binary=False)
    parser.add_switch("--per-patch", default=False, help="one entry for each patch, as it is read, instead of sums")
    parser.add_switch("--size", default=False, help="also the size as RDF Patch text, which takes longer")
    add_documents(parser)
    add_patch_reading_options(parser)


def run(arguments: argparse.Namespace) -> int:
    from jellyframe.report import patches as report

    if is_page_alone(arguments):
        _survey(arguments)
        return 0
    with document_writer(arguments) as writer:
        has_begun = False

        def begin(survey: PatchSurvey) -> None:
            nonlocal has_begun
            if not has_begun:
                writer.member("stream_options", report.patch_options_document(survey.options))
                writer.begin_list("patches")
            has_begun = True

        def add(survey: PatchSurvey, patch: PatchCounts) -> None:
            begin(survey)
            writer.item(report.patch_document(patch))

        survey = _survey(arguments, add if arguments.per_patch else None)
        if arguments.per_patch:
            begin(survey)
            writer.end_list()
        else:
            writer.member("stream_options", report.patch_options_document(survey.options))
            writer.member("patches", report.patch_totals_document(survey))
        writer.member("input", report.patch_input_document(survey))
    return 0


def _survey(
    arguments: argparse.Namespace, on_patch: Callable[[PatchSurvey, PatchCounts], object] | None = None
) -> PatchSurvey:
    from jellyframe.cli.streams import progress_callback
    from jellyframe.ops.patches.survey import inspect_patches
    from jellyframe.report.patches import PatchHistory, patch_page
    from jellyframe.storage.sources import InputFile

    history = PatchHistory()

    def each(survey: PatchSurvey, patch: PatchCounts) -> None:
        history.add(survey, patch)
        if on_patch is not None:
            on_patch(survey, patch)

    with InputFile(arguments.input, limits=limits_of(arguments)) as source:
        survey = inspect_patches(
            source,
            formats.patch_input_format(arguments.in_format, arguments.input),
            content=arguments.size or arguments.html is not None,
            strict=arguments.strict,
            lenient=arguments.lenient,
            concatenated=arguments.concatenated,
            patch_ends=arguments.patch_ends,
            limits=limits_of(arguments),
            on_patch=each,
            progress=progress_callback(arguments.console),
        )
    arguments.console.end_progress()
    if arguments.html is not None:
        write_page(patch_page(survey, history, source.name), arguments)
    return survey
