"""Settings, validated once at the edge, and the connection, which never enters a trace.

``Settings`` is the graph's context schema: Studio shows each field with its description and
choices. Where a model is reached and with which key lives in ``Connection``: a caller of a served
graph must not be able to send the server's key to a host of their choosing, and no secret may
land in a checkpoint.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator

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
    RetrievalSettings,
    Standardised,
)
from lexloop.core.settings_names import BEFORE, METHODS, VARIANTS, Variant, grouped

SAMPLE_CORPUS = "sample"
_MOST_SHOWN = 200


def _also_taken(schema: dict[str, Any]) -> None:
    """Add ``variant`` and the old names to a schema: a LangGraph server drops unknown names."""
    schema["properties"]["variant"] = {"enum": [*get_args(Variant)], "description": VARIANTS}
    for name, now in BEFORE.items():
        schema["properties"][name] = {"description": f"Called {now} now.", "deprecated": True}


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

    model_config = ConfigDict(json_schema_extra=_also_taken)

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
    deadline_s: float = Field(
        default=120.0, gt=0.0, le=3600.0, description="Wall-clock seconds one question may take."
    )
    max_question_chars: int = Field(
        default=4000, ge=1, le=100_000, description="The longest question accepted, in characters."
    )

    if TYPE_CHECKING:

        def __init__(self, **named: Any) -> None: ...

    @model_validator(mode="wrap")
    @classmethod
    def _raise_ours(cls, data: Any, handler: Any) -> Self:
        """Turn pydantic's errors into one SettingsError that names the allowed values."""
        try:
            checked: Self = handler(grouped(data, _DEFAULTS) if isinstance(data, Mapping) else data)
        except ValidationError as error:
            raise settings_error(error) from error
        return checked

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
        return type(self)(**grouped(changes, dict(self)))

    def differing(self, base: "Settings") -> dict[str, Any]:
        """Return the settings that differ from ``base``, by ``group.field``, as JSON values."""
        before = base.flat()
        return {name: value for name, value in self.flat().items() if value != before.get(name)}

    def flat(self) -> dict[str, Any]:
        """Return every setting by its ``group.field``, as JSON values."""
        found: dict[str, Any] = {}
        for name, value in self.model_dump(mode="json").items():
            if isinstance(getattr(self, name), Group):
                found |= {f"{name}.{field}": one for field, one in value.items()}
            else:
                found[name] = value
        return found


_DEFAULTS = {name: field.default for name, field in Settings.model_fields.items()}


class Connection(BaseModel):
    """Address and key of chat and embedding models: process-wide, never in a run's context.

    It serves the provider ``openai`` and hosts that are compatible with it; other providers read
    their own environment variables.

    Args:
        base_url: An OpenAI-compatible endpoint; None for the provider's own.
        api_key: The key; None leaves it to the provider's environment variable.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: str | None = Field(default=None, pattern=r"^https?://\S+$")
    api_key: SecretStr | None = None

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        """Read ``LEXLOOP_BASE_URL`` and ``LEXLOOP_API_KEY``.

        Raises:
            SettingsError: The URL is no http(s) URL.
        """
        try:
            return cls(
                base_url=environ.get("LEXLOOP_BASE_URL") or None,
                api_key=SecretStr(key) if (key := environ.get("LEXLOOP_API_KEY")) else None,
            )
        except ValidationError as error:
            raise settings_error(error) from error


def settings_error(error: ValidationError) -> SettingsError:
    """Return one error for the settings that pydantic refused, their values and choices."""
    problems: dict[str, list[str]] = {}
    for item in error.errors(include_url=False):
        said = f"{_named(item['loc'])} is {_shown(item.get('input'))}"
        wanted = item["msg"].removeprefix("Value error, ")
        if item["type"] == "model_type":  # its message names a class of ours
            wanted = "Input should be a mapping of settings"
        problems.setdefault(said, []).append(wanted)
    told = [f"{said}: {'; or '.join(messages)}." for said, messages in problems.items()]
    return SettingsError(" ".join(told), "Correct the setting and run again.")


def _named(place: tuple[int | str, ...]) -> str:
    """Return a setting's name from pydantic's location, which in a union also names the member."""
    if place and place[0] in METHODS:
        place = (place[0], *place[2:])
    return ".".join(map(str, place[:2])) or "settings"


def _shown(value: object) -> str:
    """Return a value as Python writes it, shortened where it is long."""
    try:
        written = repr(value)
    except ValueError:  # Python refuses to write numbers of more than 4,300 digits
        return "a number of thousands of digits"
    return written if len(written) <= _MOST_SHOWN else f"{written[:_MOST_SHOWN]}…"
