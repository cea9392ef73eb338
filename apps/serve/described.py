"""What a collection is about, and questions that it answers, made from its documents."""

from itertools import chain, islice, zip_longest
from typing import NotRequired, TypedDict

from lexloop.corpus.index.view import View
from lexloop.evaluation.testset.by_rules import RuleMaker
from lexloop.graph.collections import contents_of

_NAMED, _EXAMPLES = 3, 5
_MOST_CHUNKS = 1000
"""Chunks of a collection whose every sentence is read for examples, in about half a second."""
_READ = 20
_LONGEST = 160


class Example(TypedDict):
    """A question that may be asked; ``before`` are the questions that it goes on from."""

    type: str
    question: str
    before: NotRequired[list[str]]


OF_THE_SAMPLE: list[Example] = [
    {
        "type": "simple",
        "question": "For how long after the last use of an AEDT do the audit results have to stay "
        "posted?",
    },
    {
        "type": "complex",
        "question": "In what ways can a simplified output be used so that it is considered to "
        "substantially assist or replace discretionary decision making?",
    },
    {
        "type": "distracting element",
        "question": "Traffic on the expressway was awful this morning, so quickly: within what "
        "time does an employer have to answer a written request about the data its AEDT collects?",
    },
    {
        "type": "situational",
        "question": "I am an auditor and I own shares in the company that sells the AEDT that I "
        "have been asked to audit. Am I independent?",
    },
    {
        "type": "double",
        "question": "Who may start a court action under the AEDT law, and what relief may be "
        "asked for?",
    },
    {
        "type": "conversational",
        "question": "And for the ones after that?",
        "before": ["What is the civil penalty for the first violation of the AEDT law?"],
    },
    {
        "type": "complex_situational",
        "question": "I manage hiring for a retailer with applicants from New Jersey and from New "
        "York City. Which of them must receive AEDT notices, what must the notices say, and when "
        "must they be given?",
    },
    {
        "type": "out of scope",
        "question": "Does the Illinois law on video interviews with artificial intelligence "
        "require a bias audit as well?",
    },
    {"type": "vague", "question": "What about our website?"},
    {
        "type": "compare",
        "question": "What is the difference between a proceeding under § 20-872(d) and an action "
        "under § 20-873?",
    },
    {
        "type": "rule_conclusion",
        "question": "The latest bias audit of an AEDT was completed on March 1, 2023, and the "
        "employer is still using the tool on April 15, 2024. Is that allowed?",
    },
]
"""A gold question of each of the eleven types, whose embedded answers people have read."""


def examples_of(view: View) -> list[Example]:
    """Return a few questions that documents answer, of several types; none where none are found."""
    if len(view) > _MOST_CHUNKS:
        return [
            {"type": "simple", "question": f"What is meant by “{term}”?"}
            for term in islice(_terms(view), _EXAMPLES)
        ]
    maker = RuleMaker(view, 0)
    types = ("simple", "complex", "compare", "situational", "rule_conclusion")
    made = ([(kind, case.question) for case in maker(kind, _EXAMPLES)] for kind in types)
    found = filter(None, chain.from_iterable(zip_longest(*made)))
    short = ((kind, question) for kind, question in found if len(question) <= _LONGEST)
    return [{"type": kind, "question": said} for kind, said in islice(short, _EXAMPLES)]


def _terms(view: View) -> list[str]:
    """Return defined terms, one of each document in turn."""
    step = -(-len(view.documents) // _READ)
    trees = (view.tree_of(name) for name in view.documents[::step])
    defined = (
        [unit.heading for unit in tree.units if unit.kind == "definition"] for tree in trees if tree
    )
    return list(dict.fromkeys(filter(None, chain.from_iterable(zip_longest(*defined)))))


def description_of(view: View) -> str:
    """Return one line on what documents are about: whose law, and what it defines or regulates."""
    told = contents_of("", {"": view})
    said = told["Defines"] or told["About"]
    heads = [*told["Jurisdictions"][:_NAMED], "; ".join(said[:_EXAMPLES])]
    return " · ".join(filter(None, heads))
