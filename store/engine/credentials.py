"""Who asks an engine, and whose certificates are trusted: from the environment alone."""

import base64
import logging
import ssl
from collections.abc import Callable, Mapping
from typing import Any

from lexloop.core.errors import EngineAuthError, EngineError, need_extra

_VARIABLES = tuple(
    f"LEXLOOP_ENGINE_{name}"
    for name in ("USER", "PASSWORD", "API_KEY", "AWS_REGION", "AWS_SERVICE", "CA")
)


class Unsigned(Exception):
    """A request that could not be signed."""


def credentials_in(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what is set of the variables that say how to sign in."""
    return {name: value for name in _VARIABLES if (value := environment.get(name))}


def trusted(given: Mapping[str, str]) -> ssl.SSLContext:
    """Return what checks an engine's certificate.

    Args:
        given: What ``credentials_in`` found.

    Raises:
        EngineError: The file of certificates is none.
    """
    file = given.get("LEXLOOP_ENGINE_CA")
    try:
        return ssl.create_default_context(cafile=file)  # the system's where there is no file
    except OSError as error:  # as an error of TLS is, too
        raise EngineError(
            f"LEXLOOP_ENGINE_CA names {file}, of which no certificates can be read: {error}.",
            "Name a file of certificates in PEM.",
        ) from error


def signing(given: Mapping[str, str]) -> dict[str, Any]:
    """Return how the client signs in.

    Args:
        given: What ``credentials_in`` found; a region of AWS counts before a key, that before a
            user.

    Raises:
        EngineAuthError: There are no credentials of AWS, or the key is none.
        InputError: A library is not installed.
    """
    if region := given.get("LEXLOOP_ENGINE_AWS_REGION"):
        return {"http_auth": _signer(region, given.get("LEXLOOP_ENGINE_AWS_SERVICE", "es"))}
    if key := given.get("LEXLOOP_ENGINE_API_KEY"):
        if not (key.isascii() and key.isprintable()):  # the client would show it in its error
            raise EngineAuthError(
                "LEXLOOP_ENGINE_API_KEY has a line break or a character that no key has.",
                "Set it to the `encoded` form that the engine gave.",
            )
        return {"headers": {"authorization": f"ApiKey {key}"}}
    if user := given.get("LEXLOOP_ENGINE_USER"):
        # the client knows no letters beyond Latin-1
        told = f"{user}:{given.get('LEXLOOP_ENGINE_PASSWORD', '')}".encode()
        return {"headers": {"authorization": f"Basic {base64.b64encode(told).decode()}"}}
    return {}


def no_credentials(why: str) -> EngineAuthError:
    """Return what is raised where nothing can be signed."""
    return EngineAuthError(
        f"LEXLOOP_ENGINE_AWS_REGION is set, and requests cannot be signed: {why}.",
        "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; renew what has expired.",
    )


def _signer(region: str, service: str) -> Callable[..., dict[str, str]]:
    need_extra("aws", "boto3")
    import boto3  # type: ignore[import-untyped,unused-ignore]
    from botocore.exceptions import BotoCoreError  # type: ignore[import-untyped,unused-ignore]
    from opensearchpy import Urllib3AWSV4SignerAuth

    # it would log every request as it is signed, and with it the session's token
    logging.getLogger("botocore.auth").setLevel(logging.INFO)
    try:
        credentials = boto3.Session().get_credentials()
    except BotoCoreError as error:
        raise no_credentials(str(error).rstrip(".")) from error
    if credentials is None:
        raise no_credentials("boto3 finds no credentials")
    sign = Urllib3AWSV4SignerAuth(credentials, region, service)

    def signed(method: str, url: str, body: bytes | None) -> dict[str, str]:
        try:
            return sign(method, url, body)
        except BotoCoreError as error:  # such as a session that has expired meanwhile
            raise Unsigned(str(error).rstrip(".")) from error

    return signed
