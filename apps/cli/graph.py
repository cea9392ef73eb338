"""``lexloop graph show``: what the knowledge graph knows around an entity, printed and drawn."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.edge import reported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lexloop.core.settings import Settings
    from lexloop.corpus.knowledge.graph import KnowledgeGraph
    from lexloop.corpus.knowledge.neighbourhood import Relation

_NEAR = 5

commands = typer.Typer(name="graph", no_args_is_help=True, help="Look into the knowledge graph.")


@commands.callback()
def _top() -> None:
    """Look into the knowledge graph."""


@commands.command()
def show(
    *,
    context: typer.Context,
    entity: Annotated[
        str, typer.Argument(help="A term, an acronym or a section, e.g. 'bias audit' or '§ 5-301'.")
    ],
    depth: Annotated[
        int, typer.Option("--depth", min=1, max=2, help="How many entities away to look.")
    ] = 1,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=200, help="How many relations at most.")
    ] = 30,
    svg: Annotated[
        Path | None, typer.Option("--svg", metavar="FILE", help="Draw them into this file.")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write the drawing and the table as a page."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object and nothing else.")
    ] = False,
    corpus: options.Corpus = None,
    base_url: options.BaseUrl = None,
    embedder: options.Embedder = None,
    allowed_tags: options.Tags = None,
    as_of: options.AsOf = None,
    jurisdictions: options.Jurisdictions = None,
    source_kinds: options.Kinds = None,
    settings_file: options.SettingsFile = None,
    assignments: options.Assignments = None,
) -> None:
    """Show the relations around an entity, each with the place that states it."""
    with reported(as_json):
        settings = options.chosen_settings(context.params)
        graph = _open(settings, base_url)
        name = _named(graph, entity)
        relations = graph.neighbourhood(name, depth, limit)
        _draw(name, relations, svg, html)
        if as_json:
            from lexloop.apps.cli.terminal import write_json

            write_json(_report(name, depth, graph.degree(name), relations))
        else:
            _print(name, graph.degree(name), relations, [f for f in (svg, html) if f])


def _open(settings: "Settings", base_url: str | None) -> "KnowledgeGraph":
    from lexloop.apps.cli.progress import Progress
    from lexloop.apps.cli.session import say_where_text_goes, text_hosts
    from lexloop.core.errors import SettingsError
    from lexloop.graph.workshop import Workshop

    connection = options.chosen_connection(base_url)
    with Progress() as progress:
        progress.say("Loading")
        say_where_text_goes(text_hosts(settings, connection))
        source = Workshop(connection, progress=progress.corpus)(settings).graph_source
        if source is None:
            raise SettingsError(
                f"The settings leave the knowledge graph out (variant {settings.variant}, "
                f"knowledge_graph {settings.knowledge_graph}).",
                "Leave these settings at their defaults.",
            )
        return source.graph()


def _named(graph: "KnowledgeGraph", entity: str) -> str:
    """The entity asked for.

    Raises:
        InputError: There is none; the message names those that come near.
    """
    from lexloop.core.errors import InputError

    name = graph.find(entity)
    if name is not None:
        return name
    near = list(graph.match([entity], _NEAR)) or _spelled_like(graph, entity)
    hint = f"Near it are: {', '.join(map(repr, near))}." if near else "Ask for one of its terms."
    raise InputError(f"The knowledge graph of these documents has no entity {entity!r}.", hint)


def _spelled_like(graph: "KnowledgeGraph", entity: str) -> list[str]:
    import difflib

    # only names of about its length, since comparing with every one of a large graph takes seconds
    alike = [name for name in graph.entities if abs(len(name) - len(entity)) < _NEAR]
    return difflib.get_close_matches(entity.lower(), alike, _NEAR)


def _draw(name: str, relations: "Sequence[Relation]", svg: Path | None, html: Path | None) -> None:
    if svg is None and html is None:
        return
    from lexloop.apps.cli.graph_drawing import as_page, as_svg
    from lexloop.core.errors import InputError
    from lexloop.core.files import write_text

    drawing = as_svg(name, relations)
    for path, text in ((svg, drawing), (html, as_page(name, relations, drawing))):
        if path is not None:
            try:
                write_text(path, text)
            except OSError as error:
                raise InputError(
                    f"{path} cannot be written: {error}.", "Name a file in a folder of yours."
                ) from error


def _report(name: str, depth: int, degree: int, relations: "Sequence[Relation]") -> dict[str, Any]:
    return {
        "entity": name,
        "depth": depth,
        "degree": degree,
        "relations": [
            {
                **found.triplet,
                "subject_entity": found.subject,
                "object_entity": found.object,
                "reached": found.reached,
            }
            for found in relations
        ],
    }


def _print(
    name: str, degree: int, relations: "Sequence[Relation]", files: "Sequence[Path]"
) -> None:
    from rich import box
    from rich.table import Table

    from lexloop.apps.cli.graph_drawing import row
    from lexloop.apps.cli.terminal import one_line, plain, progress_console, result_console

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for title in ("subject", "relation", "object", "source"):
        table.add_column(title, overflow="fold")
    for found in relations:
        table.add_row(*map(plain, row(found)))
    console = result_console()
    console.print(plain(one_line(f"{name}: {degree} relations of its own"), "bold"))
    console.print(table)
    for path in files:
        progress_console().print(plain(one_line(f"Drawn in {path}"), "dim"))
