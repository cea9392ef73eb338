"""Files and environment: each source counts more than those before it."""

from pathlib import Path

import pytest

from lexloop.core.configuration import configured, read_value
from lexloop.core.errors import SettingsError
from lexloop.core.settings import Settings
from lexloop.core.settings_groups import Linear, ReciprocalRank


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own file, which is not there yet."""
    path = tmp_path / "user.toml"
    monkeypatch.setenv("LEXLOOP_CONFIG", str(path))
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A folder of documents; ``lexloop.toml`` in it is not there yet."""
    folder = tmp_path / "laws"
    folder.mkdir()
    return folder


def test_later_sources_override(user: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user.write_text('[fusion]\nmethod = "linear"\nbm25_boost = 0.1\ndocuments = 4\n')
    told = {"corpus": str(corpus)}
    assert configured(told).fusion == Linear(bm25_boost=0.1, documents=4)
    (corpus / "lexloop.toml").write_text("fusion.bm25_boost = 0.2\n")
    assert configured(told).fusion == Linear(bm25_boost=0.2, documents=4)
    monkeypatch.setenv("LEXLOOP_FUSION__BM25_BOOST", "0.3")
    assert configured(told).fusion == Linear(bm25_boost=0.3, documents=4)
    assert configured(told, {"fusion": "rrf"}).fusion == ReciprocalRank(documents=4)


def test_the_environment_sets_groups_and_fields(
    user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "LEXLOOP_MODEL": "openai:x",
        "LEXLOOP_MODEL__SEED": "3",
        "LEXLOOP_PLAN__k": "9",
        "LEXLOOP_PLAN__K": "2",
        "LEXLOOP_PLAN__classes": "2",
        "LEXLOOP_ACCESS__TAGS": '["staff"]',
        "LEXLOOP_ACCESS__AS_OF": "2024-01-31",
        "LEXLOOP_DEADLINE_S": "30",
        "LEXLOOP_CORPUS": "2024",
        "LEXLOOP_VARIANT": "pa",
        "LEXLOOP_RETRIEVAL__REWRITER": "",
        "LEXLOOP_API_KEY": "sk-secret",
    }.items():
        monkeypatch.setenv(name, value)
    assert configured().differing(Settings()) == {
        "model.name": "openai:x",
        "model.seed": 3,
        "plan.k": 9,
        "plan.K": 2,
        "plan.classes": 2,
        "access.tags": ["staff"],
        "access.as_of": "2024-01-31",
        "deadline_s": 30.0,
        "corpus": "2024",
        "retrieval.knowledge_graph": "none",
    }


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("LEXLOOP_CORPSU", "LEXLOOP_CORPUS"),
        ("lexloop_corpus", "LEXLOOP_CORPUS"),
        ("LEXLOP_CORPUS", "LEXLOOP_CORPUS"),
        ("LEXLOOP_VARIANT__X", "LEXLOOP_VARIANT"),
        ("LEXLOOP_PLAN_K", "LEXLOOP_PLAN__K"),
        ("LEXLOOP_PLN__K", "LEXLOOP_PLAN__K"),
        ("LEXLOOP_COLECTIONS", "LEXLOOP_COLLECTIONS"),
        ("LEXLOOP_CONFG", "LEXLOOP_CONFIG"),
        ("LEXLOOP_ENGINE_PASWORD", "LEXLOOP_ENGINE_PASSWORD"),
        ("LEXLOOP_DOCUMENTS__FOLDER", None),
    ],
)
def test_a_misspelt_variable_is_refused(
    user: Path, monkeypatch: pytest.MonkeyPatch, name: str, meant: str | None
) -> None:
    monkeypatch.setenv(name, "contracts")
    hint = rf"Did you mean {meant}\?" if meant else "Correct or unset it"
    with pytest.raises(SettingsError, match=f"variable {name} of .* {hint}"):
        configured()
    monkeypatch.setenv(name, "")  # as compose files leave it
    assert configured() == Settings()


def test_variables_of_others_are_left_alone(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        *("LEXLOOP_PORT", "LEXLOOP_PORT_8080_TCP_ADDR", "LEXLOOP_SERVICE_HOST"),  # Kubernetes'
        *("LEXLOOP_VERSION", "LEXLOOP_DATA", "LEXLOOP_CI_CACHE", "LEXLOOP_ENGINES", "LEXER"),
        *("LEXLOOP_CACHE", "LEXLOOP_SERVER", "LEXLOOP_DEBUG", "LEXLOOP_ENGINE_AWS_REGION"),
    ):
        monkeypatch.setenv(name, "1")
    assert configured() == Settings()


@pytest.mark.parametrize(
    "said",
    [
        'model = "openai:x"',
        '[access]\ntags = ["legal"]',
        '[index]\nembedder = "openai:x"',
        '"access.as_of" = "any"',
        '[plan]\nclassifier = "transformer:somebody/model"',
    ],
)
def test_documents_say_neither_who_asks_nor_where_text_goes(
    user: Path, corpus: Path, said: str
) -> None:
    (corpus / "lexloop.toml").write_text(said)
    with pytest.raises(SettingsError, match="which documents do not say"):
        configured({"corpus": str(corpus)})
    (corpus / "law.txt").write_text("1. Nothing.")
    with pytest.raises(SettingsError, match="which documents do not say"):
        configured({"corpus": str(corpus / "law.txt")})


@pytest.mark.parametrize(
    ("held", "says"),
    [
        (b"fusion = ", r"user\.toml"),
        (b"\xff\xfe\x00", r"user\.toml cannot be read"),
        (b"#" * 2_000_000, r"user\.toml is larger than 1048576 bytes"),
    ],
    ids=["no value", "no text", "too large"],
)
def test_a_file_that_cannot_be_used_is_named(user: Path, held: bytes, says: str) -> None:
    user.write_bytes(held)
    with pytest.raises(SettingsError, match=says):
        configured()


def test_a_text_stays_one_and_all_else_is_read_as_json() -> None:
    assert read_value("corpus", "2024") == "2024"
    assert read_value("model.name", "null") == "null"
    assert read_value("plan.k", "3") == 3
    assert read_value("plan.k", "scores") == "scores"
    assert read_value("access.tags", '["a"]') == ["a"]
    assert read_value("access.tags", "a") == ["a"]
