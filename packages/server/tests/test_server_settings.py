"""The server's settings file and what a caller may set: what they may say, and what is refused."""

from pathlib import Path
from typing import Any

import pytest
from servers import person

from lexloop.apps.offered import EMBEDDED_ALONE, choices, chosen
from lexloop.core.errors import SettingsError
from lexloop.core.settings import Settings
from lexloop_server.people import key_hash
from lexloop_server.settings import ServerSettings, is_loopback, read_server_settings, settings_file

HASH = key_hash("a key")
NO_ROLES: tuple[dict[str, Any], ...] = (
    {"role": "admin"},
    {"role": "reader", "may_upload": True},
    {"role": "curator", "may_upload": False},
    {"may_upload": "yes"},
)
USER, GROUPS = "X-Auth-Request-Email", "X-Auth-Request-Groups"
_PROXY = {"header": USER, "groups": GROUPS, "roles": {"it": "operator"}, "trusted": ["::1"]}
NO_PROXIES: tuple[tuple[dict[str, Any], str], ...] = (
    ({**_PROXY, "header": ""}, "groups needs a header"),
    ({**_PROXY, "roles": {}}, "and roles"),
    ({**_PROXY, "groups": USER.lower()}, "are the same"),
    ({**_PROXY, "groups": ""}, "no header for groups"),
    ({**_PROXY, "roles": {"it": "admin"}}, "proxy.roles is 'admin'"),
    ({**_PROXY, "roles": {"": "operator"}}, "proxy.roles"),
    ({**_PROXY, "roles": {"a,b": "operator"}}, "proxy.roles"),
    ({**_PROXY, "tags": {"others": ["staff"]}}, "others has tags and no role"),
    ({**_PROXY, "trusted": []}, "proxy.trusted"),
    ({**_PROXY, "trusted": ["10.0.0.1/8"]}, "proxy.trusted"),
)
WHOLE = f"""
host = "0.0.0.0"
port = 80

[collections]
sample = "sample"
contracts = {{ corpus = "/srv/contracts", title = "Contracts", description = "Ours" }}

[[people]]
name = "Ann Example"
key_sha256 = "{HASH}"
collections = ["contracts"]
tags = ["staff"]
may_upload = true

[[people]]
name = "bob@law.example"

[proxy]
header = "X-Forwarded-User"
trusted = ["10.0.0.0/8", "::1"]

[limits]
questions_per_minute = 10
"""


def test_a_whole_file(tmp_path: Path) -> None:
    file = tmp_path / "server.toml"
    file.write_text(WHOLE)
    found = read_server_settings(file, port=8080, host=None)
    assert (found.host, found.port, found.limits.questions_per_minute) == ("0.0.0.0", 8080, 10)
    assert found.collections["sample"].corpus == "sample"
    assert found.collections["contracts"].title == "Contracts"
    ann, bob = found.people
    assert (ann.collections, ann.tags, ann.may_upload) == (("contracts",), ("staff",), True)
    assert (bob.collections, bob.may_upload) == (None, False)
    assert found.limits.streams == ServerSettings().limits.streams
    found.check_guarded(said_again=False)
    alone = read_server_settings(None)
    assert (alone.host, list(alone.collections), alone.people) == ("127.0.0.1", ["sample"], ())
    alone.check_guarded(said_again=False)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"prot": 1}, "prot"),
        ({"collections": {}}, "collections"),
        ({"collections": {"../x": "sample"}}, "collections"),
        ({"people": [{"name": "ann"}]}, "ann has no key_sha256"),
        ({"people": [{"name": n, "key_sha256": HASH} for n in "ab"]}, "the same key"),
        (
            {"people": [{"name": "a", "key_sha256": HASH, "collections": ["none"]}]},
            "a is given none, which is not a collection",
        ),
        ({"proxy": {"header": "X-User", "trusted": ["::1"]}}, "nobody whom it could name"),
        ({"proxy": {"header": "X-User", "trusted": ["all"]}}, "proxy"),
        ({"limits": {"body_mb": float("nan")}}, "limits.body_mb"),
        *(({"people": [person("ann", **role)]}, "people.0") for role in NO_ROLES),
        *(({"people": [person("ann")], "proxy": proxy}, named) for proxy, named in NO_PROXIES),
    ],
)
def test_what_cannot_be_is_named(given: dict[str, Any], named: str) -> None:
    with pytest.raises(SettingsError) as caught:
        ServerSettings.of(given)
    assert named in caught.value.what


def test_a_key_in_place_of_its_hash_is_not_shown() -> None:
    with pytest.raises(SettingsError) as caught:
        ServerSettings.of({"people": [{"name": "ann", "key_sha256": "lexloop-my-secret"}]})
    assert "my-secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert "--new-key" in caught.value.hint


def test_the_file_is_found_where_it_is_named_and_one_that_is_none_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SettingsError, match="missing"):
        read_server_settings(tmp_path / "missing")
    file = tmp_path / "server.toml"
    for text in ("port = ", "[people]\nname = 'a'", "#" * 1_048_577):
        file.write_text(text)
        with pytest.raises(SettingsError, match=r"server\.toml"):
            read_server_settings(file)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("LEXLOOP_SERVER", raising=False)
    assert settings_file(None) is None
    usual = tmp_path / "lexloop" / "server.toml"
    usual.parent.mkdir()
    usual.touch()
    assert settings_file(None) == usual
    monkeypatch.setenv("LEXLOOP_SERVER", "/elsewhere.toml")
    assert settings_file(None) == Path("/elsewhere.toml")
    assert settings_file(Path("named.toml")) == Path("named.toml")


@pytest.mark.parametrize(
    ("host", "here"),
    [("127.8.8.8", True), ("[::1]", True), ("0.0.0.0", False), ("127.0.0.1.example", False)],
)
def test_only_this_machine_may_be_served_without_keys(host: str, here: bool) -> None:
    assert is_loopback(host) is here
    open_to_all = ServerSettings.of({"host": host, "anyone": True})
    closed = ServerSettings.of({"host": host})
    open_to_all.check_guarded(said_again=True)
    for settings, said in ((open_to_all, False), (closed, True), (closed, False)):
        if here:
            settings.check_guarded(said)
        else:
            with pytest.raises(SettingsError, match="let in anybody"):
                settings.check_guarded(said)


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
