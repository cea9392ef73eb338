"""Settings, validated once at the edge, and the connection, which never enters a trace.

``Settings`` is the graph's context schema: Studio shows each field with its description and
choices. The address and key of a model are in ``Connection``, so that a caller of a served graph
cannot send the server's key to a host of their choosing, and no secret lands in a checkpoint.
"""

import difflib
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Self, get_args
from urllib.parse import quote, unquote

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)

from lexloop.core.errors import SettingsError
from lexloop.core.settings_groups import (
    AccessSettings,
    AnswerSettings,
    BySentences,
    Chunking,
    Fusion,
    Group,
    IndexSettings,
    LoopSettings,
    ModelSettings,
    PlanSettings,
    Price,
    PromptSettings,
    RetentionSettings,
    RetrievalSettings,
    Standardised,
    UserSettings,
)

SAMPLE_CORPUS = "sample"
_CREDENTIALS = re.compile(r"\s*+(?:[\w+.-]+:/*)??(?://)?(?P<named>[^/?#]*)@")
_ENGINE = re.compile(r"(?:elasticsearch|opensearch)(?:\+tls)?:")
_MOST_SHOWN = 200
_SLIP = 0.8
Variant = Literal["hypa", "pa", "fixed", "llm_only"]
VARIANTS = (
    "hypa: adaptive, with the knowledge graph; pa: without it; fixed: k passages, no rewriting, "
    "graph or reranker; llm_only: no retrieval and no citations."
)
"""The variants of HyPA-RAG's table 2. Each is a set of settings."""
FIXED_K = 5
"""The default k of the variant ``fixed``."""
_SHORT = {"fusion": "method", "chunking": "method", "model": "name"}
"""The field that stands for its group: ``fusion="rrf"``."""
_VARIANTS: dict[str, dict[str, Any]] = {
    "hypa": {"retrieval.source": "corpus", "retrieval.knowledge_graph": "embedded"},
    "pa": {"retrieval.source": "corpus", "retrieval.knowledge_graph": "none"},
    "fixed": {
        "retrieval.source": "corpus",
        "retrieval.knowledge_graph": "none",
        "retrieval.rewriter": "none",
        "retrieval.reranker": "none",
        "plan.k": FIXED_K,
    },
    "llm_only": {"retrieval.source": "none"},
}


def _kinds(union: Any) -> dict[str, type[Group]]:
    return {
        method: kind
        for kind in get_args(union)
        for method in get_args(kind.model_fields["method"].annotation)
    }


METHODS = {"fusion": _kinds(Fusion), "chunking": _kinds(Chunking)}
"""The groups whose fields depend on their method, by its name."""


_NODES = {
    "corpus": ["classify"],
    "index": ["hybrid_retrieve"],
    "chunking": ["hybrid_retrieve"],
    "access": ["hybrid_retrieve", "kg_retrieve"],
    "user": ["hybrid_retrieve", "kg_retrieve", "rerank"],
    "plan": ["classify"],
    "retrieval": ["rewrite", "hybrid_retrieve", "kg_retrieve", "rerank"],
    "fusion": ["hybrid_retrieve"],
    "answer": ["ask_back", "generate"],
    "loop": ["evaluate", "engineer_prompt"],
    "model": ["rewrite", "generate", "evaluate", "engineer_prompt"],
    "prompts": ["rewrite", "generate", "evaluate", "engineer_prompt"],
    "prices": ["generate"],
    "max_cost": ["generate"],
    "deadline_s": ["classify"],
    "max_question_chars": ["classify"],
    "variant": ["classify"],
}
"""The nodes at which Studio shows a setting; ``retention`` is no node's."""


def _as_shown(schema: dict[str, Any]) -> None:
    """Add ``variant`` to a schema, since a LangGraph server drops names that are not in it.

    Then name the nodes of each setting for Studio.
    """
    shown = schema["properties"]
    shown["variant"] = {"enum": [*get_args(Variant)], "description": VARIANTS}
    for name, nodes in _NODES.items():
        shown[name]["langgraph_nodes"] = nodes


