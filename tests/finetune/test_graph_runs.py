from lexloop.core.settings import Settings
from lexloop.evaluation.case import Case, Said
from lexloop.evaluation.graph_runs import retriever
from lexloop.store.view import Collection


def test_as_many_passages_as_asked_for_come_best_first(index: Collection) -> None:
    case = Case(question="What does a winter permit cost?")
    two, six = (retriever(index, Settings(), k)(case) for k in (2, 6))
    assert [passage["n"] for passage in six] == [1, 2, 3, 4, 5, 6]
    assert [passage["id"] for passage in six[:2]] == [passage["id"] for passage in two]
    assert "winter permit" in six[0]["text"]


def test_a_model_of_the_settings_is_not_asked(index: Collection) -> None:
    retrieve = retriever(index, Settings(model="openai:nobody"), 1)
    history = (Said(role="user", content="What does a winter permit cost?"),)
    case = Case(question="And who pays it?", conversation_history=history)
    assert len(retrieve(case)) == 1
