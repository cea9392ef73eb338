"""The operator's settings file: address, collections, people, a proxy, audit, limits."""

import os
import unicodedata
from ipaddress import IPv4Network, IPv6Network, ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from lexloop.core.configuration import read_file
from lexloop.core.errors import SettingsError
from lexloop.core.settings import SAMPLE_CORPUS, settings_error
from lexloop.core.settings_groups import Tag
from lexloop_server.roles import Role

FILE = "server.toml"
VARIABLE = "LEXLOOP_SERVER"
NAME = r"^[\w][\w .-]{0,99}$"
"""Names of collections: not a path, and nothing that HTTP would split."""

Name = Annotated[str, Field(pattern=NAME)]


def composed(said: Any) -> Any:
    """Return a text with each letter in its composed form, since two forms may look alike."""
    return unicodedata.normalize("NFC", said) if isinstance(said, str) else said


PersonName = Annotated[
    str, BeforeValidator(composed), Field(pattern=r"^\w[\w .@+-]{0,99}$", max_length=100)
]
"""Names of people, which a proxy may send as well."""


class _Table(BaseModel):
    """A table of the file."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class CollectionSettings(_Table):
    """A collection: its corpus, title and description."""

    corpus: str = Field(min_length=1, description="A folder, a document, an index, or `sample`.")
    title: str = Field(default="", max_length=200)
    description: str = Field(default="", max_length=2000)


class PersonSettings(_Table):
    """A person, by their key or by the name that a proxy gives; by default they see all."""

    name: PersonName
    key_sha256: str = Field(default="", pattern=r"^([0-9a-f]{64})?$")
    collections: tuple[Name, ...] | None = None
    tags: tuple[Tag, ...] = ()
    role: Role = "reader"

    @model_validator(mode="before")
    @classmethod
    def _with_a_role(cls, values: Any) -> Any:
        """Accept ``may_upload``, which makes a person a curator if no role is set."""
        if not isinstance(values, dict) or "may_upload" not in values:
            return values
        rest = {name: value for name, value in values.items() if name != "may_upload"}
        uploads, role = values["may_upload"], rest.get("role")
        if not isinstance(uploads, bool):
            raise ValueError("may_upload is neither true nor false")
        if role is not None and uploads != (role != "reader"):
            raise ValueError(f"may_upload is {uploads}, which does not fit the role {role}")
        return {"role": "curator" if uploads else "reader", **rest}

    @property
    def may_upload(self) -> bool:
        """True if the person may create and change collections."""
        return self.role != "reader"


Header = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{0,100}$")]
Group = Annotated[str, BeforeValidator(composed), Field(pattern=r"^[^,\x00-\x1f]{1,200}$")]


class ProxySettings(_Table):
    """A reverse proxy, which says in ``header`` for whom it asks.

    In ``groups`` it names their groups. These give ``roles`` and ``tags`` to people who are not in
    the settings.
    """

    header: Header = ""
    groups: Header = ""
    roles: dict[Group, Role] = {}
    tags: dict[Group, tuple[Tag, ...]] = {}
    trusted: tuple[IPv4Network | IPv6Network, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.groups and (not self.header or not self.roles):
            raise ValueError("groups needs a header of the user, and roles")
        if self.groups and self.groups.lower() == self.header.lower():
            raise ValueError("groups and header are the same")
        if (self.roles or self.tags) and not self.groups:
            raise ValueError("roles and tags belong to groups, but no header for groups is set")
        if unknown := sorted({*self.tags}.difference(self.roles)):
            raise ValueError(f"{unknown[0]} has tags and no role")
        return self


class AuditSettings(_Table):
    """The settings of the audit log. ``questions`` are logged as text or as a keyed hash.

    ``person_mb_per_day`` limits the size of one person's lines per day.
    """

    questions: Literal["text", "keyed"] = "text"
    segment_mb: float = Field(default=64.0, ge=0.001, le=65536.0)
    person_mb_per_day: float = Field(default=50.0, ge=0.001, le=1e6)


class LimitSettings(_Table):
    """Limits for one person, and for all together."""

    requests_per_minute: int = Field(default=3000, ge=1, le=1_000_000)
    questions_per_minute: int = Field(default=300, ge=1, le=1_000_000)
    requests_at_once: int = Field(default=20, ge=1, le=10_000)
    body_mb: float = Field(default=1.0, gt=0.0, le=1024.0)
    upload_mb: float = Field(default=200.0, gt=0.0, le=65536.0)
    stored_mb: float = Field(default=2000.0, gt=0.0, le=1e9)
    body_s: float = Field(default=30.0, gt=0.0, le=3600.0)
    upload_s: float = Field(default=1800.0, gt=0.0, le=86400.0)
    idle_s: float = Field(default=10.0, gt=0.0, le=600.0)
    streams: int = Field(default=100, ge=1, le=10_000)
    questions_at_once: int | None = Field(default=None, ge=1, le=1000)
    queue_s: float = Field(default=30.0, gt=0.0, le=3600.0)


class ServerSettings(_Table):
    """The settings of a server.

    Raises:
        SettingsError: A value is not allowed, or a setting is unknown.
    """

    host: str = Field(default="127.0.0.1", min_length=1, max_length=253)
    port: int = Field(default=8321, ge=0, le=65535)
    hosts: tuple[str, ...] = ()
    anyone: bool = False
    session_hours: float = Field(default=12.0, gt=0.0, le=24 * 365)
    tags: tuple[Tag, ...] = ()
    collections: dict[Name, CollectionSettings] = Field(
        default={SAMPLE_CORPUS: CollectionSettings(corpus=SAMPLE_CORPUS)}, min_length=1
    )
    people: tuple[PersonSettings, ...] = ()
    proxy: ProxySettings | None = None
    audit: AuditSettings | None = None
    limits: LimitSettings = LimitSettings()

    @field_validator("collections", mode="before")
    @classmethod
    def _by_path_alone(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        return {
            name: {"corpus": value} if isinstance(value, str) else value
            for name, value in values.items()
        }

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        names = [person.name for person in self.people]
        keys = [person.key_sha256 for person in self.people if person.key_sha256]
        for kind, values in (("name", names), ("key", keys)):
            if len(set(values)) < len(values):
                raise ValueError(f"two people have the same {kind}")
        for person in self.people:
            if not person.key_sha256 and not (self.proxy and self.proxy.header):
                raise ValueError(f"{person.name} has no key_sha256, and no proxy has a header")
            for name in person.collections or ():
                if name not in self.collections:
                    raise ValueError(f"{person.name} is given {name}, which is not a collection")
        if self.proxy is not None and self.proxy.header and not self.with_people:
            raise ValueError("a proxy's header is set, and nobody whom it could name")
        return self

    @classmethod
    def of(cls, given: dict[str, Any], where: str = "") -> Self:
        """Return checked settings.

        Raises:
            SettingsError: A value is not allowed, or a setting is unknown.
        """
        try:
            return cls(**given)
        except ValidationError as error:
            if any("key_sha256" in item["loc"] for item in error.errors()):
                # who wrote the key itself in place of its hash is not to see it on a screen
                raise SettingsError(
                    f"{where}key_sha256 of somebody in people is not a SHA-256 of 64 digits.",
                    "Write what `lexloop serve --new-key NAME` prints.",
                ) from None
            raised = settings_error(error)
            raise SettingsError(f"{where}{raised.what}", raised.hint) from error

    @property
    def with_people(self) -> bool:
        """True if answers depend on the asker: there are people, or groups that a proxy names."""
        return bool(self.people or (self.proxy and self.proxy.groups))

    @property
    def corpora(self) -> list[str]:
        """Where the collections lie."""
        return [collection.corpus for collection in self.collections.values()]

    def check_guarded(self, said_again: bool) -> None:
        """Check that strangers cannot come in unless that was said twice.

        Args:
            said_again: Whether it was said on the command line, beside the file.

        Raises:
            SettingsError: The server would listen beyond this machine without keys.
        """
        if is_loopback(self.host) or self.with_people or (self.anyone and said_again):
            return
        raise SettingsError(
            f"The server would listen on {self.host} and let in anybody: it has no people.",
            "Give people keys (`lexloop serve --new-key NAME`), or say twice that anybody may "
            "ask and upload: `anyone = true` in the settings file and --anyone.",
        )


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine only."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() in ("localhost", "localhost.localdomain")


def settings_file(named: Path | None) -> Path | None:
    """Return the settings file that is named, here or by ``LEXLOOP_SERVER``; else the usual one."""
    if named is not None:
        return named
    if path := os.environ.get(VARIABLE):
        return Path(path)
    from platformdirs import user_config_path

    usual = user_config_path("lexloop") / FILE
    # unlike Path.is_file this answers under another's home, as after `su`
    return usual if os.path.isfile(usual) else None


def read_server_settings(file: Path | None, **changes: Any) -> ServerSettings:
    """Return the settings of a file, some of them changed.

    Args:
            file: TOML or JSON, or None for the defaults.
            changes: Settings that override the file's. None leaves the file's value.

    Raises:
        SettingsError: The file cannot be read, or a value is not allowed.
    """
    overrides = {name: value for name, value in changes.items() if value is not None}
    values = {**(read_file(file) if file else {}), **overrides}
    return ServerSettings.of(values, f"{file}: " if file else "")
