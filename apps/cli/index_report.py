"""The output of the commands of ``lexloop index``: what was done, its cost, an index's contents."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexloop.apps.cli.terminal import note, plain, result_console, say, write_json
from lexloop.apps.shapes.text import first_of, one_line
from lexloop.store.engine.address import is_address

if TYPE_CHECKING:
    from lexloop.documents.document import SkippedSource
    from lexloop.store.manifest import IndexSource, Manifest
    from lexloop.store.view import Collection, View
    from lexloop.store.writer import CostEstimate, IndexUpdate

_COST = {
    "files_added": "files that are new",
    "files_changed": "files that changed",
    "files_removed": "files that are gone",
    "documents": "documents to read",
    "chunks": "chunks of them",
    "embedded_texts": "texts to embed",
    "embedded_tokens": "tokens of these texts",
    "model_calls": "calls of the model",
    "tokens_in": "tokens of its prompts",
    "tokens_out": "tokens of its replies",
    "cost_usd": "cost in US dollars",
}
_CONTENTS = {
    "index": "index",
    "documents": "documents",
    "chunks": "chunks",
    "triplets": "triplets",
    "files": "files",
    "bytes": "bytes on disk",
    "generation": "generation",
    "format": "format",
    "stemmer": "stemmer",
    "embedder": "embedding model",
    "dimension": "numbers in a vector",
    "windows": "embedded parts",
    "tokens": "bytes of a token's vector",
    "chunker": "chunker",
    "extractor": "triplets extracted by",
    "dense_kind": "vector search",
    "recall@10": "its share of the exact top 10",
}
"""What people are shown of a report, under which words; ``dense_index`` is among the settings, and
the others are listed below it."""
_SEARCHES = {
    "flat": "exact",
    "hnsw": "HNSW",
    "ivf": "IVF",
    "int8_hnsw": "HNSW of int8",
    "binary_hnsw": "HNSW of bits",
}
_EXACT = 1.0
_KNOWN = ("jurisdiction", "kind", "host", "tags")
_MOST_PROBLEMS, _MOST_DOCUMENTS = 5, 20


def show_outcome(
    index: Path | str,
    outcome: "IndexUpdate",
    seconds: float,
    as_json: bool,
    sources: "Sequence[IndexSource]" = (),
) -> None:
    """Print what the index holds now, what changed, and what was left out.

    Beside the documents of ``sources`` files of other kinds are counted.
    """
    changes = {
        name: len(getattr(outcome.difference, name))
        for name in ("added", "changed", "removed", "unchanged")
    }
    others = _other_kinds(sources)
    if as_json:
        write_json(
            {
                "index": str(index),
                **outcome.counts,
                **{f"files_{name}": count for name, count in changes.items()},
                "recall@10": outcome.recall,
                "seconds": round(seconds, 2),
                "skipped": [vars(item) for item in outcome.skipped],
                "other_files": others,
            }
        )
        return
    held = ", ".join(f"{outcome.counts[n]} {n}" for n in ("documents", "chunks", "triplets"))
    say(f"{held} in {seconds:.1f} s -> {index}")
    said = ", ".join(f"{count} {name}" for name, count in changes.items() if count)
    say(f"Files: {said or 'none'}", style="dim")
    if outcome.recall < _EXACT:
        say(
            f"Approximate vector search finds {outcome.recall:.1%} of the exact top 10", style="dim"
        )
    _show_skipped(outcome.skipped)
    if others:
        kinds = ", ".join(f"{count} {kind}" for kind, count in others.items())
        note(f"Not indexed, since their kinds are not read: {kinds}")


def _other_kinds(sources: "Iterable[IndexSource]") -> dict[str, int]:
    """Count the visible files of the sources by suffix, of those suffixes that are not read."""
    from lexloop.documents.reading.formats import SUFFIXES
    from lexloop.documents.reading.metadata import SIDECAR

    kinds: Counter[str] = Counter()
    for source in sources:
        for _, folders, names in os.walk(source.path):
            folders[:] = [name for name in folders if not name.startswith(".")]
            seen = (name for name in names if not name.startswith(".") and name != SIDECAR)
            kinds.update(Path(name).suffix.lower() for name in seen)
    return {kind or "no suffix": count for kind, count in kinds.items() if kind not in SUFFIXES}


def _show_skipped(skipped: "list[SkippedSource]") -> None:
    for item in skipped:
        head = "Note on " if item.indexed else "Skipped "
        note((head, "bold yellow"), f"{item.name}: {item.reason}", style="")


def show_estimate(found: "CostEstimate", cost: dict[str, Any], as_json: bool) -> None:
    """Print what would be done and what it would cost."""
    report = {**found.as_record(), **cost}
    if as_json:
        skipped = [vars(item) for item in found.skipped]
        write_json({"dry_run": True, **report, "skipped": skipped})
        return
    for name, said in _COST.items():
        shown = "unknown: give the prices" if report[name] is None else str(report[name])
        say((f"{said}: ", "bold"), shown)
    _show_skipped(found.skipped)


def note_cost(found: "CostEstimate", cost: dict[str, Any]) -> None:
    """Say on standard error what a run that begins now will cost."""
    usd = cost["cost_usd"]
    note(
        f"This reads {found.documents} documents, embeds {found.embedded_texts} texts and asks the "
        f"model {cost['model_calls']} times, for "
        f"{'a cost that is unknown without the prices' if usd is None else f'about ${usd}'}."
    )


def index_report(
    index: str, manifest: "Manifest", collection: "Collection", view: "View"
) -> dict[str, Any]:
    """Return the object that ``index info --json`` prints; it names only what may be seen."""
    return {
        "index": index,
        **manifest.counts,
        "files": len(manifest.fingerprints),
        "bytes": _bytes(index, manifest.generation),
        "generation": manifest.generation,
        "format": manifest.format,
        "stemmer": manifest.stemmer,
        **vars(manifest.recipe),
        "dense_kind": collection.dense_kind,
        # an engine's is not measured: `index verify --against` compares rankings
        "recall@10": None if is_address(index) else collection.recall,
        "sources": [vars(source) for source in manifest.sources],
        "excluded": list(manifest.excluded) if view.all_public else [],
        "excluded_count": len(manifest.excluded),
        "skipped": [vars(item) for item in view.skipped(stored=True)],
        "numbering": [
            {"document": name, "problems": [*tree.problems]}
            for name in view.documents
            if (tree := view.tree_of(name)) is not None and tree.problems
        ],
    }


def _bytes(index: str, generation: str) -> int | None:
    """Return the size of an index's files; None in an engine, whose replicas share no file."""
    from lexloop.store.folder.generations import GENERATIONS

    if is_address(index):
        return None
    folder = Path(index) / GENERATIONS / generation
    return sum(path.stat().st_size for path in folder.iterdir())


