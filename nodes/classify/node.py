"""classify: the question of this turn, how complex it is, and so how much it may retrieve."""

from langgraph.runtime import Runtime

from lexloop.core.conversation import open_turn
from lexloop.core.running import computing
from lexloop.core.state import State, Update
from lexloop.nodes.classify.plan import chosen_class, plan_for
from lexloop.nodes.context import Context


@computing
def classify(state: State, runtime: Runtime[Context]) -> Update:
    """Open the turn, and plan the retrieval of its question.

    Raises:
        QuestionError: There is no question, or it cannot be used.
        SettingsError: The thread was answered for somebody who may see more.
    """
    context = runtime.context
    settings = context.settings
    turn = open_turn(state, settings.access.tags, settings.max_question_chars)
    probabilities = context.classifier.probabilities(turn["asked"], settings.plan.count)
    complexity = chosen_class(probabilities, settings.plan.min_class_probability)
    return {
        **turn,
        "complexity": complexity,
        "probabilities": probabilities,
        "plan": plan_for(complexity, settings),
        "degraded": list(context.degraded),
    }