class Settings(Group):
    """Settings for answering questions.

    Every field has a default that needs no key and no network. A setting is named ``group.field``,
    as in ``Settings(**{"fusion.bm25_boost": 0.3})``; a group takes a mapping, and ``fusion``,
    ``chunking`` and ``model`` a method or name alone. ``variant`` stands for the settings of
    HyPA-RAG's table 2: ``hypa``; ``pa``, without the knowledge graph; ``fixed``, k passages without
    rewriting, graph or reranker; ``llm_only``, no retrieval.

    Raises:
        SettingsError: A value is not allowed, or there is no setting of that name.
    """

    model_config = ConfigDict(json_schema_extra=_as_shown)

    corpus: str = Field(
        default=SAMPLE_CORPUS,
        min_length=1,
        description="A folder of documents, one document, an index made by `lexloop index` or its "
        "address in an engine, or `sample` for the bundled digest of NYC Local Law 144.",
    )
    index: IndexSettings = Field(
        default=IndexSettings(), description="Vectors and relations of an index."
    )
    chunking: Chunking = Field(
        default=BySentences(), discriminator="method", description="How documents are cut."
    )
    access: AccessSettings = Field(
        default=AccessSettings(), description="Who asks, and what is searched."
    )
    user: UserSettings = Field(
        default=UserSettings(), description="Who asks, and which documents concern them."
    )
    plan: PlanSettings = Field(
        default=PlanSettings(), description="How much a question may retrieve."
    )
    retrieval: RetrievalSettings = Field(
        default=RetrievalSettings(), description="Where passages come from, and in which order."
    )
    fusion: Fusion = Field(
        default=Standardised(),
        discriminator="method",
        description="How the signals of a search are fused.",
    )
    answer: AnswerSettings = Field(
        default=AnswerSettings(), description="Who writes the answer, and its length."
    )
    loop: LoopSettings = Field(
        default=LoopSettings(), description="What it takes to pass, and how often it is tried."
    )
    model: ModelSettings = Field(
        default=ModelSettings(), description="The chat model, and what it is asked with."
    )
    prompts: PromptSettings = Field(
        default=PromptSettings(), description="What a chat model is told at each step."
    )
    retention: RetentionSettings = Field(
        default=RetentionSettings(), description="How long conversations and feedback are kept."
    )
    prices: dict[str, Price] = Field(
        default={},
        description="What models cost, by their names, as `openai:gpt-4o-mini`: `input`, `output` "
        "and perhaps `cached`, in US dollars for a million tokens.",
    )
    max_cost: float | None = Field(
        default=None,
        ge=0.0,
        allow_inf_nan=False,
        description="US dollars that one question may cost with a model, whose prices are needed. "
        "One that would cost more ends with the best attempt so far.",
    )
    deadline_s: float = Field(
        default=120.0, gt=0.0, le=3600.0, description="Wall-clock seconds one question may take."
    )
    max_question_chars: int = Field(
        default=4000, ge=1, le=100_000, description="The longest question accepted, in characters."
    )

    if TYPE_CHECKING:

        def __init__(self, **named: Any) -> None: ...

    @field_validator("corpus")
    @classmethod
    def _without_secrets(cls, corpus: str) -> str:
        """Refuse an engine's address with a secret: settings are in traces and kept answers."""
        refuse_secrets(corpus)
        return corpus

    @model_validator(mode="wrap")
    @classmethod
    def _raise_ours(cls, data: Any, handler: Any) -> Self:
        """Turn pydantic's errors into one SettingsError that names the allowed values."""
        try:
            named = _grouped(data, _DEFAULTS) if isinstance(data, Mapping) else data
            checked: Self = handler(named)
        except ValidationError as error:
            raise settings_error(error) from error
        return checked

    @model_validator(mode="after")
    def _knows_what_it_limits(self) -> Self:
        unknown = sorted(self.model.names - self.prices.keys())
        if self.max_cost is not None and unknown:
            raise no_price(self.max_cost, unknown[0])
        return self

    @property
    def price(self) -> Price | None:
        """The prices of the model, or None if they are unknown; of several the dearest."""
        known = [self.prices.get(name) for name in self.model.names]
        if not known or None in known:
            return None
        each = [price for price in known if price is not None]
        cached = [price.input if price.cached is None else price.cached for price in each]
        return Price(
            input=max(price.input for price in each),
            output=max(price.output for price in each),
            cached=max(cached),
        )

    @property
    def authority(self) -> float:
        """The weight of a source's authority in reranking and in the choice of statements."""
        return max(self.retrieval.authority, getattr(self.fusion, "host_boost", 0.0))

    @property
    def variant(self) -> Variant:
        """The variant nearest to these settings."""
        its = self.retrieval
        if its.source == "none":
            return "llm_only"
        if its.knowledge_graph != "none":
            return "hypa"
        plain = isinstance(self.plan.k, int) and (its.rewriter, its.reranker) == ("none", "none")
        return "fixed" if plain else "pa"

    def __hash__(self) -> int:
        """Hash by content, as a field holds a mapping."""
        return hash(self.model_dump_json())

    def changed(self, **changes: Any) -> Self:
        """Return a validated copy with some settings changed, named as for ``Settings``."""
        return type(self)(**_grouped(changes, dict(self)))

    def differing(self, base: "Settings") -> dict[str, Any]:
        """Return the settings that differ from ``base``, by ``group.field``, as JSON values."""
        before = base.flat()
        return {name: value for name, value in self.flat().items() if value != before.get(name)}

    def flat(self) -> dict[str, Any]:
        """Return every setting by its ``group.field``, as JSON values."""
        settings: dict[str, Any] = {}
        for name, value in self.model_dump(mode="json").items():
            if isinstance(getattr(self, name), Group):
                settings |= {f"{name}.{field}": content for field, content in value.items()}
            else:
                settings[name] = value
        return settings


