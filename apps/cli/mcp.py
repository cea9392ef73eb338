"""``lexloop mcp``: the Model Context Protocol over standard input and output."""

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.serve import NEEDED
from lexloop.apps.cli.session import say_where_text_goes
from lexloop.core.errors import need_extra


@options.taking(*options.ANSWER)
def mcp(*, context: typer.Context, collections: options.Collections = None) -> None:
    r"""Offer the documents to an agent's program: MCP over standard input and output.

    Needs the extra lexloop\[serve].
    """
    need_extra("serve", *NEEDED)
    settings = options.chosen_settings(context.params)
    connection = options.chosen_connection(context.params)
    from lexloop.apps.hosts import text_hosts
    from lexloop.apps.serve.app import parts_of
    from lexloop.apps.serve.engine import Engine
    from lexloop.apps.serve.mcp_transports import serve_stdio
    from lexloop.apps.serve.people import LOCAL, Person
    from lexloop.apps.serve.settings import ServerSettings

    named = options.named_collections(collections, settings.corpus)
    server = ServerSettings.of({"collections": named} if named else {})
    hosts = text_hosts(settings, connection, *server.corpora)
    parts = parts_of(server, Engine(settings, connection), hosts, named_alone=True)
    say_where_text_goes(parts.asking.hosts)
    person = Person(LOCAL, tags=settings.access.tags)
    try:
        serve_stdio(parts.asking, parts.collections, person)
    finally:
        parts.engine.close()
