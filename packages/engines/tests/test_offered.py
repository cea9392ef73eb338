"""The modules that Lexloop finds offer what it asks for."""

import inspect
from types import ModuleType

import pytest

from lexloop.store.engines import Clusters, Engines
from lexloop_engines import clusters, engines


@pytest.mark.parametrize(("asked", "module"), [(Engines, engines), (Clusters, clusters)])
def test_a_module_has_every_function_that_is_asked_for(asked: type, module: ModuleType) -> None:
    names = [name for name in vars(asked) if inspect.isfunction(vars(asked)[name])]
    wanted = {
        name: list(inspect.signature(vars(asked)[name]).parameters)[1:]
        for name in names
        if not name.startswith("_")
    }
    assert set(wanted) <= set(module.__all__)
    offered = {name: list(inspect.signature(getattr(module, name)).parameters) for name in wanted}
    assert offered == wanted