def show_report(report: dict[str, Any]) -> None:
    """Print what an index holds, for people; ``list`` has its documents if they were asked for."""
    known = {name: said for name, said in _CONTENTS.items() if report[name] is not None}
    rows = [(said, _shown(name, report[name])) for name, said in known.items()]
    rows += [("source", source["path"] or "not recorded") for source in report["sources"]]
    if report["excluded_count"]:
        named = "; ".join(first_of(report["excluded"], _MOST_DOCUMENTS))
        rows.append(("taken out for good", named or str(report["excluded_count"])))
    for said, value in rows:
        say((said.ljust(max(map(len, _CONTENTS.values()))), "bold"), f"  {one_line(value)}")
    for item in report["skipped"]:
        head = "Note on" if item["indexed"] else "Skipped"
        say(f"{head} {item['name']}: {item['reason']}", style="yellow")
    misnumbered = [
        f"Numbering of {item['document']}: {' '.join(first_of(item['problems'], _MOST_PROBLEMS))}"
        for item in report["numbering"]
    ]
    for said in first_of(misnumbered, _MOST_DOCUMENTS):
        say(said, style="yellow")
    if "list" in report:
        from rich.table import Table

        listed = Table("document", "in force", *_KNOWN, box=None, pad_edge=False)
        for row in report["list"]:
            days = f"{row.get('in_force_from', '')} – {row.get('in_force_to', '')}".strip(" –")
            cells = [row["document"], days, *(_cell(row.get(name, "")) for name in _KNOWN)]
            listed.add_row(*(plain(one_line(cell)) for cell in cells))
        result_console().print(listed)


def _shown(name: str, value: Any) -> str:
    said = f"{value:,}" if name == "bytes" else str(value)
    if name == "dense_kind":
        said = _SEARCHES.get(said, said)
    elif name == "recall@10":
        said = f"{value:.1%}"
    elif name == "tokens":
        said = said if value else "none are stored"
    elif name == "chunker":
        said = said.replace("chunk_", "")  # as settings name them now
    return said


def _cell(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)
