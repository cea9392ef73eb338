"""A causal language model on this machine, by transformers, and ``local:FOLDER``, its chat model.

Only safetensors, no remote code; a folder that was trained here must have the checksums that were
written with it. LangChain's own ChatHuggingFace has no asynchronous calls for it, counts no tokens,
does not say why a reply ended and cannot be stopped at a deadline; this is what the graph asks of a
chat model and no more.
"""

import asyncio
import hashlib
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import Field

from lexloop.core.errors import DataError
from lexloop.core.files import CARD, SUMS, check_sums
from lexloop.core.packages import need_extra
from lexloop.models.embedding import without_bars

_PICKLES = frozenset({".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt"})

Turn = dict[str, str]
"""``role`` (system, user or assistant) and ``content``."""

_TEMPLATE = (
    "{% for message in messages %}{{ '### ' + message['role'] + '\n' + message['content'] }}"
    "{% if message['role'] == 'assistant' %}{{ eos_token }}{% endif %}{{ '\n\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '### assistant\n' }}{% endif %}"
)
"""For tokenizers that have none, as those of models that were never taught to chat."""
_USABLE = "Name a local folder, or a hub id that this machine can reach, of a causal language model"
_UNBOUNDED = 10**9  # tokenizers that know no limit name an absurd one


@dataclass(frozen=True)
class LocalModel:
    """A causal language model of transformers, in evaluation mode, and its tokenizer.

    The tokenizer has a chat template, an end and a padding token.
    """

    model: Any
    tokenizer: Any

    @property
    def window(self) -> int:
        """The most tokens of a prompt and its reply together."""
        most = getattr(self.model.config, "max_position_embeddings", None)
        return int(most or min(self.tokenizer.model_max_length, _UNBOUNDED))

    def prompt(self, turns: Sequence[Turn]) -> list[int]:
        """Return the tokens of some turns, up to the beginning of the reply."""
        return self._ids(self._templated(turns, True))

    def reply(self, turns: Sequence[Turn], text: str) -> list[int]:
        """Return the tokens of ``text`` as a reply to the turns, its end included."""
        before = self._templated(turns, True)
        whole = self._templated([*turns, {"role": "assistant", "content": text}], False)
        end: str = self.tokenizer.eos_token
        reply_text = whole[len(before) :] if whole.startswith(before) else text + end
        return self._ids(reply_text.rstrip())

    def write(
        self,
        prompts: Sequence[Sequence[int]],
        most: int,
        sampling: dict[str, Any] | None = None,
        stopped: Callable[[], bool] = lambda: False,
        show: Callable[[str], None] | None = None,
    ) -> list[list[int]]:
        """Generate replies to several prompts at once, and return their tokens.

        Args:
            prompts: The tokens of each prompt, at least one.
            most: The maximum tokens of a reply.
            sampling: ``temperature`` and ``top_p``; without them, the likeliest token is chosen.
            stopped: Called after each token; returns whether to stop.
            show: Called with the words of a single reply as they come.

        Returns:
            The tokens of each reply, with the end token if it was reached.
        """
        import torch

        longest = max(map(len, prompts))
        padding: int = self.tokenizer.pad_token_id
        rows = [[padding] * (longest - len(ids)) + list(ids) for ids in prompts]
        mask = [[0] * (longest - len(ids)) + [1] * len(ids) for ids in prompts]
        own = {"temperature": None, "top_p": None, "top_k": None, **(sampling or {})}
        ends = self.ends
        with torch.inference_mode():
            made = self.model.generate(
                input_ids=torch.tensor(rows, device=self.model.device),
                attention_mask=torch.tensor(mask, device=self.model.device),
                max_new_tokens=most,
                do_sample=bool(sampling),
                eos_token_id=sorted(ends),
                pad_token_id=padding,
                stopping_criteria=[
                    lambda ids, _: torch.full((len(ids),), stopped(), device=ids.device)
                ],
                streamer=_shower(self.tokenizer, show) if show else None,
                **own,
            )
        return [_until(ids, ends) for ids in made[:, longest:].tolist()]

    def text(self, ids: Sequence[int]) -> str:
        """Return the text of some tokens, special ones left out."""
        decoded: str = self.tokenizer.decode(list(ids), skip_special_tokens=True)
        return decoded.strip()

    @property
    def ends(self) -> frozenset[int]:
        """The tokens that end a reply."""
        own = self.model.generation_config.eos_token_id
        several = own if isinstance(own, list) else [own]
        return frozenset({self.tokenizer.eos_token_id, *several} - {None})

    def _templated(self, turns: Sequence[Turn], begun: bool) -> str:
        from jinja2 import TemplateError

        options = {"tokenize": False, "add_generation_prompt": begun}
        try:
            text: str = self.tokenizer.apply_chat_template(list(turns), **options)
        except TemplateError:  # some know no turn of the system
            text = self.tokenizer.apply_chat_template(_without_system(turns), **options)
        return text

    def _ids(self, text: str) -> list[int]:
        encoded = self.tokenizer(text, add_special_tokens=False, verbose=False)
        return list(encoded["input_ids"])