_DEFAULTS = {name: field.default for name, field in Settings.model_fields.items()}


def no_price(most: float, model: str | None) -> SettingsError:
    """Return the error for a cost limit without known prices of the model."""
    name = model or "openai:NAME"
    return SettingsError(
        f"max_cost is {most:g}, but the prices of {model or 'the model'} are not known.",
        f'Write [prices."{name}"] with `input = ...` and `output = ...`, in dollars for a million '
        "tokens, into lexloop.toml or a file for --settings; `lexloop index` also takes "
        "--price-in and --price-out.",
    )


def shaping(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that a manifest records: those that shape an index, and the model.

    Args:
        flat: Settings by ``group.field``.
    """
    return {
        name: value
        for name, value in flat.items()
        if name.startswith(("index.", "chunking.")) or name == "model.name"
    }


class Connection(BaseModel):
    """Address and key of chat and embedding models: process-wide, never in a run's context.

    It applies to the provider ``openai`` and to compatible hosts. Other providers read their own
    environment variables. A name and password in the address are removed here, so that nothing
    else can show them.

    Args:
        base_url: An OpenAI-compatible endpoint, or None for the provider's own.
        api_key: The key, or None for the provider's environment variable.
        credentials: ``name:password`` to use instead of the key; taken from the address if it
            contains them.

    Raises:
        SettingsError: The address cannot be read, or has a query, which logs would show.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: str | None = Field(default=None, pattern=r"^https?://\S+$")
    api_key: SecretStr | None = None
    credentials: SecretStr | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_credentials(cls, given: Any) -> Any:
        if not isinstance(given, Mapping) or not isinstance(address := given.get("base_url"), str):
            return given
        address, credentials = parted(address)
        if not {"?", "#", "@"}.isdisjoint(address):
            raise SettingsError(
                "The address of the model has a query, or an @ that ends no name and password.",
                "Set LEXLOOP_BASE_URL without it, and a key as LEXLOOP_API_KEY; in a password "
                "write / as %2F, ? as %3F and # as %23.",
            )
        named = {"credentials": SecretStr(credentials)} if credentials else {}
        return {**given, "base_url": address, **named}

    @property
    def environment(self) -> dict[str, str]:
        """Return environment variables that pass this on to a process of our own.

        Unlike arguments, they do not show in a list of processes.
        """
        variables = {}
        if self.base_url:
            scheme, _, rest = self.base_url.partition("://")
            named = self.credentials.get_secret_value() if self.credentials else ""
            user, _, password = named.partition(":")
            at = f"{quote(user, safe='')}:{quote(password, safe='')}@" if named else ""
            variables["LEXLOOP_BASE_URL"] = f"{scheme}://{at}{rest}"
        if self.api_key:
            variables["LEXLOOP_API_KEY"] = self.api_key.get_secret_value()
        return variables

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        """Read ``LEXLOOP_BASE_URL`` and ``LEXLOOP_API_KEY``.

        Raises:
            SettingsError: The URL is not an http(s) URL, or a variable that a client library reads
                itself has a password in its address, which that library would show.
        """
        for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
            if parted(environ.get(name, ""))[1]:
                raise SettingsError(
                    f"The address in {name} has a password, which would be in logs and traces.",
                    f"Unset {name} and set LEXLOOP_BASE_URL to the same address.",
                )
        try:
            return cls(
                base_url=environ.get("LEXLOOP_BASE_URL") or None,
                api_key=SecretStr(key) if (key := environ.get("LEXLOOP_API_KEY")) else None,
            )
        except ValidationError as error:
            raise settings_error(error) from error


def refuse_secrets(address: str) -> None:
    """Refuse an engine's address that holds a user, a password or a query, without showing it.

    Raises:
        SettingsError: It does.
    """
    if _ENGINE.match(address) and not {"@", "?", "#"}.isdisjoint(address):
        raise SettingsError(
            "The engine's address holds a user, a password or a query.",
            "Set LEXLOOP_ENGINE_USER and LEXLOOP_ENGINE_PASSWORD, or LEXLOOP_ENGINE_API_KEY.",
        )


def parted(address: str) -> tuple[str, str]:
    """Return an address without the name and password in it, and these as ``name:password``."""
    match = _CREDENTIALS.match(address)
    if not match:
        return address, ""
    name, _, password = match["named"].partition(":")
    return address[: match.start("named")] + address[match.end() :], (
        f"{unquote(name)}:{unquote(password)}" if match["named"] else ""
    )


def _grouped(named: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings by name as groups.

    Args:
        named: Values by ``group.field``, by group (a mapping or its shorthand), or ``variant``.
        base: The groups and settings to change. If a group's method changes, the fields that the
            new method also has are kept.

    Raises:
        SettingsError: The setting is unknown, or the method does not have it.
    """
    groups: dict[str, Any] = {}
    for name, value in _with_variant(dict(named), base).items():
        group, _, field = name.partition(".")
        if group not in base:
            raise _unknown_setting(name, every_name())
        if field:
            _put(groups, group, field, value)
        elif isinstance(base[group], Group) and isinstance(value, Mapping):
            for field, content in value.items():
                _put(groups, group, str(field), content)
        elif group in _SHORT and not isinstance(value, Group):
            _put(groups, group, _SHORT[group], value)
        else:
            groups[group] = value
    changed = {name: _over(name, base[name], change) for name, change in groups.items()}
    return {**base, **changed}


def slip_of(name: str, names: Iterable[str], ratio: float = _SLIP) -> str | None:
    """Return the name that another one equals or misspells, or None if there is none.

    Args:
        name: A name from a place that may also hold names that are not ours.
        names: The names that may be meant.
        ratio: difflib's ratio above which a name counts as misspelt. ``corpsu`` has 0.83.
    """
    return next(iter(difflib.get_close_matches(name, names, n=1, cutoff=ratio)), None)


@cache
def every_name() -> tuple[str, ...]:
    """Return the names of all groups and settings, ``variant`` included."""
    fields = [
        f"{name}.{field}"
        for name, default in _DEFAULTS.items()
        for kind in METHODS.get(name, {"": type(default)}).values()
        if isinstance(default, Group)
        for field in kind.model_fields
    ]
    return (*_DEFAULTS, "variant", *fields)


def _put(groups: dict[str, Any], group: str, field: str, value: Any) -> None:
    fields = groups.setdefault(group, {})
    name, _, part = field.partition(".")
    if part:
        fields[name] = {**(before if isinstance(before := fields.get(name), dict) else {})}
        fields = fields[name]
    fields[part or name] = value


def _over(name: str, base: Any, change: Any) -> Any:
    """Return a group with some fields changed, its method perhaps among them."""
    if not isinstance(base, Group) or not isinstance(change, dict):
        return change
    known = type(base).model_fields
    if kinds := METHODS.get(name):
        method = _method(name, getattr(base, "method"), kinds, change)  # noqa: B009
        if method not in kinds:
            return {**change, "method": method}
        known, change = kinds[method].model_fields, {**change, "method": method}
    if other := change.keys() - known:
        raise _no_field(name, min(other), METHODS.get(name, {"": type(base)}), change)
    kept = {field: getattr(base, field) for field in type(base).model_fields if field in known}
    return {**kept, **change}


def _no_field(
    name: str, field: str, kinds: Mapping[str, type[Group]], change: Mapping[str, Any]
) -> SettingsError:
    """Return the error for a field that does not exist, or not with this method."""
    if having := [method for method, kind in kinds.items() if field in kind.model_fields]:
        return SettingsError(
            f"{name}.{field} belongs to {' and '.join(having)}, and {name}.method is "
            f"{change['method']}.",
            f"Leave it out, or set {name}.method={having[0]}.",
        )
    known = {f"{name}.{option}" for kind in kinds.values() for option in kind.model_fields}
    return _unknown_setting(f"{name}.{field}", known)


def _method(name: str, now: str, kinds: Mapping[str, type[Group]], change: dict[str, Any]) -> str:
    """Return the method that is named, else the current one or the first with all these fields."""
    if "method" in change:
        return str(change["method"])
    able = [method for method, kind in kinds.items() if change.keys() <= kind.model_fields.keys()]
    return now if now in able or not able else able[0]


def _with_variant(named: dict[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    """Return a variant's settings, overridden by those named one by one."""
    if "variant" not in named:
        return named
    variant = named.pop("variant")
    if variant not in get_args(Variant):
        allowed = ", ".join(get_args(Variant))
        raise SettingsError(f"variant is {variant!r}.", f"Choose one of {allowed}.")
    meant = dict(_VARIANTS[variant])
    if isinstance(base["plan"].k, int):
        meant.pop("plan.k", None)
    return {**meant, **named}


def _unknown_setting(name: str, known: Iterable[str]) -> SettingsError:
    """Return the error for an unknown setting, with the one that was perhaps meant."""
    names = sorted(set(known))
    near = difflib.get_close_matches(name, names, n=1)
    meant = f"Did you mean {near[0]!r}? " if near else ""
    return SettingsError(
        f"There is no setting {name!r}.", f"{meant}Here there are {', '.join(names)}."
    )


def settings_error(error: ValidationError) -> SettingsError:
    """Return one error for the settings that pydantic refused, their values and choices."""
    problems: dict[str, list[str]] = {}
    for item in error.errors(include_url=False):
        problem = f"{_named(item['loc'])} is {_shown(item.get('input'))}"
        wanted = item["msg"].removeprefix("Value error, ")
        if item["type"] == "model_type":  # its message names a class of ours
            wanted = "Input should be a mapping of settings"
        problems.setdefault(problem, []).append(wanted)
    sentences = [f"{problem}: {'; or '.join(messages)}." for problem, messages in problems.items()]
    return SettingsError(" ".join(sentences), "Correct the setting and run again.")


def _named(place: tuple[int | str, ...]) -> str:
    """Return a setting's name from pydantic's location, which in a union also names the member."""
    if place and place[0] in METHODS:
        place = (place[0], *place[2:])
    return ".".join(map(str, place[:2])) or "settings"


def _shown(value: object) -> str:
    """Return a value as Python writes it, shortened if it is long."""
    try:
        written = repr(value)
    except ValueError:  # Python refuses to write numbers of more than 4,300 digits
        return "a number of thousands of digits"
    return written if len(written) <= _MOST_SHOWN else f"{written[:_MOST_SHOWN]}…"
