"""Who signs in at an engine and how, whom it trusts, and that no secret is told."""

import logging
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trustme
from fake_engine import FakeEngine
from signatures import authorization

from lexloop.core.errors import EngineAuthError, EngineError, EngineUnavailable, LexloopError
from lexloop.store.address import Address
from lexloop_engines.engine.client import Engine

KEY, SECRET, TOKEN = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfi", "IQoJb3JpZ2luX2VjE=="
TEXT = "§ 573c BGB: Kündigungsfristen – 期限 🏠"


@pytest.fixture
def fake() -> Iterator[FakeEngine]:
    with FakeEngine() as running:
        yield running


@pytest.fixture(autouse=True)
def no_account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing of AWS that is set on this machine."""
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN", "PROFILE"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch, no_account: None) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)


def engine(base: str, **given: str) -> Engine:
    named = {f"LEXLOOP_ENGINE_{name}": value for name, value in given.items()}
    return Engine(Address.parse(f"{base}/laws"), named)


def failed(kind: type[LexloopError], act: Callable[[], object]) -> str:
    with pytest.raises(kind) as told:
        act()
    assert type(told.value) is kind
    return f"{told.value} {told.value.hint}"


@pytest.mark.parametrize("token", ["", TOKEN])
@pytest.mark.parametrize("service", ["es", "aoss"])
@pytest.mark.usefixtures("account")
def test_a_request_is_signed_as_amazon_computes_it(
    fake: FakeEngine, monkeypatch: pytest.MonkeyPatch, service: str, token: str
) -> None:
    if token:
        monkeypatch.setenv("AWS_SESSION_TOKEN", token)
    signing = engine(fake.base, AWS_REGION="eu-central-1", AWS_SERVICE=service)
    fake.answers["/"] = (200, {"responses": []})
    signing.check()
    signing.ask("GET", "/_alias/lexloop-laws.*,other%2Fone")
    signing.ask(
        "PUT", "/laws/_doc/1", {"text": TEXT}, {"op_type": "create", "filter_path": "a,b.*"}
    )
    signing.searches("laws", [{"query": {"match": {"text": TEXT}}}])
    assert TEXT.encode() in fake.bodies[-1]
    assert len(fake.requests) == 4
    for request, body in zip(fake.requests, fake.bodies, strict=True):
        headers = request[2]
        said = headers["authorization"]
        assert said == authorization(request, body, KEY, SECRET, f"eu-central-1/{service}")
        assert headers.get("x-amz-security-token", "") == token


@pytest.mark.parametrize(
    ("given", "why", "hint"),
    [
        ({"AWS_REGION": "eu-central-1"}, "elsewhere", "Set AWS_ACCESS_KEY_ID and AWS_SECRET"),
        ({"API_KEY": "a2V5€nNlY3JldA"}, "LEXLOOP_ENGINE_API_KEY", ""),
    ],
)
def test_credentials_that_cannot_be_used(
    fake: FakeEngine, monkeypatch: pytest.MonkeyPatch, given: dict[str, str], why: str, hint: str
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "elsewhere")
    told = failed(EngineAuthError, lambda: engine(fake.base, **given))
    assert why in told
    assert hint in told
    assert "a2V5" not in told
    assert not fake.requests


@pytest.mark.usefixtures("account")
def test_a_signature_that_amazon_refuses(
    fake: FakeEngine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("AWS_SESSION_TOKEN", TOKEN)
    seen = f"The signature does not match.\n\nThe string was\nx-amz-security-token:{SECRET}"
    fake.answers["/_nodes"] = (403, {"message": seen})
    asked = engine(fake.base, AWS_REGION="eu-central-1")
    told = failed(EngineAuthError, asked.check)
    assert "does not allow this (403): The signature does not match." in told
    assert "LEXLOOP_ENGINE_AWS_REGION" in told
    shown = f"{told}{asked!r}{vars(asked)!r}"
    assert SECRET not in shown
    assert TOKEN not in shown + caplog.text


@pytest.fixture(scope="module")
def signer() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def ca(signer: trustme.CA, tmp_path: Path) -> str:
    """The file of the signer's certificate."""
    signer.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    return str(tmp_path / "ca.pem")


@pytest.fixture
def encrypted(signer: trustme.CA) -> Iterator[FakeEngine]:
    """An engine with a certificate for 127.0.0.1."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    signer.issue_cert("127.0.0.1").configure_cert(tls)
    with FakeEngine(tls) as running:
        yield running


def test_an_engine_with_tls(encrypted: FakeEngine, ca: str) -> None:
    engine(f"opensearch+tls://{encrypted.host}", CA=ca, API_KEY="a2V5").check()
    assert encrypted.requests[0][2]["authorization"] == "ApiKey a2V5"


def test_a_certificate_that_is_not_trusted(encrypted: FakeEngine, ca: str, tmp_path: Path) -> None:
    address, other = f"opensearch+tls://{encrypted.host}", tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(str(other))
    for given in ({}, {"CA": str(other)}):
        told = failed(EngineError, engine(address, **given).check)
        assert f"The certificate of {address}/laws is not trusted" in told
        assert "LEXLOOP_ENGINE_CA" in told
    named = engine(address.replace("127.0.0.1", "localhost"), CA=ca)
    told = failed(EngineError, named.check)
    assert "not valid for 'localhost'" in told
    assert "a host that it is for" in told
    assert not encrypted.requests


def test_tls_where_there_is_none_and_the_other_way_round(
    encrypted: FakeEngine, fake: FakeEngine, ca: str
) -> None:
    told = failed(EngineUnavailable, engine(f"opensearch+tls://{fake.host}", CA=ca).check)
    assert "cannot be spoken to by TLS" in told
    assert "Begin the address with opensearch://" in told
    told = failed(EngineUnavailable, engine(encrypted.base).check)
    assert "cannot be reached" in told
    assert "if it has TLS, begin the address with opensearch+tls://" in told
