"""What the knowledge graph knows around an entity, in the documents' own words."""

from typing import Any, NamedTuple

from lexloop.apps.provisions import NEAR, similar
from lexloop.core.errors import InputError
from lexloop.core.folding import folded
from lexloop.store.graph import KnowledgeGraph, Relation


class Neighbourhood(NamedTuple):
    """An entity, the number of its own relations, and relations up to ``depth`` entities away."""

    name: str
    depth: int
    degree: int
    relations: list[Relation]

    def record(self) -> dict[str, Any]:
        """Return the same as plain data."""
        return {
            "entity": self.name,
            "depth": self.depth,
            "degree": self.degree,
            "relations": [
                {
                    **found.triplet,
                    "subject_entity": found.subject,
                    "object_entity": found.object,
                    "reached": found.reached,
                }
                for found in self.relations
            ],
        }


def neighbourhood(
    graph: KnowledgeGraph, entity: str, depth: int, limit: int, *, where: str, elsewhere: str = ""
) -> Neighbourhood:
    """Return the relations around an entity, each with the place that states it.

    Args:
        graph: Of all documents that the asker may see.
        entity: A term, an acronym or a section.
        depth: How many entities away to look.
        limit: The most relations.
        where: What the documents are called where there is no such entity.
        elsewhere: What else may be done then.

    Raises:
        InputError: There is none; what is like it is named.
    """
    name = _named(graph, entity, where, elsewhere)
    relations = graph.neighbourhood(name, depth, limit)
    ends = (end for found in relations for end in (found.subject, found.object, found.reached))
    words = graph.written([name, *ends])
    shown = [
        found._replace(
            subject=words[found.subject], object=words[found.object], reached=words[found.reached]
        )
        for found in relations
    ]
    return Neighbourhood(words[name], depth, graph.degree(name), shown)


def _named(graph: KnowledgeGraph, entity: str, where: str, elsewhere: str) -> str:
    name = graph.find(entity)
    if name is not None:
        return name
    known = {name: name for name in graph.entities}
    alike = list(graph.match([entity], NEAR)) or similar(folded(entity).lower(), known)
    words = dict.fromkeys(graph.written(alike).values())
    hint = f"Near it are: {', '.join(map(repr, words))}." if alike else "Ask for one of its terms."
    raise InputError(
        f"The knowledge graph of {where} has no entity {entity!r}.", f"{hint} {elsewhere}".strip()
    )
