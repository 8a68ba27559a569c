"""A local model that answers; needs the extra `steering`.

Only live replies need the model and the libraries; a replay needs neither.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from judgekit.core.errors import CaseError, ConfigError, JudgeRejected, MissingExtra
from judgekit.core.judge_settings import JudgeSettings
from judgekit.core.judge_wrapper import NamedJudge
from judgekit.core.request import ChatMessage, Reply, Request, Try, Usage
from judgekit.core.suggest import suggest
from judgekit.core.value import Json
from judgekit.judges.local import PREFIX, LoadedModel, context_of, load_model, local_reply

PARAMS: Mapping[str, float] = {"max_tokens": 256, "temperature": 0.0, "top_p": 1.0}
"""Parameters of an answer, with their defaults."""
RANGES = {"max_tokens": (1, 1_000_000), "temperature": (0, 100), "top_p": (0, 1)}


class TextModel:
    """A causal language model, loaded with the first live request and shared by its judges.

    Args:
        name: a folder with safetensors, or a name of the Hugging Face hub that is in its cache,
            with or without `transformers/`. Nothing is downloaded.
    """

    def __init__(self, name: str) -> None:
        self._path = name.removeprefix(PREFIX)
        self.name = PREFIX + self._path
        self.lock = threading.Lock()
        """Lock around the model: torch uses several threads for one request."""

    @cached_property
    def loaded(self) -> LoadedModel:
        """The model, which is loaded with the first use.

        Raises:
            ConfigError: the model is not on this machine.
            MissingExtra: a library is not installed.
            JudgeRejected: the model cannot be read.
        """
        folder = self.folder()
        if find_spec("transformers") is None or find_spec("torch") is None:
            # Not the extra `transformers`: it allows version 5, with which this is not tested.
            raise MissingExtra(feature=f"a call of {self.name}", extra="steering")
        loaded = load_model(folder, name=self.name)
        tokenizer = loaded.tokenizer
        if tokenizer.pad_token is None:  # required, although nothing is padded
            tokenizer.pad_token = tokenizer.eos_token or tokenizer.convert_ids_to_tokens(0)
        return loaded

    def folder(self) -> Path:
        """Return the folder of the model.

        Raises:
            ConfigError: it does not exist, or has no safetensors.
        """
        folder = Path(self._path)
        if not folder.is_dir():
            from huggingface_hub import snapshot_download

            try:
                folder = Path(snapshot_download(self._path, local_files_only=True))
            except (OSError, ValueError) as exc:
                raise ConfigError(
                    f"{self.name}: there is no such folder, and no such model in the cache of the "
                    "Hugging Face hub; check the path, or download the model first"
                ) from exc
        if not any(folder.glob("*.safetensors")):
            raise ConfigError(f"{self.name}: no *.safetensors in {folder}; save the model so")
        return folder

    def text(self, messages: Sequence[ChatMessage], *, answer: str | None = None) -> str:
        """Return a chat in the model's format, with or without an answer.

        Raises:
            CaseError: the chat template of the model rejects the chat.
        """
        tokenizer = self.loaded.tokenizer
        if not tokenizer.chat_template:
            return "".join(f"{message.content}\n" for message in messages) + (answer or "")
        rows = [{"role": message.role, "content": message.content} for message in messages]
        ending = {"add_generation_prompt": True}
        if answer is not None:
            rows.append({"role": "assistant", "content": answer})
            ending = {"continue_final_message": True}
        try:
            return str(tokenizer.apply_chat_template(rows, tokenize=False, **ending))
        except Exception as exc:
            line = " ".join(str(exc).split())[:200]
            raise CaseError(f"the chat template of {self.name} refuses the chat: {line}") from exc


class LocalTextJudge(NamedJudge):
    """Answers with a local model.

    With a temperature of 0, decoding is greedy. Otherwise the seed is derived from the request, so
    equal requests have equal answers.

    Args:
        model: the model.
        identity: an additional part of every key.
        params: values for the names in `PARAMS`.

    Raises:
        ConfigError: a parameter is unknown or out of range.
    """

    settings: JudgeSettings

    def __init__(
        self,
        model: TextModel,
        *,
        identity: str | None = None,
        params: Mapping[str, Json],
    ) -> None:
        for name, value in params.items():
            if name not in PARAMS:
                raise ConfigError(f"{model.name} takes no {name!r}{suggest(name, PARAMS)}")
            low, high = RANGES[name]
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not (number and low <= value <= high):
                raise ConfigError(f"{name} must be a number from {low} to {high}, not {value!r}")
        super().__init__(model.name)
        self.local = model
        self.settings = JudgeSettings(identity=identity, params=params)

    async def ask(self, request: Request) -> Reply:
        """Return the answer of the model.

        Raises:
            JudgeRejected: the request is of another kind, or the model cannot be read.
            CaseError: the chat is too long, or the chat template of the model rejects it.
            ConfigError: the model is missing, or a subclass cannot change it.
        """
        if request.form.want != "text":
            raise JudgeRejected(f"{self.model} only answers here; name another model")
        return await asyncio.to_thread(self._reply, request)

    def _reply(self, request: Request) -> Reply:
        with self.local.lock:
            tokenizer, model, weights = self.local.loaded
            text = self.local.text(request.messages)
            # The chat template adds the special tokens itself.
            ids = tokenizer(text, add_special_tokens=not tokenizer.chat_template)["input_ids"]
            ends = model.generation_config.eos_token_id or tokenizer.eos_token_id
            new = self._generated(ids, ends, seed=int(request.key[:8], 16))
        ended = bool(new) and new[-1] in (ends if isinstance(ends, list) else [ends])
        answer = tokenizer.decode(new, skip_special_tokens=True).strip()
        attempt = Try(text=answer, finish="stop" if ended else "length")
        usage = Usage(input_tokens=len(ids), output_tokens=len(new))
        return local_reply(attempt, self.model, weights, usage)

    def applied(self, model: Any, weights: str) -> AbstractContextManager[None]:
        """Return a context in which the model answers; a subclass changes the model in it."""
        return nullcontext()

    def _generated(self, ids: list[int], ends: int | list[int] | None, *, seed: int) -> list[int]:
        """Generate and return the tokens after those of a prompt."""
        import torch
        from transformers import GenerationConfig

        tokenizer, model, weights = self.local.loaded
        most = context_of(model)
        if most is not None and len(ids) >= most:
            raise CaseError(f"{len(ids)} tokens; {self.model} takes {most} with the answer")
        params = {**PARAMS, **self.settings.params}
        sampling = {name: float(params[name]) for name in ("temperature", "top_p")}
        config = GenerationConfig(
            max_new_tokens=min(int(params["max_tokens"]), (most or 2**31) - len(ids)),
            do_sample=sampling["temperature"] > 0,
            eos_token_id=ends,
            pad_token_id=tokenizer.pad_token_id,
            **(sampling if sampling["temperature"] > 0 else {}),
        )
        given = torch.tensor([ids])
        own_generator = torch.random.fork_rng(devices=[])
        with self.applied(model, weights), torch.inference_mode(), own_generator:
            torch.manual_seed(seed)
            out = model.generate(
                given,
                attention_mask=torch.ones_like(given),
                generation_config=config,
                use_model_defaults=False,  # the model's defaults may enable sampling
            )
        return list(out[0, len(ids) :].tolist())
