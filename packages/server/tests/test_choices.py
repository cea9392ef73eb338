"""What a caller may set, and how that is described."""

from typing import Any

import pytest

from lexloop.apps.offered import EMBEDDED_ALONE, choices, chosen
from lexloop.core.errors import SettingsError
from lexloop.core.settings import Settings

NOT_THEIRS = {"corpus", "access.tags", "plan.classifier", "retrieval.source", "max_question_chars"}


def test_no_folder_no_host_and_no_model_can_be_named() -> None:
    for settings in (Settings(), Settings(model="openai:x")):
        named = set(choices(settings))
        assert not named & NOT_THEIRS
        assert not [name for name in named if name.startswith(("model.", "index.", "chunking."))]
        assert named <= {*Settings().flat(), *(name for name in named if name[:7] == "fusion.")}


def test_every_choice_has_a_title_a_description_and_bounds() -> None:
    settings = Settings(**{"plan.Q": 3, "deadline_s": 20.0})
    found = choices(settings)
    for name, schema in found.items():
        assert schema["title"], name
        assert schema["description"], name
        assert schema.keys() & {"type", "anyOf", "enum", "$ref"}, name
        if name in settings.flat():  # and it can be sent back
            assert settings.changed(**chosen(settings, {name: schema["default"]})) == settings
    assert found["deadline_s"]["maximum"] == 20.0
    assert found["plan.Q"]["default"] == 3
    bounds = {"type": "integer", "minimum": 1, "maximum": 50, "default": 4}
    assert found["answer.statements"].items() >= bounds.items()
    assert found["retrieval.reranker"]["enum"] == ["embedded", "none"]
    plain = [schema["title"] for schema in found.values() if schema["group"] != "Advanced"]
    assert not [title for title in plain if title.endswith(")")]  # no letter of a paper's


def test_the_embedded_mode_is_a_choice_where_there_is_a_model() -> None:
    assert not EMBEDDED_ALONE.keys() <= choices(Settings()).keys()
    with_model = Settings(model="openai:x")
    changed = with_model.changed(**chosen(with_model, EMBEDDED_ALONE)).flat()
    assert {name: changed[name] for name in EMBEDDED_ALONE} == EMBEDDED_ALONE


@pytest.mark.parametrize(
    ("name", "value"),
    [("retrieval.reranker", "cross_encoder"), ("deadline_s", 120.5), ("variant", "llm_only")],
)
def test_other_values_and_names_are_refused(name: str, value: Any) -> None:
    with pytest.raises(SettingsError):
        chosen(Settings(model="openai:x"), {name: value})
