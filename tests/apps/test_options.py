"""From a command line to settings, before anything is opened."""

from collections.abc import Callable
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from lexloop.apps.cli import options
from lexloop.core.settings import Settings

Run = Callable[..., Any]


@pytest.fixture
def parsed() -> Callable[..., Settings]:
    """``parsed("--tag", "staff")`` -> the settings, by a command with the retrieval options."""

    def parse(*arguments: str) -> Settings:
        app, made = typer.Typer(), []

        @app.command()
        @options.taking("fusion.method", "model.fallback", *options.ACCESS)
        def command(
            *,
            context: typer.Context,
            other: Annotated[str, typer.Option()] = "no setting",
        ) -> None:
            made.append(options.chosen_settings(context.params))

        result = CliRunner().invoke(app, arguments)
        if result.exception is not None:
            raise result.exception
        return made[0]

    return parse


def test_without_options_the_defaults_hold(parsed: Callable[..., Settings]) -> None:
    assert parsed() == Settings()


def test_filters_set_the_fields_they_are_named_like(parsed: Callable[..., Settings]) -> None:
    settings = parsed(
        *("--tag", "staff", "--tag", "legal", "--as-of", "2023-07-05"),
        *("--jurisdiction", "NYC", "--kind", "statute", "--kind", "rule"),
    )
    assert settings.access.tags == ("staff", "legal")
    assert settings.access.as_of == "2023-07-05"
    assert settings.access.jurisdictions == ("NYC",)
    assert settings.access.kinds == ("statute", "rule")


@pytest.mark.parametrize(("switch", "set_to"), [("--fallback", True), ("--no-fallback", False)])
def test_a_switch_can_be_turned_either_way(
    parsed: Callable[..., Settings], switch: str, set_to: bool
) -> None:
    assert parsed(switch).model.fallback is set_to


@pytest.mark.parametrize("fusion", ["standardised", "linear", "rrf"])
def test_every_fusion_can_be_chosen(parsed: Callable[..., Settings], fusion: str) -> None:
    assert parsed("--fusion", fusion).fusion.method == fusion


def test_an_assignment_counts_more(parsed: Callable[..., Settings]) -> None:
    assert parsed("--tag", "staff", "--set", 'access.tags=["legal"]').access.tags == ("legal",)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--as-of", "yesterday"), "as_of is 'yesterday'"),
        (("--as-of", "2023-02-30"), "as_of is '2023-02-30'"),
        (("--kind", "gossip"), "access.kinds is 'gossip'"),
        (("--tag", ""), "access.tags is ''"),
        (("--fusion", "sum"), "'sum'"),
    ],
)
def test_what_no_setting_allows_is_refused_before_a_document_is_opened(
    run: Run, arguments: tuple[str, ...], said: str
) -> None:
    result = run("ask", "Why?", *arguments, "--corpus", "no-such-folder")
    assert result.exit_code == 2
    assert said in result.stderr


def test_help_begins_with_what_a_person_needs_and_ends_with_what_research_does(run: Run) -> None:
    shown = run("ask", "--help").stdout
    offered = ("--corpus", "--collections", "--model", "--as-of", "--json", "--tag", "--fusion")
    places = [shown.index(f"{option} ") for option in offered]
    assert places == sorted(places)
    assert shown.index(" Options ") < places[0]
    assert shown.index(" Advanced ") < shown.index("--rewrites")
