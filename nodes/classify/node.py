"""classify: the question of this turn, how complex it is, and so how much it may retrieve."""

import uuid

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.runtime import Runtime

from lexloop.core.conversation import checked_question, history_turns, message_text, tags_of_thread
from lexloop.core.errors import QuestionError
from lexloop.core.running import computing
from lexloop.core.state import State, Update
from lexloop.nodes.classify.plan import chosen_class, plan_for
from lexloop.nodes.context import Context


@computing
def classify(state: State, runtime: Runtime[Context]) -> Update:
    """Open the turn: check the question, plan its retrieval, and reset what the last turn left.

    Raises:
        QuestionError: There is no question, or it cannot be used.
        SettingsError: The thread was answered for somebody who may see more.
    """
    context = runtime.context
    settings = context.settings
    tags = tags_of_thread(state.get("allowed_tags", []), settings.access.tags)
    message, earlier = open_turn(state, settings.max_question_chars)
    asked = checked_question(message_text(message), settings.max_question_chars)
    probabilities = context.classifier.probabilities(asked, settings.plan.count)
    complexity = chosen_class(probabilities, settings.plan.min_class_probability)
    return {
        "allowed_tags": tags,
        "messages": [message],
        "turn_id": message.id or uuid.uuid4().hex,
        "asked": asked,
        "history": history_turns(earlier),
        "complexity": complexity,
        "probabilities": probabilities,
        "plan": plan_for(complexity, settings),
        "advice": None,
        "untranslated": "",
        "pointed": None,
        "attempts": [],
        "answer": "",
        "abstained": False,
        "warning": "",
        "read_as": [],
        "citations": [],
        "passages": [],
        "triplets": [],
        "degraded": list(context.degraded),
        "reasoning": [],
        "usage": {"model_calls": 0, "tokens_in": 0, "tokens_out": 0, "seconds": 0.0},
    }


def open_turn(state: State, limit: int) -> tuple[HumanMessage, list[AnyMessage]]:
    """Return the message that asks and those before it; ``question`` goes before ``messages``.

    Raises:
        QuestionError: There is none, or it cannot be used.
    """
    messages = state.get("messages", [])
    question = state.get("question")
    if question is not None and question != "":
        text = checked_question(question, limit)
        return HumanMessage(content=text, id=uuid.uuid4().hex), messages
    if messages and isinstance(messages[-1], HumanMessage):
        return messages[-1], messages[:-1]
    if question is None and not messages:
        raise QuestionError(
            "There is no question.", "Give `question`, or `messages` that end with the user's."
        )
    if question is not None:
        checked_question(question, limit)
    raise QuestionError("The last message is not the user's.", "End `messages` with a question.")
