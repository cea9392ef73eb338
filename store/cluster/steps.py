"""The tasks and actors that a file goes through on a cluster that this process has joined."""

from itertools import cycle
from typing import Any

from lexloop.store.cluster import worker, writing
from lexloop.store.cluster.worker import Accelerated, Job, Orders
from lexloop.store.cluster.writing import Target


class Survey:
    """A file is cut into chunks, and no more."""

    def __init__(self, orders: Orders) -> None:
        import ray

        self._orders = ray.put(orders)
        self._cut = _task(worker.survey)

    def begin(self, job: Job) -> Any:
        """See ``Steps.begin``."""
        return self._cut.remote(job, self._orders)

    def close(self) -> None:
        """See ``Steps.close``."""


class Preparation:
    """A file is cut, related and embedded, by actors with accelerators where there are some."""

    def __init__(self, orders: Orders) -> None:
        import ray

        self._ray: Any = ray
        self.orders = ray.put(orders)
        accelerators = int(self._ray.cluster_resources().get("GPU", 0))
        actor: Any = ray.remote(num_gpus=1, num_cpus=0, max_restarts=-1)(Accelerated)
        self._actors = [actor.remote() for _ in range(accelerators)]
        self._turns = cycle(self._actors)
        self._first = _task(worker.relate if accelerators else worker.prepare)

    def begin(self, job: Job) -> Any:
        """See ``Steps.begin``."""
        begun = self._first.remote(job, self.orders)
        return next(self._turns).embed.remote(begun, self.orders) if self._actors else begun

    def close(self) -> None:
        """See ``Steps.close``."""
        for actor in self._actors:
            self._ray.kill(actor)


class Writing:
    """A file is prepared and written into an engine, or copied there from the generation before.

    Args:
        orders: Of the preparation.
        target: What is written.
    """

    def __init__(self, orders: Orders, target: Target) -> None:
        self._preparation, self._target = Preparation(orders), target
        self._store, self._copy = _task(writing.store), _task(writing.copy)

    def begin(self, job: Job) -> Any:
        """See ``Steps.begin``."""
        if job.held:
            return self._copy.remote(job, self._preparation.orders, self._target)
        return self._store.remote(self._preparation.begin(job), job.ordinal, self._target)

    def close(self) -> None:
        """See ``Steps.close``."""
        self._preparation.close()


def _task(function: Any) -> Any:
    import ray

    return ray.remote(num_cpus=1, max_retries=0)(function)
