"""Questions of every type made by rules from what the documents state."""

from collections.abc import Sequence
from random import Random

from lexloop.evaluation.case import OUT_OF_SCOPE
from lexloop.evaluation.testset import several, single
from lexloop.evaluation.testset.beyond import out_of_scope
from lexloop.evaluation.testset.cases import rule_conclusions
from lexloop.evaluation.testset.draft import Draft
from lexloop.evaluation.testset.facts import Fact, read_facts
from lexloop.evaluation.testset.material import Material


class RuleMaker:
    """Makes questions of every type.

    Args:
        material: The documents.
        seed: Of every choice; the same seed over the same documents gives the same questions.
    """

    def __init__(self, material: Material, seed: int) -> None:
        self._material, self._seed = material, seed
        self.facts = read_facts(material)

    def __call__(self, question_type: str, _: int) -> list[Draft]:
        """Every question of a type that can be made, in random order."""
        rng = Random(f"{self._seed}:{question_type}")  # noqa: S311 - a choice, no secret
        drafts = _drafts(question_type, self.facts, self._material, rng)
        rng.shuffle(drafts)
        return drafts


def _drafts(kind: str, facts: Sequence[Fact], material: Material, rng: Random) -> list[Draft]:
    if kind == OUT_OF_SCOPE:
        return list(out_of_scope(facts, rng, material))
    if kind == "rule_conclusion":
        return list(rule_conclusions(material))
    if kind == "distracting element":
        return list(single.distracted(facts, rng, material))
    return list(_SINGLE[kind](facts, rng))


_SINGLE = {
    "simple": single.simple,
    "complex": single.detailed,
    "situational": single.situational,
    "double": several.double,
    "conversational": single.conversational,
    "complex_situational": several.complex_situational,
    "vague": single.vague,
    "compare": several.compare,
}
