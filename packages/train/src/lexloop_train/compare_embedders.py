"""``lexloop compare-embedders``: how well embedders find what answers, without any other part."""

import json
from pathlib import Path
from typing import Annotated

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.options import option
from lexloop.apps.cli.session import say_where_text_goes
from lexloop.apps.cli.terminal import bar, write_json
from lexloop.apps.shapes.record import text_hosts
from lexloop.core.errors import InputError


@options.taking()
def compare_embedders(
    *,
    context: typer.Context,
    sets: Annotated[
        list[Path],
        typer.Argument(
            metavar="SET.jsonl...",
            help="Pairs, as `lexloop finetune pairs` writes, or gold questions with evidence.",
        ),
    ],
    # `embedder` is a single setting
    names: Annotated[
        list[str],
        option(
            "As the setting names one. May be repeated; the others are compared with the first.",
            "NAME",
            flag="--embedder",
        ),
    ],
    corpus: Annotated[
        str | None,
        option("The documents of gold questions. Default: those beside their file.", "DIR"),
    ] = None,
    depths: Annotated[
        str, option("How many texts are looked at.", "K,K...", flag="--k")
    ] = "1,3,5,10",
    out: Annotated[Path | None, option("Also write the figures as JSON.", "FILE")] = None,
    as_json: options.AsJson = False,
) -> None:
    """Compare embedders by hit rate and MRR, as LQ-RAG's tables 6 and 7 do.

    Each question searches all texts of its set by exact cosine, and by MaxSim if an embedder gives
    token vectors ("late"). Words, graph and reranker are not used.
    """
    from lexloop.core.jsonl import check_writable, write_checked
    from lexloop.models.embedders import load_embedder
    from lexloop_train.comparison import compared, places_of, read_sets, tables

    cutoffs = _depths(depths)
    if out:
        check_writable(out)
    settings = options.chosen_settings(context.params)
    connection = options.chosen_connection(context.params)
    settings_by_name = {name: settings.changed(**{"index.embedder": name}) for name in names}
    for chosen in settings_by_name.values():
        say_where_text_goes(text_hosts(chosen, connection))
    search_sets = read_sets(sets, Path(corpus) if corpus else None, settings)
    places: dict[str, dict[str, list[int]]] = {}
    with bar() as report:
        for name, chosen in settings_by_name.items():
            embedder = load_embedder(name, connection)
            for search_set in search_sets:
                for signal, ranks in places_of(embedder, search_set, chosen, report).items():
                    label = name if signal == "cosine" else f"{name}, {signal}"
                    places.setdefault(label, {})[search_set.name] = ranks
    rows = compared(places, cutoffs)
    set_records = [
        {
            "name": search_set.name,
            "questions": len(search_set.questions),
            "texts": len(search_set.texts),
            "left_out": search_set.left_out,
        }
        for search_set in search_sets
    ]
    if out:
        write_checked(out, json.dumps({"sets": set_records, "figures": rows}, indent=2) + "\n")
    if as_json:
        write_json({"sets": set_records, "figures": rows})
        return
    for search_set in search_sets:
        less = (
            f"; {search_set.left_out} left out, without evidence there"
            if search_set.left_out
            else ""
        )
        typer.echo(
            f"{search_set.name}: {len(search_set.questions)} questions, "
            f"{len(search_set.texts)} texts{less}."
        )
    typer.echo("\n".join(["", *tables(rows)]))


def _depths(text: str) -> list[int]:
    """Numbers with commas between them, in order and each once."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdecimal() and 0 < int(part) < 10_000 for part in parts):
        raise InputError(f"--k is {text!r}.", "Give numbers from 1, such as 1,3,5,10.")
    return sorted(set(map(int, parts)))