def load_local(name: str, *, four_bit: bool = False, as_is: bool = False) -> LocalModel:
    """Load a causal language model onto the GPU, or onto the processor if there is no GPU.

    Args:
        name: A local folder or a hub id.
        four_bit: Load the weights as NF4; needs bitsandbytes and a GPU.
        as_is: Leave the weights on the processor, in their own precision.

    Raises:
        InputError: The extra ``torch`` is not installed.
        DataError: The model is missing, differs from its checksums, is a pickle, is not a causal
            language model, or has the weights of another architecture.
    """
    need_extra(f"The model {name!r}", "torch", "torch", "transformers")
    folder = Path(name).expanduser()
    if folder.is_dir():
        _refuse_pickles(folder)
        _refuse_adapters(folder)
        if (folder / CARD).exists() or (folder / SUMS).exists():
            check_sums(folder)
        name = str(folder)
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM, AutoTokenizer

    options: dict[str, Any] = {"dtype": "auto", "use_safetensors": True}
    if four_bit:
        options |= _as_four_bit()
    try:
        with without_bars():
            tokenizer: Any = AutoTokenizer.from_pretrained(name, trust_remote_code=False)
            loaded: Any = AutoModelForCausalLM.from_pretrained(
                name, trust_remote_code=False, output_loading_info=True, **options
            )
    except torch.OutOfMemoryError:
        raise
    except (OSError, ValueError, KeyError, RuntimeError, ImportError, SafetensorError) as error:
        what = f"The model {name!r} cannot be loaded: {' '.join(str(error).split())[:300]}."
        raise DataError(what, f"{_USABLE}, as safetensors.") from error
    model, loading = loaded
    if missing := sorted(loading["missing_keys"]):
        raise DataError(
            f"The weights of {name!r} are of another architecture than its config.json says: "
            f"{missing[0]} is not among them.",
            f"{_USABLE}.",
        )
    if not four_bit and not as_is:
        model = model.to("cuda") if torch.cuda.is_available() else _hastened(model)
    return LocalModel(model.eval(), _completed(tokenizer, name))


def _hastened(model: Any) -> Any:
    """Return the model in bfloat16 if the processor has AMX. It halves the time of training."""
    import torch

    known: dict[str, bool] = getattr(torch.cpu, "get_capabilities", dict)()
    return model.to(torch.bfloat16) if known.get("amx_bf16") else model


def _shower(tokenizer: Any, show: Callable[[str], None]) -> Any:
    """Return transformers' streamer that passes whole words to ``show``."""
    from transformers import TextStreamer

    streamer: Any = TextStreamer(tokenizer, skip_prompt=True, skip_special_tokens=True)
    streamer.on_finalized_text = lambda text, stream_end=False: show(text)
    return streamer


def _refuse_pickles(folder: Path) -> None:
    """Refuse a folder whose weights may run code when they are loaded."""
    files = [path for path in folder.iterdir() if path.is_file()]
    pickles = sorted(path.name for path in files if path.suffix in _PICKLES)
    if pickles and not any(path.suffix == ".safetensors" for path in files):
        raise DataError(
            f"The weights of {folder} are a pickle ({pickles[0]}), which may run code when it is "
            "loaded.",
            "Use a copy of the model as safetensors.",
        )


def _refuse_adapters(folder: Path) -> None:
    """Refuse an adapter alone: its base may be another one, and would be looked for on a hub."""
    if (folder / "adapter_config.json").is_file() and not (folder / "config.json").is_file():
        raise DataError(
            f"{folder} holds an adapter, which is no model without its base.",
            "Name the folder of the merged model, as `lexloop finetune generator` makes it.",
        )


def _completed(tokenizer: Any, name: str) -> Any:
    if tokenizer.eos_token is None:
        raise DataError(
            f"The tokenizer of {name!r} knows no token that ends a text.", f"{_USABLE}."
        )
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    if tokenizer.chat_template is None:
        tokenizer.chat_template = _TEMPLATE
    return tokenizer


def _as_four_bit() -> dict[str, Any]:
    import torch
    from transformers import BitsAndBytesConfig

    quantised: Any = BitsAndBytesConfig
    config = quantised(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
    )
    return {"quantization_config": config, "device_map": {"": 0}, "dtype": torch.bfloat16}


