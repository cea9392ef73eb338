"""What a caller of a served graph may have answers from: what their sign-in says, and no more."""

from dataclasses import dataclass
from typing import Any, Self

from lexloop.core.errors import AccessError
from lexloop.core.settings import Settings


@dataclass(frozen=True)
class Permit:
    """The corpora that somebody may ask, and the access tags they have in them."""

    corpora: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @classmethod
    def of(cls, user: Any) -> Self:
        """Return the permit of a signed-in user: the lists ``corpora`` and ``tags`` of the user.

        A user without them, such as the one that LangGraph makes for Studio, may ask nothing.
        """
        return cls(_listed(user, "corpora"), _listed(user, "tags"))

    def narrowed(self, settings: Settings) -> Settings:
        """Return a run's settings with the user's tags, or with those of them that the run names.

        Raises:
            AccessError: The run asks a corpus, or names a tag, that the user does not have.
        """
        if settings.corpus not in self.corpora:
            raise AccessError(
                f"You may not ask the corpus {settings.corpus!r}.",
                f"Name one of these as corpus: {', '.join(self.corpora) or 'you have none'}.",
            )
        named = settings.access.tags
        if foreign := [tag for tag in named if tag not in self.tags]:
            raise AccessError(
                f"You do not have the access tag {foreign[0]!r}.",
                "Leave access.tags out: your sign-in says which you have.",
            )
        return settings.changed(**{"access.tags": named or self.tags})


def _listed(user: Any, name: str) -> tuple[str, ...]:
    value = getattr(user, name, None) or ()
    return (value,) if isinstance(value, str) else tuple(map(str, value))
