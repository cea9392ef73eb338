"""What a collection is about, and questions that it answers, made from its documents."""

from itertools import chain, islice, zip_longest

from lexloop.apps.serve.bodies import ExampleBody
from lexloop.evaluation.case import read_cases
from lexloop.evaluation.testset.by_rules import RuleMaker
from lexloop.graph.collections import contents_of
from lexloop.store.opening import sample_gold
from lexloop.store.view import View

_NAMED, _EXAMPLES = 3, 5
_MOST_CHUNKS = 1000
"""Chunks of a collection whose every sentence is read for examples, in about half a second."""
_READ = 20
_LONGEST = 160


_OF_THE_SAMPLE = (
    *("simple-09", "complex-01", "distracting-07", "situational-04", "double-04"),
    *("conversational-04", "complex-situational-03", "out-of-scope-03", "vague-02"),
    *("compare-06", "rule-conclusion-02"),
)
"""A gold question of each of the eleven types, whose embedded answers people have read."""


def examples_of_the_sample() -> list[ExampleBody]:
    """Return a question of each type that the sample answers, those before it included."""
    gold = {case.id: case for case in read_cases(sample_gold())}
    return [
        ExampleBody(
            type=case.question_type,
            question=case.question,
            before=[said.content for said in case.conversation_history if said.role == "user"],
        )
        for case in map(gold.__getitem__, _OF_THE_SAMPLE)
    ]


def examples_of(view: View) -> list[ExampleBody]:
    """Return a few questions that documents answer, of several types; none where none are found."""
    if len(view) > _MOST_CHUNKS:
        return [
            ExampleBody(type="simple", question=f"What is meant by “{term}”?")
            for term in islice(_terms(view), _EXAMPLES)
        ]
    maker = RuleMaker(view, 0)
    types = ("simple", "complex", "compare", "situational")
    made = ([(kind, case.question) for case in maker(kind, _EXAMPLES)] for kind in types)
    found = filter(None, chain.from_iterable(zip_longest(*made)))
    short = ((kind, question) for kind, question in found if len(question) <= _LONGEST)
    return [ExampleBody(type=kind, question=said) for kind, said in islice(short, _EXAMPLES)]


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
