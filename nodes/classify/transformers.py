"""Classifiers that are transformers: a fine-tuned one (DistilBERT in HyPA-RAG) and zero-shot."""

from pathlib import Path
from typing import Any, Literal, Self

from lexloop.core.checksums import SUMS, check_sums
from lexloop.core.errors import SettingsError
from lexloop.models.bars import without_bars

_LONGEST = 512
_HINT = (
    "Set classifier_model to a folder or hub id of a sequence-classification model in "
    "safetensors form."
)


class TransformerClassifier:
    """Complexity of a question from a fine-tuned transformer whose label ids are the classes.

    Args:
        name: Folder or hub id it was loaded from, for messages.
        tokenizer: A transformers tokenizer.
        model: A transformers sequence-classification model.
    """

    def __init__(self, name: str, tokenizer: Any, model: Any) -> None:
        self._name = name
        self._tokenizer = tokenizer
        self._model = model

    @classmethod
    def load(cls, name: str) -> Self:
        """Load a model.

        Args:
            name: A local folder, or a hub id that transformers may download or has in its cache.

        Returns:
            The classifier.

        Raises:
            SettingsError: Nothing loadable is there; see ``load_sequence_classifier``.
        """
        return cls(name, *load_sequence_classifier(name))

    def probabilities(self, question: str, classes: Literal[2, 3]) -> list[float]:
        """Say how likely each number of pieces of context is.

        Args:
            question: Any text; what exceeds the model's window is cut off.
            classes: 3 for one, two, three or more pieces; 2 for one, more than one.

        Returns:
            ``classes`` probabilities that sum to 1, fewest pieces first.

        Raises:
            SettingsError: The model was trained for another number of classes.
        """
        import torch

        labels = int(self._model.config.num_labels)
        if labels != classes:
            raise SettingsError(
                f"The classifier {self._name} has {labels} labels, not {classes}.",
                "Set classes to the number of labels of the model, 2 or 3, or use another model.",
            )
        inputs = self._tokenizer(question, truncation=True, return_tensors="pt")
        with torch.inference_mode():
            logits = self._model(**inputs).logits[0]
        shares: list[float] = torch.softmax(logits.double(), dim=-1).tolist()
        return shares


def load_sequence_classifier(name: str) -> tuple[Any, Any]:
    """Load tokenizer and weights, from safetensors alone and without code of the repository's.

    Args:
        name: A local folder or a hub id.

    Returns:
        The tokenizer, with its window set to the model's, and the model in evaluation mode.

    Raises:
        SettingsError: The folder or id has no such model, its weights are not safetensors or are
            damaged, or it lacks a trained classification head.
        DataError: A folder's files are not those that its checksums name.
    """
    if (Path(name) / SUMS).is_file():
        check_sums(Path(name))
    from safetensors import SafetensorError
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    try:
        with without_bars():
            tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=False)
            model, loading = AutoModelForSequenceClassification.from_pretrained(
                name, trust_remote_code=False, use_safetensors=True, output_loading_info=True
            )
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        raise SettingsError(f"The classifier {name} cannot be loaded: {error}", _HINT) from error
    if loading["missing_keys"]:
        # transformers would fill these with random weights and only log a warning.
        missing = ", ".join(sorted(loading["missing_keys"]))
        raise SettingsError(f"The classifier {name} lacks trained weights: {missing}.", _HINT)
    positions = getattr(model.config, "max_position_embeddings", None) or _LONGEST
    # RoBERTa counts its positions from two.
    tokenizer.model_max_length = min(tokenizer.model_max_length, positions - 2, _LONGEST)
    return tokenizer, model.eval()


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