def _without_system(turns: Sequence[Turn]) -> list[Turn]:
    """Return the turns with the system's text in front of the first turn of the user."""
    system = "\n\n".join(turn["content"] for turn in turns if turn["role"] == "system")
    rest = [dict(turn) for turn in turns if turn["role"] != "system"]
    if system and rest:
        rest[0]["content"] = f"{system}\n\n{rest[0]['content']}"
    return rest


def _until(ids: list[int], ends: frozenset[int]) -> list[int]:
    """Return the tokens up to the first that ends a reply, it included."""
    end = next((place for place, token in enumerate(ids) if token in ends), len(ids) - 1)
    return ids[: end + 1]


_MOST_TOKENS = 1024
_STAMP_LENGTH = 12
_ROLES = {"human": "user", "ai": "assistant", "system": "system"}


class _DoesNotFit(Exception):
    """A prompt that leaves no room for a reply, with the status of hosts that refuse one."""

    status_code = 400


class LocalChat(BaseChatModel):
    """A model of this machine behind LangChain's interface.

    ``stamp`` tells its weights from others in the same folder; replies are cached by it.

    Several calls are answered one after the other; one that is cancelled stops at its next token.
    """

    local: Any = Field(repr=False, exclude=True)
    stamp: str = ""
    lock: Any = Field(default_factory=threading.Lock, repr=False, exclude=True)
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    max_tokens: int | None = None

    @property
    def _llm_type(self) -> str:
        return "lexloop-local"

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any
    ) -> ChatResult:
        return self._result(messages, threading.Event())

    async def _agenerate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any
    ) -> ChatResult:
        stopped = threading.Event()
        try:
            return await asyncio.to_thread(self._result, messages, stopped)
        finally:
            stopped.set()

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        stopped = threading.Event()
        pieces: asyncio.Queue[str | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def tell(piece: str) -> None:
            loop.call_soon_threadsafe(pieces.put_nowait, piece)

        writing = asyncio.create_task(asyncio.to_thread(self._result, messages, stopped, tell))
        writing.add_done_callback(lambda _: pieces.put_nowait(None))
        try:
            while (piece := await pieces.get()) is not None:
                yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
            whole: Any = (await writing).generations[0].message
        finally:
            stopped.set()
        end = AIMessageChunk(
            content="",
            usage_metadata=whole.usage_metadata,
            response_metadata=whole.response_metadata,
        )
        yield ChatGenerationChunk(message=end)

    def _result(
        self,
        messages: Sequence[BaseMessage],
        stopped: threading.Event,
        show: Callable[[str], None] | None = None,
    ) -> ChatResult:
        import torch

        local: LocalModel = self.local
        prompt = local.prompt([_turn(message) for message in messages])
        room = min(self.max_tokens or _MOST_TOKENS, local.window - len(prompt))
        if room < 1:
            raise _DoesNotFit(f"its window has {local.window} tokens, and {len(prompt)} were sent")
        with self.lock:
            if self.seed is not None:
                torch.manual_seed(self.seed)
            (ids,) = local.write([prompt], room, self._sampling(), stopped.is_set, show)
        ended = bool(ids) and ids[-1] in local.ends
        message = AIMessage(
            local.text(ids),
            usage_metadata={
                "input_tokens": len(prompt),
                "output_tokens": len(ids),
                "total_tokens": len(prompt) + len(ids),
            },
            response_metadata={"finish_reason": "stop" if ended else "length"},
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _sampling(self) -> dict[str, Any]:
        """Return the sampling parameters; empty for the likeliest token."""
        if not self.temperature and self.top_p is None:
            return {}
        return {"temperature": self.temperature or 1.0, "top_p": self.top_p}


def local_chat(folder: str) -> LocalChat:
    """Return the chat model of a folder. The last one is cached until its weights change.

    Raises:
        DataError: The folder does not exist; see also ``load_local``.
    """
    path = Path(folder).expanduser()
    if path.is_file():
        raise DataError(
            f"The model {folder!r} is a file, and not a folder of safetensors.",
            "A GGUF file is served by llama.cpp or Ollama: name it `openai:NAME`, and --base-url.",
        )
    if not path.is_dir():
        raise DataError(
            f"The model's folder {folder!r} is not there.",
            "Name one as `local:FOLDER`, as `lexloop finetune generator` makes them.",
        )
    stats = [(file.name, file.stat()) for file in sorted(path.glob("*.safetensors"))]
    stamp = "".join(f"{name} {stat.st_size} {stat.st_mtime_ns}\n" for name, stat in stats)
    return _loaded(str(path), hashlib.sha256(stamp.encode()).hexdigest()[:_STAMP_LENGTH])


@lru_cache(maxsize=1)
def _loaded(folder: str, stamp: str) -> LocalChat:
    return LocalChat(local=load_local(folder), stamp=stamp)


def _turn(message: BaseMessage) -> Turn:
    return {"role": _ROLES[message.type], "content": message.text}
