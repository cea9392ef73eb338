import traceback
from typing import Any

import pytest

from lexloop.core.errors import SettingsError
from lexloop.core.settings import Connection, Settings
from lexloop.core.settings_groups import ByPattern, Linear, ReciprocalRank

KEY = "sk-very-secret"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"plan.classes": 6}, r"plan\.classes is 6.*2, 3, 4 or 5"),
        ({"index.embedder": "cohere:x"}, r"embedder is 'cohere:x'.*embedded\|minilm\|trained:\.\+"),
        ({"access.as_of": "2024-13-01"}, r"as_of is '2024-13-01'.*month must be in 1\.\.12"),
        ({"model.temperature": float("nan")}, "temperature is nan.*less than or equal to 2"),
        ({"loop.max_retry": 3}, r"no setting 'loop\.max_retry'\. Did you mean 'loop\.max_"),
        ({"variant": "hyper"}, "variant is 'hyper'. Choose one of hypa, pa, fixed"),
        (
            {"fusion": "rrf", "fusion.bm25_boost": 0.3},
            r"bm25_boost belongs to linear, and fusion\.method is rrf",
        ),
        ({"chunking.tokens": 16, "chunking.overlap": 16}, "overlap is 16 and tokens 16"),
    ],
)
def test_what_cannot_be_set_is_named_with_what_can(given: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=f"(?s){said}"):
        Settings(**given)


def test_a_field_that_one_method_alone_has_chooses_the_method() -> None:
    assert Settings(**{"fusion.bm25_boost": 0.3}).fusion == Linear(bm25_boost=0.3)
    assert Settings(**{"fusion.k": 20}).fusion == ReciprocalRank(k=20)
    assert Settings(**{"chunking.pattern": "^A"}).chunking == ByPattern(pattern="^A")


def test_another_method_keeps_what_it_has_a_place_for() -> None:
    settings = Settings(**{"fusion.bm25_boost": 0.3, "fusion.documents": 4})
    assert settings.changed(fusion="rrf").fusion == ReciprocalRank(documents=4)
    assert settings.changed(**{"fusion.host_boost": 0.1}).fusion == Linear(
        documents=4, bm25_boost=0.3, host_boost=0.1
    )


def test_a_group_is_said_by_its_fields_a_mapping_or_a_word() -> None:
    named = Settings(**{"model.name": "openai:x", "model.seed": 3})
    assert named == Settings(model={"name": "openai:x", "seed": 3})
    assert named == Settings(**{"model": "openai:x", "model.seed": 3})
    assert Settings(**named.model_dump()) == named == named.changed()
    assert Settings(**named.flat()) == named
    assert named.differing(Settings()) == {"model.name": "openai:x", "model.seed": 3}


@pytest.mark.parametrize("variant", ["hypa", "pa", "fixed", "llm_only"])
def test_a_variant_stands_for_settings_and_is_told_from_them(variant: str) -> None:
    assert Settings(**Settings(variant=variant).model_dump()).variant == variant


def test_what_is_named_beside_a_variant_counts_more() -> None:
    fixed = Settings(variant="fixed").retrieval
    assert (fixed.rewriter, fixed.reranker, fixed.knowledge_graph) == ("none",) * 3
    assert Settings(variant="fixed").plan.k == 5
    assert Settings(**{"variant": "fixed", "plan.k": 9}).plan.k == 9
    assert Settings(**{"plan.k": 9}).changed(variant="fixed").plan.k == 9
    assert Settings(**{"variant": "fixed", "retrieval.reranker": "embedded"}).variant == "pa"


@pytest.mark.parametrize("budgets", [[1000, 2000], [1000] * 4, [99, 2000, 3000], "much"])
def test_each_class_has_a_budget_of_tokens(budgets: object) -> None:
    with pytest.raises(SettingsError, match=r"plan\.k is "):
        Settings(**{"plan.k": {"budgets": budgets}})


def test_every_field_explains_itself_in_studio() -> None:
    schema = Settings.model_json_schema()
    assert [n for n, field in schema["properties"].items() if not field.get("description")] == []
    fields = [
        (kind, name, field)
        for kind, one in schema["$defs"].items()
        for name, field in one["properties"].items()
    ]
    assert len(fields) > 50
    assert [(kind, name) for kind, name, field in fields if not field.get("description")] == []
    assert not [name for _, name, _ in fields if "key" in name.split("_") or "url" in name]


@pytest.mark.parametrize(
    ("address", "clean", "credentials"),
    [
        ("http://user:p%40ss@host:8000/v1", "http://host:8000/v1", "user:p@ss"),
        ("https://token@host/v1", "https://host/v1", "token:"),
    ],
)
def test_no_secret_of_an_address_is_shown(address: str, clean: str, credentials: str) -> None:
    connection = Connection(base_url=address, api_key=KEY)
    assert connection.base_url == clean
    assert connection.credentials is not None
    assert connection.credentials.get_secret_value() == credentials
    shown = f"{connection!r}{connection}{connection.model_dump()}{connection.model_dump_json()}"
    assert credentials not in shown
    assert KEY not in shown
    assert Connection.from_environment(connection.environment) == connection


@pytest.mark.parametrize("name", ["OPENAI_BASE_URL", "OPENAI_API_BASE"])
def test_a_password_that_a_client_library_would_read_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match=f"{name} has a password.*LEXLOOP_BASE_URL") as told:
        Connection.from_environment({name: "http://user:canary@host/v1"})
    assert "canary" not in str(told.value)
    assert Connection.from_environment({name: "http://host/v1"}) == Connection()


@pytest.mark.parametrize(
    "address",
    ["http://host/v1?api_key=canary", "http://host/v1#canary", "user:canary@host/v1", "ftp://host"],
)
def test_a_refused_address_shows_no_secret(address: str) -> None:
    variables = {"LEXLOOP_BASE_URL": address, "LEXLOOP_API_KEY": KEY}
    with pytest.raises((SettingsError, ValueError)) as told:
        Connection.from_environment(variables)
    shown = "".join(traceback.format_exception(told.value))
    assert "canary" not in shown
    assert KEY not in shown


@pytest.mark.parametrize(
    "corpus",
    ["opensearch://user:canary@host:9200/laws", "elasticsearch+tls://host/laws?api_key=canary"],
)
def test_an_engine_with_a_secret_is_refused_before_it_is_kept(corpus: str) -> None:
    with pytest.raises(SettingsError, match="LEXLOOP_ENGINE_PASSWORD") as told:
        Settings(corpus=corpus)
    assert "canary" not in "".join(traceback.format_exception(told.value))
    assert Settings(corpus="laws@home/2024?").corpus == "laws@home/2024?"
