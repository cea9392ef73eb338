"""The address of an index in an engine."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.core.errors import SettingsError
from lexloop.store.address import Address


@pytest.mark.parametrize(
    "text",
    [
        "opensearch://host",
        "opensearch://host/Law",
        "opensearch://host:65536/law",
        "solr://host/law",
        "",
    ],
)
def test_what_is_no_address_is_refused_with_the_form_of_one(text: str) -> None:
    with pytest.raises(SettingsError, match=r"opensearch://HOST:9200/NAME|up to 80 of a-z"):
        Address.parse(text)


_LABEL = st.text("abz019", min_size=1, max_size=8)


@given(
    st.sampled_from(["elasticsearch", "opensearch"]),
    st.lists(st.tuples(_LABEL, st.integers(1, 65_535)), min_size=1, max_size=3),
    _LABEL,
    st.booleans(),
)
def test_what_is_written_is_read_again(
    product: str, hosts: list[tuple[str, int]], name: str, tls: bool
) -> None:
    shown = ",".join(f"{host}:{port}" for host, port in hosts)
    text = f"{product}{'+tls' if tls else ''}://{shown}/{name}"
    found = Address.parse(text)
    assert str(found) == text
    assert found == Address(product, tuple(hosts), name, tls)
