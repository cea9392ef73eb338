"""Questions that an answer leads to: of what its documents answer, for its owner alone."""

import httpx
from servers import asked


def test_an_answer_leads_on_to_questions_that_its_documents_answer(ann: httpx.Client) -> None:
    answer = asked(ann, question="What is the civil penalty for a first violation?")
    found = ann.get(f"/answers/{answer['id']}/next").json()["questions"]
    assert 0 < len(found) <= 4
    assert all(asked(ann, question=question)["passed"] for question in found)
    hello = asked(ann, question="Hello!")
    assert ann.get(f"/answers/{hello['id']}/next").json() == {"questions": []}


def test_an_answer_of_somebody_else_leads_nowhere(ann: httpx.Client, bob: httpx.Client) -> None:
    assert bob.get(f"/answers/{asked(ann)['id']}/next").status_code == 404
