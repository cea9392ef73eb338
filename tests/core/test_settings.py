from typing import Any

import pytest

from lexloop.core.errors import SettingsError
from lexloop.core.settings import Connection, Settings

KEY = "sk-very-secret"


def test_defaults_need_no_model_and_no_key() -> None:
    settings = Settings()
    assert (settings.corpus, settings.model, settings.variant) == ("sample", None, "hypa")
    assert (settings.classes, settings.max_retries, settings.candidates) == (3, 2, 30)


@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    [
        ("variant", "hyper", "'hypa', 'pa', 'fixed' or 'llm_only'"),
        ("classes", 4, "2 or 3"),
        ("classes", True, "2 or 3"),
        ("k", 0, "greater than or equal to 1"),
        ("k", 51, "less than or equal to 50"),
        ("k", "many", "valid integer"),
        ("Q", -1, "greater than or equal to 0"),
        ("S", 6, "less than or equal to 5"),
        ("fusion", "sum", "'standardised', 'linear', 'rrf' or 'weighted_rrf'"),
        ("rewriter", "llm", "'auto', 'embedded', 'model' or 'none'"),
        ("reranker", "big", "'embedded', 'cross_encoder' or 'none'"),
        ("evaluator", "", "'auto', 'embedded', 'model' or 'none'"),
        ("embedder", "cohere:x", "embedded|minilm|trained:.+|sentence-transformers:.+|openai:.+"),
        ("embedder", "openai:", "embedded|minilm|trained:.+|sentence-transformers:.+|openai:.+"),
        ("temperature", float("nan"), "less than or equal to 2"),
        ("deadline_s", 0.0, "greater than 0"),
        ("deadline_s", float("inf"), "less than or equal to 3600"),
        ("corpus", "", "at least 1 character"),
        ("max_retries", 6, "less than or equal to 5"),
    ],
)
def test_a_bad_value_is_named_with_what_is_allowed(field: str, value: Any, allowed: str) -> None:
    with pytest.raises(SettingsError) as raised:
        Settings(**{field: value})
    assert f"{field} is {value!r}" in raised.value.what
    assert allowed in raised.value.what


def test_an_unknown_setting_is_named() -> None:
    with pytest.raises(SettingsError, match=r"top_k is 3: .*not permitted"):
        Settings(**{"top_k": 3})


def test_every_wrong_setting_is_named_at_once() -> None:
    with pytest.raises(SettingsError, match=r"variant is 'x'.*k is 0"):
        Settings(**{"variant": "x", "k": 0})


@pytest.mark.parametrize("context", ["hypa", 3, ["hypa"]])
def test_what_is_no_mapping_is_refused(context: Any) -> None:
    with pytest.raises(SettingsError, match="settings is"):
        Settings.model_validate(context)


@pytest.mark.parametrize("classifier", ["transformer", "zero_shot"])
@pytest.mark.parametrize("model", [None, ""])
def test_a_classifier_that_needs_a_model_says_so(classifier: Any, model: str | None) -> None:
    with pytest.raises(SettingsError, match=f"classifier is '{classifier}', but classifier_model"):
        Settings(classifier=classifier, classifier_model=model)
    assert Settings(classifier=classifier, classifier_model="folder").classifier == classifier


def test_a_changed_copy_is_validated_and_leaves_the_original() -> None:
    settings = Settings(k=3)
    assert settings.changed(k=5, classes=2).k == 5
    assert settings.k == 3
    with pytest.raises(SettingsError, match="k is 99"):
        settings.changed(k=99)


def test_settings_are_frozen_and_hashable() -> None:
    assert Settings() == Settings()
    assert len({Settings(), Settings(), Settings(k=3)}) == 2


def test_every_field_explains_itself_in_studio() -> None:
    fields = Settings.model_json_schema()["properties"]
    assert len(fields) > 30
    assert [name for name, field in fields.items() if not field.get("description")] == []
    assert fields["variant"]["enum"] == ["hypa", "pa", "fixed", "llm_only"]
    assert not [name for name in fields if "key" in name.split("_") or "url" in name]


def test_a_connection_reads_its_own_two_variables() -> None:
    connection = Connection.from_environment(
        {"LEXLOOP_BASE_URL": "http://127.0.0.1:8000/v1", "LEXLOOP_API_KEY": KEY, "OTHER": "x"}
    )
    assert connection.base_url == "http://127.0.0.1:8000/v1"
    assert connection.api_key is not None
    assert connection.api_key.get_secret_value() == KEY


def test_variables_that_are_unset_or_empty_leave_it_to_the_provider() -> None:
    empty = Connection.from_environment({"LEXLOOP_BASE_URL": "", "LEXLOOP_API_KEY": ""})
    assert empty == Connection.from_environment({}) == Connection()


@pytest.mark.parametrize("url", ["ftp://host", "host:80", "http://", "http://a b", "javascript:1"])
def test_an_address_that_is_no_http_url_is_refused_without_the_key(url: str) -> None:
    with pytest.raises(SettingsError) as raised:
        Connection.from_environment({"LEXLOOP_BASE_URL": url, "LEXLOOP_API_KEY": KEY})
    assert f"base_url is {url!r}" in str(raised.value)
    assert KEY not in str(raised.value)


def test_the_key_is_in_no_representation() -> None:
    connection = Connection.from_environment({"LEXLOOP_API_KEY": KEY})
    shown = f"{connection!r} {connection} {connection.model_dump()} {connection.model_dump_json()}"
    assert KEY not in shown
