"""A zero-shot classifier: the description of a question that an NLI model finds entailed."""

from typing import Any, Literal, Self

from lexloop.core.errors import SettingsError
from lexloop.nodes.classify.transformer import load_sequence_classifier

DESCRIPTIONS = ("simple question", "complex question", "overview question")


class ZeroShotClassifier:
    """Complexity of a question from natural-language inference (HyPA-RAG, section 4).

    Args:
        pipeline: A transformers pipeline for zero-shot classification.
    """

    def __init__(self, pipeline: Any) -> None:
        self._pipeline = pipeline

    @classmethod
    def load(cls, name: str) -> Self:
        """Load an NLI model.

        Args:
            name: A local folder or a hub id, for example ``facebook/bart-large-mnli``.

        Returns:
            The classifier.

        Raises:
            SettingsError: Nothing loadable is there, or no label of the model is an entailment.
        """
        from transformers import pipeline

        tokenizer, model = load_sequence_classifier(name)
        labels = [str(label) for label in model.config.label2id]
        if not any(label.lower().startswith("entail") for label in labels):
            raise SettingsError(
                f"The classifier {name} has the labels {', '.join(labels)} and no entailment.",
                "Set classifier_model to a model trained for natural-language inference.",
            )
        return cls(
            pipeline("zero-shot-classification", model=model, tokenizer=tokenizer, device="cpu")
        )

    def probabilities(self, question: str, classes: Literal[2, 3]) -> list[float]:
        """Say how likely each description of the question is.

        Args:
            question: Any text; what exceeds the model's window is cut off. Blank text, which
                entails nothing, gives every class the same share.
            classes: 3 for simple, complex and overview; 2 for simple and complex.

        Returns:
            ``classes`` probabilities that sum to 1, in the order of ``DESCRIPTIONS``.
        """
        described = DESCRIPTIONS[:classes]
        if not question.strip():
            return [1.0 / classes] * classes
        found = self._pipeline(question, list(described))
        share_of = dict(zip(found["labels"], found["scores"], strict=True))
        return [float(share_of[label]) for label in described]
