"""Who asks: by a key, by the session that a key opened, or by the name that a proxy gives."""

import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from threading import Lock
from typing import Annotated

from fastapi import Depends, Request
from pydantic import ValidationError

from lexloop.apps.threads import LOCAL
from lexloop.core.errors import AccessError, LexloopError, UnknownPerson
from lexloop.core.files import replacing, sync
from lexloop_server.roles import ROLES, Role
from lexloop_server.settings import PersonSettings, ServerSettings, composed

COOKIE = "lexloop_session"
SESSIONS = "sessions.json"
_BEARER = "bearer "
_MOST_SESSIONS = 10_000
_KEY_BYTES = 32


Person = PersonSettings
"""Who asks, and what they may."""


def new_key() -> tuple[str, str]:
    """Return a random key, and its hash for the settings file."""
    key = f"lexloop-{secrets.token_urlsafe(_KEY_BYTES)}"
    return key, key_hash(key)


def key_hash(key: str) -> str:
    """Return the SHA-256 of a key, as hexadecimal digits.

    A plain hash is enough, because keys are random and nobody can try them all.
    """
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


class People:
    """The people of the settings, and the open sessions.

    Args:
        settings: The settings, with the people and the proxy that may name others.
        file: Stores hashes of the sessions for the next start. None keeps them in memory only.
    """

    def __init__(self, settings: ServerSettings, file: Path | None = None) -> None:
        self._known = {person.name: person for person in settings.people}
        self._hashes = [
            (person.key_sha256, person.name) for person in settings.people if person.key_sha256
        ]
        self._proxy = settings.proxy
        self._lasting_s = settings.session_hours * 3600.0
        # the person at this machine runs the server; others, whom `anyone` lets in, do not
        role: Role = "curator" if settings.anyone else "operator"
        self._local = Person(name=LOCAL, tags=settings.tags, role=role)
        self._file, self._lock = file, Lock()
        self._sessions = _kept(file) if self._known else {}
        self.needs_key = settings.with_people

    def identified(self, headers: Mapping[str, str], address: str, session: str) -> Person | None:
        """Return the person who sent the request, or None if it names nobody.

        Args:
            headers: The request's headers, by lower-case names.
            address: The address of the client or proxy that connected.
            session: The session's cookie, or empty.

        Raises:
            UnknownPerson: The key is unknown.
            AccessError: The proxy names a person who is unknown and has no known group.
        """
        if not self.needs_key:
            return self._local
        authorization = headers.get("authorization", "")
        if authorization[: len(_BEARER)].lower() == _BEARER:
            return self.by_key(authorization[len(_BEARER) :].strip())
        if (forwarded := self._named_by_proxy(headers, address)) is not None:
            return forwarded
        return self._in_session(session) if session else None

    @property
    def proxies(self) -> list[str]:
        """The networks of proxies whose word counts."""
        return [] if self._proxy is None else [str(network) for network in self._proxy.trusted]

    def by_key(self, key: str) -> Person:
        """Return the owner of a key, in a time that does not reveal how nearly it fits.

        Raises:
            UnknownPerson: The key is unknown.
        """
        digest, whose = key_hash(key), ""
        for key_sha256, name in self._hashes:
            whose = name if hmac.compare_digest(key_sha256, digest) else whose
        if not whose:
            raise UnknownPerson("The key is nobody's.", "Ask the operator for one.")
        return self._known[whose]

    def open_session(self, key: str) -> str:
        """Return the token of a new session of the person with this key.

        Raises:
            UnknownPerson: The key is unknown.
        """
        self.by_key(key)
        time_s = time.time()
        token = secrets.token_urlsafe(_KEY_BYTES)
        with self._lock:
            sessions = {
                token: session for token, session in self._sessions.items() if session[1] > time_s
            }
            while len(sessions) >= _MOST_SESSIONS:
                sessions.pop(next(iter(sessions)))
            sessions[key_hash(token)] = (key_hash(key), time_s + self._lasting_s)
            self._sessions = sessions
            self._keep()
        return token

    def end_session(self, token: str) -> None:
        """End a session for good, if there is one.

        Raises:
            LexloopError: It has ended, but a restarted server would take it for open.
        """
        with self._lock:
            if self._sessions.pop(key_hash(token), None) and not self._keep():
                self._forget_all()

    def _in_session(self, token: str) -> Person | None:
        digest, until = self._sessions.get(key_hash(token), ("", 0.0))
        # who has another key since then has to sign in with it
        whose = dict(self._hashes).get(digest, "")
        # one that was opened while the clock was ahead would last for years
        lasts = 0 < until - time.time() <= self._lasting_s
        return self._known[whose] if whose and lasts else None

    def _keep(self) -> bool:
        """Keep the sessions, and return whether that worked. If not, they end with the process."""
        if self._file is not None:
            try:
                self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                with replacing(self._file, 0o600) as file:
                    file.write(json.dumps(self._sessions).encode())
                sync(self._file.parent)
            except OSError:
                return False
        return True

    def _forget_all(self) -> None:
        """Remove the file, which still tells an ended session; a full disk lets that be done."""
        if self._file is not None:
            try:
                self._file.unlink()
                sync(self._file.parent)
            except FileNotFoundError:
                pass
            except OSError as error:
                raise LexloopError(
                    f"You are signed out, but that cannot be kept: {error.strerror}.",
                    "Ask the operator to check the disk before the server restarts.",
                ) from error

    def trusts(self, address: str) -> bool:
        """Return whether the word of who connected from an address counts."""
        try:
            ip = ip_address(address)
        except ValueError:
            return False
        return self._proxy is not None and any(ip in network for network in self._proxy.trusted)

    @property
    def identity_headers(self) -> list[str]:
        """The lower-case names of the headers in which a proxy identifies people."""
        headers = (self._proxy.header, self._proxy.groups) if self._proxy else ()
        return [name.lower() for name in headers if name]

    def _named_by_proxy(self, headers: Mapping[str, str], address: str) -> Person | None:
        """Return the person whom a trusted proxy names. Other senders are ignored.

        A known person has the role in the settings, and anybody else the role of their groups.

        Raises:
            AccessError: The name is not valid, or the person may not come in.
        """
        proxy = self._proxy
        if proxy is None or not proxy.header or not self.trusts(address):
            return None
        if not (value := headers.get(proxy.header.lower(), "")):
            return None
        if (name := _read(value)) in self._known:
            return self._known[name]
        listed = _read(headers.get(proxy.groups.lower(), "")) if proxy.groups else ""
        groups = {group.strip() for group in listed.split(",")}
        roles = [role for group, role in proxy.roles.items() if group in groups]
        if not roles:
            raise AccessError(
                "The proxy names somebody whom the server's settings do not.",
                "Ask the operator to add you to its people, or a group of yours.",
            )
        tags = {tag for group, own in proxy.tags.items() if group in groups for tag in own}
        if name == LOCAL:  # owns what was stored before there were people
            raise AccessError("The proxy gives a reserved name.", _SEE_PROXY)
        try:
            return Person(name=name, role=max(roles, key=ROLES.index), tags=tuple(sorted(tags)))
        except ValidationError as error:
            raise AccessError("The proxy gives a name that nobody can have.", _SEE_PROXY) from error


_SEE_PROXY = "Ask the operator to check what the proxy sends."


def _read(value: str) -> str:
    """Return the text of a header, which is UTF-8 on the way.

    Raises:
        AccessError: It is not.
    """
    try:
        return str(composed(value.encode("latin-1").decode()))
    except UnicodeError as error:
        raise AccessError("Your name from the proxy is not UTF-8.", _SEE_PROXY) from error


def _kept(file: Path | None) -> dict[str, tuple[str, float]]:
    """Return the sessions in a file, or none if it cannot be read."""
    try:
        sessions = json.loads(file.read_text(encoding="utf-8")) if file else {}
        return {
            str(token): (str(digest), float(until)) for token, (digest, until) in sessions.items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def person_of(request: Request) -> Person:
    """Return the person of a request, as identified by the middleware."""
    person: Person = request.scope["lexloop.person"]
    return person


Asker = Annotated[Person, Depends(person_of)]
