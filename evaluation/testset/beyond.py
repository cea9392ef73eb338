"""Questions out of scope: about a thing of the documents, for something they demonstrably lack."""

import re
from collections.abc import Iterator, Sequence
from random import Random

from lexloop.corpus.text.tokens import tokenize
from lexloop.evaluation.case import OUT_OF_SCOPE
from lexloop.evaluation.testset.ask import with_article
from lexloop.evaluation.testset.draft import Draft
from lexloop.evaluation.testset.facts import Fact
from lexloop.evaluation.testset.material import Material

_FRAMES = (
    ("How is {about} treated under the law of {lacking}?", "Australia"),
    ("Which court rulings from {lacking} deal with {about}?", "Canada"),
    ("What do the authorities of {lacking} say about {about}?", "Brazil"),
    ("How does {lacking} deal with {about}?", "Japan"),
    ("What does {lacking} say about {about}?", "the GDPR"),
    ("What has {lacking} decided about {about}?", "the Supreme Court"),
    ("How many {lacking} about {about} were there last year?", "lawsuits"),
    ("Which {lacking} is the best one for {about}?", "software"),
    ("Which {lacking} covers the risks that come with {about}?", "insurance"),
    ("Which {lacking} are there for whoever has to deal with {about}?", "subsidies"),
    ("Which {lacking} does somebody need to deal with {about}?", "certificate"),
    ("What has {lacking} said about {about}?", "the mayor"),
    ("What will change for {about} in {lacking}?", "2035"),
    ("Which {lacking} give advice on {about}?", "trade unions"),
    ("Where can one find a {lacking} for {about}?", "template"),
    ("What is the {lacking} for questions about {about}?", "telephone number"),
)  # fmt: skip
_MOST = 200
_READ = 500
_FEWEST_TOPICS = 5


def out_of_scope(facts: Sequence[Fact], rng: Random, material: Material) -> Iterator[Draft]:
    """Questions about what the documents speak of that ask for what they do not.

    None of the words for what is lacking occurs in any chunk, so nothing there can answer.
    """
    knows = material.view.knows
    lacked = [
        (frame, lacking) for frame, lacking in _FRAMES if not any(map(knows, tokenize(lacking)))
    ]
    topics = _topics([fact for fact in facts if fact.kind == "definition"])
    if len(topics) < _FEWEST_TOPICS:
        topics = _topics(facts)
    text = " ".join(chunk["text"] for chunk in material.chunks[:_READ]).lower()
    made = [(frame, lacking, _spoken(about, text)) for frame, lacking in lacked for about in topics]
    rng.shuffle(made)
    for frame, lacking, about in made[:_MOST]:
        answer = f"The documents do not answer this: they hold nothing about {lacking}."
        question = frame.format(about=about, lacking=lacking)
        yield Draft(question, OUT_OF_SCOPE, answer, ())


def _spoken(topic: str, text: str) -> str:
    """A quoted term with the article that the documents give it."""
    if not topic.startswith("'"):
        return topic
    term = topic.strip("'")
    for named in (with_article(term), f"the {term}"):
        if re.search(rf"\b{re.escape(named.lower())}\b", text):
            return named
    return term


def _topics(facts: Sequence[Fact]) -> list[str]:
    return sorted({fact.ask.subject.removeprefix("the term ") for fact in facts if _topic(fact)})


def _topic(fact: Fact) -> bool:
    about = fact.ask.subject
    mine = {"i", "you", "my", "your"} & set(about.lower().split())
    said = len(about.replace("the term ", "").split())
    too_little = said < 2 or (said < 3 and about.startswith("the ") and "term" not in about)
    return fact.kind not in ("alias", "penalty") and not mine and not too_little and said < 8
