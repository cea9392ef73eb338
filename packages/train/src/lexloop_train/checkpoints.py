"""The state from which a killed training continues."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from shutil import rmtree
from typing import Any

from lexloop.core.errors import DataError, InputError, TrainingError
from lexloop.core.files import check_sums, let_go, sync, try_lock, write_sums
from lexloop.documents.reading.workers import Progress, silent
from lexloop.models.embedding import without_bars

GOES_ON = "The last good checkpoint is kept, and the same command continues from it"
STEADY: dict[str, Any] = {
    "save_total_limit": 2,
    "restore_callback_states_from_checkpoint": True,
    "logging_steps": 1,
    "logging_nan_inf_filter": False,  # it would show another number in place of NaN
    "report_to": "none",
    "disable_tqdm": True,
}
"""Arguments of every trainer, so that ``watch`` sees each step and a kill loses little."""
_WATCHED = ("loss", "grad_norm")
Say = Callable[[str], None]


@contextmanager
def quietly() -> Iterator[None]:
    """Hide the bars and the warnings of transformers. Errors are raised."""
    from transformers.utils import logging as spoken

    logging: Any = spoken  # some of its functions have no types
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        with without_bars():
            yield
    finally:
        logging.set_verbosity(verbosity)


def last_good(folder: Path) -> str | None:
    """Return the newest complete checkpoint, and remove incomplete ones.

    Its optimiser state is a file of torch, from which transformers reads only tensors and numbers.
    """
    checkpoints = sorted(
        folder.glob("checkpoint-*"), key=lambda path: -int(path.name.split("-")[1])
    )
    for checkpoint in checkpoints:
        try:
            check_sums(checkpoint)
        except DataError:
            rmtree(checkpoint)
        else:
            return str(checkpoint)
    return None


def train_on(
    trainer: Any,
    folder: Path,
    say: Say = lambda _: None,
    report: Progress = silent,
    *,
    figure: str = "",
    named: str = "",
    patience: int = 0,
) -> None:
    """Train, from the last good checkpoint in ``folder`` if there is one.

    Args:
        trainer: A trainer of transformers with the arguments in ``STEADY``.
        folder: The folder of its checkpoints.
        say: Called with a line for each check.
        report: Called with the number of finished steps and the total.
        figure: The name of the checked figure in the log.
        named: Its name in lines for ``say``.
        patience: The number of checks without improvement after which training stops, or 0.

    Raises:
        TrainingError: The loss or a weight is not a number, or the checkpoint has something other
            than tensors and numbers, which is not run.
    """
    from transformers import EarlyStoppingCallback, PrinterCallback

    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(watch(say, report, figure, named))
    if patience:
        trainer.add_callback(EarlyStoppingCallback(patience))
    if last := last_good(folder):
        say(f"goes on from step {last.rpartition('-')[2]}")
    try:
        with quietly():
            trainer.train(resume_from_checkpoint=last)
    except UnpicklingError as error:
        raise TrainingError(
            f"{last} holds something else than tensors, which is not loaded.", "Remove it."
        ) from error


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Create ``folder`` if needed, and keep other trainings out until this one is over.

    Raises:
        InputError: Another one is working in it, or it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = try_lock(folder / "lock")
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error}.", "Name another folder.") from error
    if handle is None:
        raise InputError(f"Another training writes to {folder}.", "Wait for it, or end it.")
    try:
        yield
    finally:
        let_go(handle)


def watch(
    say: Say = lambda _: None, report: Progress = silent, figure: str = "", named: str = ""
) -> Any:
    """Return a callback that marks checkpoints as complete and stops a training with a bad loss.

    The arguments are those of ``train_on``.
    """
    from transformers import TrainerCallback

    def broken(what: str, step: int) -> TrainingError:
        return TrainingError(
            f"{what} at step {step}.",
            f"{GOES_ON}; to use a lower learning rate, start again in another folder.",
        )

    class Watch(TrainerCallback):
        loss = math.nan

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            report("steps", state.global_step, state.max_steps)

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            logged = logs or {}
            for name in (*_WATCHED, figure):
                if not math.isfinite(value := logged.get(name, 0.0)):
                    subject = "loss" if name != "grad_norm" else "gradient"
                    raise broken(f"The {subject} is {value}", state.global_step)
            self.loss = logged.get("loss", self.loss)
            if figure in logged:
                step = f"step {state.global_step} of {state.max_steps}"
                say(f"{step}: loss {self.loss:.3f}, {named} {logged[figure]:.3f}")

        def on_save(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
            folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
            if not all(bool(weights.isfinite().all()) for weights in model.parameters()):
                rmtree(folder)
                raise broken("A weight is not a number", state.global_step)
            (folder / "training_args.bin").unlink(missing_ok=True)  # a pickle that nothing reads
            write_sums(folder)

    return Watch()


def settle(part: Path, folder: Path) -> None:
    """Give a folder that was written its checksums and its name.

    Raises:
        OSError: The disk is full or gone.
    """
    for path in part.iterdir():
        if path.is_file():
            sync(path)
    write_sums(part)
    if folder.exists():
        rmtree(folder)
    part.rename(folder)
    sync(folder.parent)
