"""``lexloop serve`` and ``lexloop mcp``: serve documents on one port, or to one program."""

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.options import option
from lexloop.apps.cli.session import say_where_text_goes
from lexloop.apps.cli.terminal import say
from lexloop.core.configuration import data_folder
from lexloop.core.errors import SettingsError
from lexloop.core.files import write_text

if TYPE_CHECKING:
    from lexloop_server.settings import ServerSettings

_TRIED = 20
_BACKLOG = 2048
_FILES = 65_536
_HOLDER, _MOST_HOLDER = "serving", 200
"""The file in which a server names itself, and the maximum characters read from it."""


@options.taking(*options.ANSWER)
def serve(
    *,
    context: typer.Context,
    config: Annotated[
        Path | None,
        option(
            "A TOML file of people, collections and limits. Default: LEXLOOP_SERVER, then "
            "server.toml in the user's configuration.",
            "FILE",
        ),
    ] = None,
    host: Annotated[str | None, option("Where to listen. Default: 127.0.0.1.")] = None,
    port: Annotated[
        int | None, option("The port; 0 for any. Default: 8321.", min=0, max=65535)
    ] = None,
    collections: options.Collections = None,
    anyone: Annotated[
        bool,
        option("Let in anybody from elsewhere; `anyone = true` says so again.", flag="--anyone"),
    ] = False,
    open_page: Annotated[bool, option("Open the page in a browser.", flag="--open")] = False,
    new_key: Annotated[
        str | None, option("Print a new key for a person, and leave.", "NAME", flag="--new-key")
    ] = None,
) -> None:
    """Serve the page, the HTTP API, OpenAI's protocol and MCP on one port."""
    import gc

    from lexloop_server.settings import read_server_settings, settings_file

    gc.disable()  # nothing that is loaded is garbage; the engine enables it when it is loaded
    if new_key is not None:
        _print_key(new_key)
        return
    settings = options.chosen_settings(context.params)
    server = read_server_settings(
        settings_file(config),
        host=host,
        port=port,
        collections=options.named_collections(collections, settings.corpus),
        tags=settings.access.tags or None,
    )
    server.check_guarded(anyone)
    with _listening(server) as listening, _alone_in(data_folder(), _where(server, listening)):
        _run(server, settings, options.chosen_connection(context.params), listening, open_page)


@options.taking(*options.ANSWER)
def mcp(*, context: typer.Context, collections: options.Collections = None) -> None:
    """Offer the documents to an agent's program: MCP over standard input and output."""
    settings = options.chosen_settings(context.params)
    from lexloop.apps.threads import LOCAL
    from lexloop_server.mcp_transports import serve_stdio
    from lexloop_server.people import Person
    from lexloop_server.settings import ServerSettings
    from lexloop_server.state import Serving

    chosen = options.named_collections(collections, settings.corpus)
    server = ServerSettings.of({"collections": chosen} if chosen else {})
    connection = options.chosen_connection(context.params)
    parts = Serving(server, settings, connection, named_alone=True)
    say_where_text_goes(parts.asking.hosts)
    person = Person(name=LOCAL, tags=settings.access.tags)
    try:
        serve_stdio(parts, person)
    finally:
        parts.engine.close()


def _run(
    server: "ServerSettings", settings: Any, connection: Any, listening: socket.socket, show: bool
) -> None:
    import uvicorn

    from lexloop_server.app import config_of, create_app

    _open_as_many_files_as_may_be()
    app = create_app(server, settings, connection)
    say_where_text_goes(app.state.serving.asking.hosts)
    address = _where(server, listening)
    access = "with a key" if server.with_people else "without a key"
    say(f"Lexloop serves {address} ({access}). Ctrl-C ends it.")
    if show:
        import webbrowser

        webbrowser.open(address)
    uvicorn.Server(config_of(app)).run(sockets=[listening])


@contextmanager
def _alone_in(data: Path, address: str) -> Iterator[None]:
    """Lock the data folder. The lock ends with the process, even if that is killed.

    Args:
        data: The folder. Every version uses the same lock.
        address: The address of this server, shown to a second one on the same folder.

    Raises:
        SettingsError: Another server uses the folder. Each would undo what the other keeps.
    """
    with ExitStack() as stack:
        with suppress(OSError):  # if nothing can be stored, no other server stores anything either
            data.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle = os.open(data, os.O_RDONLY)
            stack.callback(os.close, handle)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise SettingsError(
                    f"Another server keeps its sessions and conversations in {data}"
                    f"{_holder(data)}.",
                    "End it, or set LEXLOOP_DATA_DIR to a folder of this server's own.",
                ) from error
            write_text(data / _HOLDER, f"process {os.getpid()}, {address}")
        yield


def _holder(data: Path) -> str:
    """Return how the server that locks a folder names itself, or "" if it does not."""
    try:
        return f" ({(data / _HOLDER).read_text(encoding='utf-8')[:_MOST_HOLDER]})"
    except (OSError, ValueError):
        return ""


def _open_as_many_files_as_may_be() -> None:
    """Raise the limit of open files: every connection is one, and every index ten or so."""
    import resource

    usual, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if usual != resource.RLIM_INFINITY:
        allowed = _FILES if most == resource.RLIM_INFINITY else min(most, _FILES)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(usual, allowed), most))


def _print_key(name: str) -> None:
    import json

    from lexloop_server.people import new_key
    from lexloop_server.settings import ServerSettings

    key, digest = new_key()
    ServerSettings.of({"people": [{"name": name, "key_sha256": digest}]})
    say(f"The key of {name}, which is shown this once: {key}")
    say("Add to the server's settings file:")
    say()
    say("[[people]]")
    say(f"name = {json.dumps(name, ensure_ascii=False)}")
    say(f'key_sha256 = "{digest}"')


def _listening(server: "ServerSettings") -> socket.socket:
    """Return a socket that listens.

    Raises:
        SettingsError: The port is taken, or the address is not this machine's.
    """
    try:
        return _bound(server.host, server.port)
    except OSError as error:
        free = _next_free(server.host, server.port)
        hint = f"Use --port {free}, which is free." if free else "Use another --host or --port."
        why = str(error.strerror).partition(" (")[0]  # the address is already in the message
        raise SettingsError(
            f"Port {server.port} of {server.host} cannot be used: {why}.", hint
        ) from error


def _bound(host: str, port: int) -> socket.socket:
    place = host.strip("[]"), port
    ((family, *_), *_) = socket.getaddrinfo(*place, type=socket.SOCK_STREAM)
    both = family == socket.AF_INET6
    return socket.create_server(place, family=family, backlog=_BACKLOG, dualstack_ipv6=both)


def _next_free(host: str, port: int) -> int | None:
    """Return the next port that can be used, if one of the next few can."""
    for free in range(port + 1, min(port + 1 + _TRIED, 65536)):
        try:
            _bound(host, free).close()
        except OSError:
            continue
        return free
    return None


def _where(server: "ServerSettings", listening: socket.socket) -> str:
    return _address(server.host, listening.getsockname()[1])


def _address(host: str, port: int) -> str:
    """Return the address to open, which is this machine's if all addresses are served."""
    shown = host.strip("[]")
    try:
        ip = ip_address(shown)
        shown = ("::1" if ip.version == 6 else "127.0.0.1") if ip.is_unspecified else shown
    except ValueError:
        pass
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{port}/"
