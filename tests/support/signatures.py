"""Amazon's Signature Version 4, computed from a request as it came, as its receiver does."""

import hmac
from hashlib import sha256
from urllib.parse import parse_qsl, quote, urlsplit


def authorization(
    request: tuple[str, str, dict[str, str]], body: bytes, key: str, secret: str, scope: str
) -> str:
    """The header that a request must have.

    Args:
        request: Its method, its path with the query, and its headers by names in lower case.
        body: As it came.
        key: Says whose the secret is.
        secret: What it is signed with.
        scope: The region and the service, ``eu-central-1/es``.
    """
    method, target, headers = request
    parts, moment = urlsplit(target), headers["x-amz-date"]
    signed = sorted(name for name in headers if name == "host" or name.startswith("x-amz-"))
    query = sorted(
        (quote(name, safe="-_.~"), quote(value, safe="-_.~"))
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
    )
    canonical = [
        method,
        quote(parts.path, safe="/-_.~"),  # encoded once more, as it came
        "&".join(f"{name}={value}" for name, value in query),
        *(f"{name}:{headers[name].strip()}" for name in signed),
        "",
        ";".join(signed),
        sha256(body).hexdigest(),
    ]
    place = f"{moment[:8]}/{scope}/aws4_request"
    text = f"AWS4-HMAC-SHA256\n{moment}\n{place}\n{_digest(chr(10).join(canonical))}"
    found = f"AWS4{secret}".encode()
    for part in place.split("/"):
        found = hmac.digest(found, part.encode(), sha256)
    signature = hmac.digest(found, text.encode(), sha256).hex()
    return (
        f"AWS4-HMAC-SHA256 Credential={key}/{place}, SignedHeaders={';'.join(signed)}, "
        f"Signature={signature}"
    )


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
