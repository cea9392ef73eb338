"""``lexloop index verify | info``: what an index holds, and whether it is sound."""

import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.edge import reported
from lexloop.apps.cli.index import options as index_options
from lexloop.apps.cli.index.held import embedder_of, held_manifest
from lexloop.apps.cli.terminal import first_of, one_line, plain, result_console, write_json

if TYPE_CHECKING:
    from lexloop.corpus.index.collection import Collection
    from lexloop.corpus.index.manifest import Manifest
    from lexloop.corpus.index.view import View

_KNOWN = ("jurisdiction", "kind", "host", "tags")
_MOST_PROBLEMS, _MOST_DOCUMENTS = 5, 20


def verify(*, index: index_options.Index, as_json: index_options.AsJson = False) -> None:
    """Check every byte of an index, and that its parts agree; exits with 5 where they do not."""
    with reported(as_json):
        from lexloop.corpus.index.verify import verify_index

        began = time.perf_counter()
        counts = verify_index(index, embedder_of(held_manifest(index)))
        seconds = round(time.perf_counter() - began, 2)
        if as_json:
            write_json({"index": str(index), "sound": True, **counts, "seconds": seconds})
            return
        held = ", ".join(f"{count} {name}" for name, count in counts.items())
        result_console().print(plain(one_line(f"Sound: {held}, in {seconds:.1f} s")))


@options.taking(*options.ACCESS)
def info(
    *,
    context: typer.Context,
    index: index_options.Index,
    documents: Annotated[
        bool, typer.Option("--documents", help="Also list the documents with what is known.")
    ] = False,
    as_json: index_options.AsJson = False,
) -> None:
    """Say what an index holds, what it is made with, what was left out, and what is misnumbered.

    Documents are listed as somebody with the given tags may see them, of any day unless one is
    given. Where documents have tags, what was left out is counted and not named.
    """
    with reported(as_json):
        from lexloop.core.filters import Filters
        from lexloop.corpus.index.reader import open_index

        access = Filters.of(options.chosen_settings(context.params, {"access.as_of": "any"}))
        manifest = held_manifest(index)
        with closing(open_index(index, embedder_of(manifest))) as collection:
            view = collection.seen_by(access)
            report = _report(index, manifest, collection, view)
            if documents:
                report["list"] = _listed(view)
        if as_json:
            write_json(report)
        else:
            _show(report)


def _report(
    index: Path, manifest: "Manifest", collection: "Collection", view: "View"
) -> dict[str, Any]:
    """What ``--json`` prints."""
    from lexloop.corpus.index.generations import GENERATIONS

    folder = index / GENERATIONS / manifest.generation
    return {
        "index": str(index),
        **manifest.counts,
        "files": len(manifest.fingerprints),
        "bytes": sum(path.stat().st_size for path in folder.iterdir()),
        "generation": manifest.generation,
        "format": manifest.format,
        "stemmer": manifest.stemmer,
        **vars(manifest.recipe),
        "dense_kind": collection.dense_kind,
        "recall@10": collection.recall,
        "sources": [vars(source) for source in manifest.sources],
        "excluded": list(manifest.excluded) if view.all_public else [],
        "excluded_count": len(manifest.excluded),
        "skipped": [vars(item) for item in view.skipped()],
        "numbering": [
            {"document": name, "problems": [*tree.problems]}
            for name in view.documents
            if (tree := view.tree_of(name)) is not None and tree.problems
        ],
    }


def _listed(view: "View") -> list[dict[str, Any]]:
    known = view.metadata(view.documents)
    return [{"document": name, **known[name].as_record()} for name in view.documents]


def _show(report: dict[str, Any]) -> None:
    from rich.table import Table

    console = result_console()
    table = Table(show_header=False, box=None, pad_edge=False)
    for name, value in report.items():
        if name not in ("list", "skipped", "sources", "numbering"):
            table.add_row(plain(name, "bold"), plain(one_line(str(value))))
    for source in report["sources"]:
        table.add_row(plain("source", "bold"), plain(one_line(source["path"] or "not recorded")))
    console.print(table)
    for item in report["skipped"]:
        head = "Note on" if item["indexed"] else "Skipped"
        console.print(plain(one_line(f"{head} {item['name']}: {item['reason']}"), "yellow"))
    misnumbered = [
        f"Numbering of {item['document']}: {' '.join(first_of(item['problems'], _MOST_PROBLEMS))}"
        for item in report["numbering"]
    ]
    for said in first_of(misnumbered, _MOST_DOCUMENTS):
        console.print(plain(one_line(said), "yellow"))
    if "list" in report:
        listed = Table("document", "in force", *_KNOWN, box=None, pad_edge=False)
        for row in report["list"]:
            days = f"{row.get('in_force_from', '')} – {row.get('in_force_to', '')}".strip(" –")
            cells = [row["document"], days, *(_cell(row.get(name, "")) for name in _KNOWN)]
            listed.add_row(*(plain(one_line(cell)) for cell in cells))
        console.print(listed)


def _cell(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)
