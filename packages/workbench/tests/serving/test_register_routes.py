"""The register and the profile over HTTP: typed, as files, and of what one sees alone."""

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from servers import as_, got, people, reading_room

OPEN = """Harbour Act

Article 1 Duties
1. The owner's boats are listed. The owner must tell the Office within 10 days of the sale.
2. The owner may sell the boat.
"""
SECRET = "Article 1 Fleet\nThe owner's fleet is secret. The owner must hide the fleet.\n"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    made = tmp_path_factory.mktemp("served")
    (made / "acts").mkdir()
    (made / "acts" / "open.txt").write_text(OPEN, "utf-8")
    (made / "acts" / "secret.txt").write_text(SECRET, "utf-8")
    (made / "acts" / "old.txt").write_text(OPEN.replace("10 days", "9 days"), "utf-8")
    rows = ["file,tags,in_force_to", "secret.txt,red,", "old.txt,,2020-12-31"]
    (made / "acts" / "metadata.csv").write_text("\n".join(rows))
    who = people(ann={"tags": ["red"]}, bob={})
    with reading_room(made / "data", {"acts": str(made / "acts")}, people=who) as (opened, _):
        yield opened


def test_the_register_of_what_one_sees(client: TestClient) -> None:
    everything = got(client, "acts/register")
    assert everything["documents"] == ["open.txt", "secret.txt"]
    assert [one["who"] for one in everything["entries"]] == ["The owner", "The owner", "The owner"]
    seen = got(client, "acts/register", "bob")
    assert seen["documents"] == ["open.txt"]
    assert "fleet" not in str(seen)


def test_what_is_not_in_force_is_listed_where_somebody_asks_for_it(client: TestClient) -> None:
    when = {"kind": "deadline", "as_of": "2020-06-01"}
    listed = got(client, "acts/register", "bob", **when)
    assert listed["documents"] == ["old.txt", "open.txt"]
    assert [one["when"][:13] for one in listed["entries"]] == ["within 9 days", "within 10 day"]
    named = got(client, "acts/register", "bob", document="old.txt")
    assert named["documents"] == ["old.txt"]
    assert (
        client.get(
            "/api/collections/acts/register", headers=as_("bob"), params={"as_of": "soon"}
        ).status_code
        == 400
    )


def test_only_what_is_wanted_and_days(client: TestClient) -> None:
    asked = {"kind": "deadline", "actor": "owner", "since": "sale=2026-01-01"}
    (entry,) = got(client, "acts/register", "bob", **asked)["entries"]
    assert (entry["section"], entry["day"]) == ("Article 1(1)", "2026-01-11")
    assert OPEN[entry["start"] : entry["end"]].strip() == entry["quote"]
    for bad in ({"kind": "dutys"}, {"since": "sale"}, {"format": "exe"}):
        assert client.get(
            "/api/collections/acts/register", headers=as_("bob"), params=bad
        ).status_code in (400, 422)


DAYS = ("0001-01-01", "0004-02-29", "2024-02-29", "9999-12-21", "9999-12-30", "9999-12-31")


@pytest.mark.parametrize("day", DAYS)
def test_any_day_is_one_that_law_is_asked_of(client: TestClient, day: str) -> None:
    force = ["old.txt", "open.txt"] if day < "2021" else ["open.txt"]
    assert got(client, "acts/register", "bob", as_of=day)["documents"] == force
    about = {"document": "open.txt", "label": "Article 1", "as_of": day}
    assert got(client, "acts/versions", **about)["versions"]
    assert got(client, "acts/compare", a="old.txt", b="open.txt", as_of=day)
    body = {"question": "When must the owner tell the Office?", "as_of": day}
    asked = client.post("/api/ask", json={**body, "collections": ["acts"]}, headers=as_("bob"))
    assert asked.status_code == 200
    assert asked.json()["as_of"] == day
    path = f"/api/answers/{asked.json()['id']}/export"
    for form in ("docx", "md", "eml"):
        file = client.get(path, params={"format": form}, headers=as_("bob"))
        assert file.status_code == 200, file.text


@pytest.mark.parametrize("form", ["csv", "xlsx", "md", "docx", "json", "ics"])
def test_files(client: TestClient, form: str) -> None:
    found = client.get(
        "/api/collections/acts/register",
        headers=as_("bob"),
        params={"format": form, "since": "sale=2026-01-01"},
    )
    assert found.status_code == 200
    assert f'filename="Register of acts.{form}"' in found.headers["content-disposition"]
    assert b"fleet" not in found.content
    assert len(found.content) > 100


def test_a_profile_of_what_one_sees(client: TestClient) -> None:
    found = got(client, "acts/profile", "bob", document="open.txt")
    assert (found["title"], found["kind"]) == ("Harbour Act", "act")
    assert all(one["section"].startswith("Article 1") for one in found["questions"])
    hidden = got(client, "acts/profile", "bob", 404, document="secret.txt")
    assert "fleet" not in str(hidden)
