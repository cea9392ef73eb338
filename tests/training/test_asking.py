"""Words of asking, learned from small sets of questions with their answers."""

from lexloop_train.pairs import TrainingPair
from training.asking import asking


def test_a_word_of_asking_is_in_all_sets_and_in_few_answers() -> None:
    pairs = [
        TrainingPair(
            f"What amount is the toll{n % 5} of boat {n}?", said, "", f"{n}", f"set {n % 5}"
        )
        for n in range(60)
        # two thirds of the answers lack "amount", all have "boat", and no toll is in all sets
        for said in ["The boat pays 5 euros." if n % 3 else "The amount for a boat is 5 euros."]
    ]
    assert asking(pairs) == ["amount"]
