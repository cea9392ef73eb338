"""The tools of an index on the machines of a cluster, and the budget that they share."""

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lexloop.core.errors import ClusterError
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Usage
from lexloop.graph.budget import Budget, expected_tokens
from lexloop.graph.resources import Resources
from lexloop.models.request import ChatRequest
from lexloop.store.preparing import Tools
from lexloop_engines.cluster.ingesting import ClusterPreparer
from lexloop_engines.cluster.staging import Staging
from lexloop_engines.cluster.tasks import Orders, joined

_ANSWERS_S = 60.0


@contextmanager
def on_cluster(
    address: str, tools: Tools, staging: Path, budget: Budget, base_url: str | None = None
) -> Iterator[ClusterPreparer]:
    """Join a cluster, and use it to prepare files.

    Keys of models' hosts are not sent: each machine reads its own environment.

    Args:
        address: The cluster's address; see ``joined``.
        tools: The tools of the index.
        staging: A folder for the results.
        budget: The maximum cost of a model, on all machines together.
        base_url: The address of models, or None for what each machine's environment says.

    Raises:
        InputError: Ray is not installed.
        ClusterError: No cluster answers at this address.
    """
    with joined(address):
        purse = None
        if budget.most is not None:
            import ray

            actor: Any = ray.remote(num_cpus=0)(_Purse)
            purse = actor.remote()
        make = WorkerTools(json.dumps(dict(tools.settings)), budget, base_url, purse)
        yield ClusterPreparer(Orders(make, tools.recipe), Staging(staging, tools.recipe))


@dataclass(frozen=True)
class WorkerTools:
    """Makes the tools on a machine of the cluster.

    Args:
        settings: The settings as a manifest records them, as JSON.
        budget: The budget of all machines.
        base_url: See ``on_cluster``.
        purse: The actor ``_Purse``, or None if there is no limit.
    """

    settings: str
    budget: Budget
    base_url: str | None = None
    purse: Any = field(default=None, compare=False)

    def __call__(self) -> Tools:
        """Return the tools."""
        settings = Settings(**json.loads(self.settings))
        own = Connection.from_environment(os.environ)
        connection = own
        if self.base_url not in (None, own.base_url):  # no password goes to another host
            connection = Connection(base_url=self.base_url, api_key=own.api_key)
        resources = Resources(connection)
        chat = resources.chat(settings) if settings.index.triplets == "model" else None
        budget = self.budget
        if self.purse is not None:
            priced = budget.price, budget.most
            budget = _SharedBudget(*priced, purse=self.purse, name=secrets.token_hex(8))
        return resources.tools(settings, chat, budget)


class _Purse:
    """An actor that knows what every worker has spent, or is about to."""

    def __init__(self) -> None:
        self._claims: dict[str, tuple[int, int]] = {}

    def claim(self, name: str, tokens_in: int, tokens_out: int) -> tuple[int, int]:
        """Note what a worker will have spent after its next call; return the sum over all."""
        self._claims[name] = tokens_in, tokens_out
        return sum(i for i, _ in self._claims.values()), sum(o for _, o in self._claims.values())


@dataclass(frozen=True)
class _SharedBudget(Budget):
    """A budget of several workers; ``name`` is this one's. What a killed one claimed counts on."""

    purse: Any = None
    name: str = ""

    def check(self, spent: Usage, request: ChatRequest) -> None:
        """Refuse a request by which all workers together would go beyond the limit.

        Raises:
            BudgetError: They would.
            ClusterError: The purse is lost.
        """
        import ray
        from ray.exceptions import RayError

        expected_in, expected_out = expected_tokens(request)
        own = spent["tokens_in"] + expected_in, spent["tokens_out"] + expected_out
        try:
            all_in, all_out = ray.get(self.purse.claim.remote(self.name, *own), timeout=_ANSWERS_S)
        except RayError as error:
            raise ClusterError(
                f"What the workers spent is not known any more: {type(error).__name__}.",
                "Run the command again: it goes on with what is prepared.",
            ) from error
        self.refuse_beyond(all_in, all_out, spent["model_calls"])
