"""Classifiers that are transformers: a fine-tuned one (DistilBERT in HyPA-RAG) and zero-shot."""

from pathlib import Path
from typing import Any, Literal

from lexloop.core.errors import SettingsError
from lexloop.core.files import SUMS, check_sums
from lexloop.models.embedding import without_bars

_LONGEST = 512
_HINT = (
    "Set classifier_model to a folder or hub id of a sequence-classification model in "
    "safetensors form."
)


class TransformerClassifier:
    """A complexity classifier by a fine-tuned transformer whose label ids are the classes.

    Args:
        name: A local folder, or a hub id that transformers may download or has in its cache.

    Raises:
        SettingsError: Nothing loadable is there; see ``_load_sequence_classifier``.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._tokenizer, self._model = _load_sequence_classifier(name)

    def probabilities(self, question: str, classes: Literal[2, 3]) -> list[float]:
        """Return the probability of each number of pieces of context, fewest first.

        What exceeds the model's window of the question is cut off.

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


def _load_sequence_classifier(name: str) -> tuple[Any, Any]:
    """Load tokenizer and weights, from safetensors alone and without code of the repository's.

    The tokenizer has its window set to the model's, and the model is in evaluation mode.

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
    """A complexity classifier by the description that an NLI model finds entailed.

    HyPA-RAG, section 4.

    Args:
        name: A local folder or a hub id, for example ``facebook/bart-large-mnli``.

    Raises:
        SettingsError: Nothing loadable is there, or no label of the model is an entailment.
    """

    def __init__(self, name: str) -> None:
        from transformers import pipeline

        tokenizer, model = _load_sequence_classifier(name)
        labels = [str(label) for label in model.config.label2id]
        if not any(label.lower().startswith("entail") for label in labels):
            raise SettingsError(
                f"The classifier {name} has the labels {', '.join(labels)} and no entailment.",
                "Set classifier_model to a model trained for natural-language inference.",
            )
        self._pipeline: Any = pipeline(
            "zero-shot-classification", model=model, tokenizer=tokenizer, device="cpu"
        )

    def probabilities(self, question: str, classes: Literal[2, 3]) -> list[float]:
        """Return the probability of each description of the question, as in ``DESCRIPTIONS``.

        What exceeds the model's window is cut off. Blank text, which entails nothing, gives every
        class the same share.
        """
        described = DESCRIPTIONS[:classes]
        if not question.strip():
            return [1.0 / classes] * classes
        found = self._pipeline(question, list(described))
        share_of = dict(zip(found["labels"], found["scores"], strict=True))
        return [float(share_of[label]) for label in described]
