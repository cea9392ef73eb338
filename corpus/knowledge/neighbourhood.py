"""What lies around an entity, for people to look at."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import NamedTuple

from lexloop.core.types import Triplet
from lexloop.corpus.knowledge.entities import cites, named_by, provisions_of
from lexloop.corpus.knowledge.incidence import Incidence
from lexloop.corpus.triplets.phrases import DETERMINERS, alternatives, entity_key

_EDGES = " ,;:.“”‘’\"'"


class Relation(NamedTuple):
    """A triplet near an entity.

    ``subject`` and ``object`` are the entities it leads from and to; ``reached`` is the one through
    which it was found, which may be neither: the section that states it, or one that is mentioned.
    """

    triplet: Triplet
    subject: str
    object: str
    reached: str


def triplets_around(graph: Incidence, entity: int, depth: int, limit: int) -> dict[int, int]:
    """Triplets up to ``depth`` entities away, each with the entity it was reached through.

    The nearest come first and, around one entity, the most telling. Those that a walk would not
    follow are taken only where nothing further off is looked for.
    """
    found: dict[int, int] = {}
    seen = {entity}
    ring = [entity]
    for _ in range(depth):
        ends: dict[int, None] = {}
        for leave in ring:
            rest = graph.triplets_at(leave).tolist() if depth == 1 else []
            for triplet in dict.fromkeys((*graph.near_to(leave), *rest)):
                if len(found) >= limit:
                    return found
                if triplet not in found:
                    found[triplet] = leave
                    ends.update(dict.fromkeys(graph.joined_by(triplet)))
        ring = [end for end in ends if end not in seen]
        seen.update(ring)
    return found


def relation(triplet: Triplet, joined: Sequence[str], reached: str) -> Relation:
    """A triplet between two of the entities that it joins, which begin with those of its object."""
    of_object = 1 if cites(triplet["object"]) else len(named_by(triplet["object"]))
    target = joined[0] if of_object else triplet["object"]
    named = [name for name in named_by(triplet["subject"]) if name in joined]
    if named:
        subject = named[0]
    elif triplet["predicate"] == "alias_of" or len(joined) <= of_object:
        subject = triplet["subject"]  # a short form is one with what it stands for
    else:
        subject = joined[of_object]
    return Relation(triplet, subject, target, reached)


def written_form(
    name: str, triplets: Iterable[Triplet], meant: Callable[[str], Container[str]]
) -> str:
    """The words of the documents that have a name; of several the commonest and shortest.

    Args:
        name: As the graph has it, in small letters and the singular.
        triplets: Some that mention it.
        meant: From a name to the names that it may stand for.
    """
    forms: Counter[str] = Counter()
    for triplet in triplets:
        phrases = (*provisions_of(triplet["section"]), triplet["subject"], triplet["object"])
        for phrase in phrases:
            whole = [part for part in (phrase, *alternatives(phrase)) if name in meant(part)]
            forms.update(whole[:1] or _runs(name, phrase.split(), meant))
    # one that is spelled out goes before a short form of it
    return min(
        forms, key=lambda form: (entity_key(form) != name, -forms[form], len(form), form),
        default=name,
    )  # fmt: skip


def _runs(name: str, words: Sequence[str], meant: Callable[[str], Container[str]]) -> Iterator[str]:
    """The first run of words that has a name."""
    for size in range(1, min(name.count(" ") + 2, len(words)) + 1):
        for first in range(len(words) - size + 1):
            run = " ".join(words[first : first + size]).strip(_EDGES)
            if words[first].lower() not in DETERMINERS and name in meant(run):
                yield run
                return
