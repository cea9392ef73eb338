"""Parameters of a model's request, and those that its host refuses.

Hosts that refuse a parameter answer with an error that names it. The call is then repeated without
it, and where that helps the refusal is remembered as long as the process lives, for that model at
that host.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lexloop.core.errors import SettingsError
from lexloop.core.settings import Settings
from lexloop.models.provider import Client, message_of, redacted, status_of

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_FIELDS = {
    "temperature": ("temperature",),
    "top_p": ("top_p",),
    "seed": ("seed",),
    "max_tokens": ("max_tokens", "num_predict", "max_output_tokens"),
    "num_ctx": ("num_ctx",),
    "reasoning_effort": ("reasoning_effort", "effort", "reasoning"),
}
"""The fields of LangChain's classes for each setting; the first that a class has is meant."""
_WORDS = {
    "max_tokens": ("max_tokens", "max_completion_tokens", "max_output_tokens", "num_predict"),
    "reasoning_effort": ("reasoning_effort", "reasoning", "effort", "thinking", "think"),
    "stream_options": ("stream_options", "include_usage"),
}
_OPENAI_REASONERS = re.compile(r"(?:^|[/:])(?:o\d|gpt-[5-9])(?!.*chat)")
_REFUSING = (400, 422)
_READ_CHARS = 500  # some hosts echo the whole request behind their reason

Refusals = dict[str, list[str]]
"""For each ``name=value`` the host's words, one for each way to say it that was refused."""

_known: dict[tuple[str, str], Refusals] = {}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a request.

    Args:
        name: The setting, or what hosts call it where there is none.
        value: Its value.
        ways: Fields of the client that say it; each is tried after the one before was refused.
        chosen: Whether the user set it.
    """

    name: str
    value: Any
    ways: tuple[Mapping[str, Any], ...]
    chosen: bool = True

    @property
    def said(self) -> str:
        """The parameter as ``name=value``; a host that refuses one value may take another."""
        return f"{self.name}={self.value}"

    def named_in(self, said: str) -> bool:
        """Return whether the words of a refusal name it."""
        words = "|".join(map(re.escape, _WORDS.get(self.name, (self.name,))))
        return re.search(rf"(?<![\w-])(?:{words})(?![\w-])", said, re.IGNORECASE) is not None


class Parameters:
    """The parameters of one model that the settings ask for.

    Raises:
        SettingsError: One is set that the provider has no place for.
    """

    def __init__(self, client: Client, settings: Settings) -> None:
        self._client = client
        # what nobody chose goes first where a host names two that exclude each other
        self._all = sorted(_parameters(client, settings), key=lambda p: p.chosen)

    @property
    def refusals(self) -> Refusals:
        """The parameters that the host is known to refuse of this model."""
        return _known.get((self._client.host, self._client.name), {})

    @property
    def left_out(self) -> list[tuple[str, str]]:
        """The user's settings that are not sent, as ``name=value``, and the host's words."""
        refusals = self.refusals
        return [
            (parameter.said, refusals[parameter.said][-1])
            for parameter in self._all
            if parameter.chosen and len(refusals.get(parameter.said, ())) >= len(parameter.ways)
        ]

    def remember(self, refusals: Refusals) -> None:
        """Remember what a call had to leave out to succeed."""
        _known[self._client.host, self._client.name] = {**self.refusals, **refusals}

    def applied(self, refusals: Refusals) -> "BaseChatModel":
        """Return the model with every parameter that was not refused."""
        fields: dict[str, Any] = {}
        for parameter in self._all:
            untried = parameter.ways[len(refusals.get(parameter.said, ())) :]
            fields.update(untried[0] if untried else {})
        return self._client.model.model_copy(update=fields)

    def refused(self, error: BaseException | None, refusals: Refusals) -> Refusals | None:
        """Return ``refusals`` with the parameter that ``error`` refuses; None if none."""
        if error is None:
            return None
        said = _refusal(error)
        for parameter in self._all:
            before = refusals.get(parameter.said, [])
            if len(before) < len(parameter.ways) and parameter.named_in(said):
                words = redacted(message_of(error), self._client.secrets)
                return {**refusals, parameter.said: [*before, words]}
        return None


def _parameters(client: Client, settings: Settings) -> list[Parameter]:
    wanted = settings.model.asked_with
    found = [_chosen(client, name, value) for name, value in wanted.items()]
    if not {"temperature", "top_p"} & wanted.keys() and _takes_temperature(client):
        found.append(Parameter("temperature", 0.0, ({"temperature": 0.0},), chosen=False))
    if client.provider == "openai":
        found.append(Parameter("stream_options", True, ({"stream_usage": True},), chosen=False))
    return found


def _chosen(client: Client, name: str, value: Any) -> Parameter:
    known = type(client.model).model_fields
    field = next((field for field in _FIELDS[name] if field in known), None)
    if field is None:
        raise SettingsError(
            f"{name} is {value!r}, but models of {client.provider} have no such parameter.",
            f"Unset {name}, or use a model of another provider.",
        )
    ways: tuple[dict[str, Any], ...] = ({field: value},)
    if name == "max_tokens" and client.provider == "openai":
        # the client says max_completion_tokens, which older hosts do not know
        ways = (*ways, {"extra_body": {name: value}})
    return Parameter(name, value, ways)


def _takes_temperature(client: Client) -> bool:
    """Return whether the model is not known to refuse a temperature."""
    if "temperature" not in type(client.model).model_fields:
        return False
    if client.provider == "openai" and _OPENAI_REASONERS.search(client.name.partition(":")[2]):
        return False
    profile = getattr(client.model, "profile", None) or {}
    return profile.get("temperature") is not False


def _refusal(error: BaseException) -> str:
    """Return what a refusal of the request names, or its message; "" for any other error.

    A plain ``ValueError`` is what a client raises that knows the model refuses a parameter.
    """
    if status_of(error) not in _REFUSING and type(error) is not ValueError:
        return ""
    named = getattr(error, "param", None)
    return named if isinstance(named, str) and named else message_of(error)[:_READ_CHARS]
