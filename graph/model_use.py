"""Whether a step runs on the model; lies apart so that indexing loads no components."""

from lexloop.core.errors import SettingsError
from lexloop.models.chat import ChatModel


def uses_model(name: str, choice: str, chat: ChatModel | None) -> bool:
    """Whether a step runs on the model: ``auto`` does when there is one.

    Raises:
        SettingsError: The step is set to the model and there is none.
    """
    if choice == "model" and chat is None:
        raise SettingsError(
            f"{name} is set to 'model', but no model is configured.",
            "Set model, for example to 'openai:gpt-4o-mini', or use 'embedded'.",
        )
    return choice == "model" or (choice == "auto" and chat is not None)
