"""``lexloop diff``: two versions of a document, provision by provision."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.options import option
from lexloop.apps.cli.session import open_resources
from lexloop.apps.cli.terminal import Part, Progress, note, say, write_json
from lexloop.core.metadata import Filters
from lexloop.core.settings import SAMPLE_CORPUS

if TYPE_CHECKING:
    from lexloop_workbench.diff import Comparison
    from lexloop_workbench.diff import Part as Difference
    from lexloop_workbench.touched import Report

# a version that was replaced is in force on no day that others are
_ACCESS = tuple(name for name in options.ACCESS if name != "access.as_of")
_STYLES = {"added": "green underline", "removed": "red strike"}


@options.taking("corpus", "index.embedder", *_ACCESS)
def diff(
    *,
    context: typer.Context,
    old: Annotated[
        str,
        typer.Argument(help="The earlier version: a file, or with --corpus a document in it."),
    ],
    new: Annotated[str, typer.Argument(help="The later version.")],
    answers: Annotated[
        list[Path] | None,
        option(
            "Answers that quote the earlier version, as `ask --json` prints them. Answers that a "
            "change touches are reported. May be repeated.",
            "FILE",
        ),
    ] = None,
    as_json: options.AsJson = False,
    out: Annotated[
        Path | None, option("Write the changes as tracked changes, to a .docx file.", "FILE")
    ] = None,
    overwrite: Annotated[bool, option("Let --out replace a file.")] = False,
) -> None:
    """Compare two versions of a document, provision by provision."""
    from lexloop.apps.shapes.files import named_form, write_whole

    if out is not None:
        named_form(out, overwrite, {".docx": "docx"})
    comparison = _compared(old, new, context.params)
    from lexloop_workbench.touched import Report, read_cited

    cited = [quote for file in answers or () for quote in read_cited(file)]
    report = Report.of(comparison, cited)
    if out is not None:
        from lexloop_workbench.shapes.tracked import as_tracked

        write_whole(out, as_tracked(comparison))
        note(f"Written to {out}.")
    if as_json:
        write_json(report.model_dump(mode="json"))
    else:
        _print(report)


def _compared(old: str, new: str, given: dict[str, Any]) -> "Comparison":
    settings = options.chosen_settings(given).changed(**{"access.as_of": "any"})
    connection = options.chosen_connection(given)
    from lexloop_workbench.diff import Comparison, Version

    if settings.corpus == SAMPLE_CORPUS and given.get("corpus") is None:
        return Comparison(Version.read(old), Version.read(new))
    with Progress() as progress:
        collection, _ = open_resources(settings, connection, progress)[0].collection(settings)
        view = collection.seen_by(Filters.of(settings))
    return Comparison(Version.of(view, old), Version.of(view, new))


def _print(report: "Report") -> None:
    from lexloop_workbench.shapes.changes import headed, quoted, stale, summary, touched

    say(summary(report), style="bold")
    for change in report.changes:
        shown = _words(change.parts) or [(quoted(change), "dim")]
        say((headed(change), "bold"), ": ", *shown)
    for line in stale(report):
        say(line, style="yellow")
    for answer in report.answers:
        words = _words(answer.parts)
        say(("answer: ", "bold"), touched(answer), *([": ", *words] if words else []))


def _words(parts: "Sequence[Difference]") -> list[Part]:
    from lexloop_workbench.shapes.changes import pieces

    return [(f"{begin}{text}{end}", _STYLES.get(op, "")) for begin, text, end, op in pieces(parts)]
