"""The versions of a document over HTTP, and two of them word by word: by who may see both."""

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from servers import got, people, reading_room

ACT = "Article 1 Fees\nThe owner must pay a fee of {} euro for each boat.\n"
SECRET, ABSENT = "secret.txt", "nothere.txt"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    made = tmp_path_factory.mktemp("served")
    (made / "fees").mkdir()
    for name, fee in (("2020.txt", 10), ("2024.txt", 12), (SECRET, 14)):
        (made / "fees" / name).write_text(ACT.format(fee))
    rows = [
        "file,tags,in_force_from,in_force_to,supersedes",
        "2020.txt,,2020-01-01,2023-12-31,",
        "2024.txt,,2024-01-01,,2020.txt",
        f"{SECRET},red,,,",
    ]
    (made / "fees" / "metadata.csv").write_text("\n".join(rows))
    who = people(ann={"tags": ["red"]}, bob={})
    with reading_room(made / "data", {"fees": str(made / "fees")}, people=who) as (opened, _):
        yield opened


def test_versions_of_a_provision_and_how_they_differ(client: TestClient) -> None:
    asked = {"document": "2024.txt", "label": "Article 1", "as_of": "2021-06-30"}
    old, new = got(client, "fees/versions", "bob", **asked)["versions"]
    assert [old["document"], new["document"]] == ["2020.txt", "2024.txt"]
    assert [old["answers"], new["answers"]] == [True, False]
    both = got(client, "fees/compare", "bob", a="2020.txt", b="2024.txt", label="Article 1")
    changed = [(part["op"], part["text"].strip()) for part in both["parts"]]
    assert [part for part in changed if part[0] != "same"] == [("removed", "10"), ("added", "12")]
    got(client, "fees/versions", "bob", 422, document="2024.txt", as_of="soon")
