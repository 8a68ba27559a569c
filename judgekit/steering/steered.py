"""A local model that answers with or without a steering vector, and trains such vectors.

Live replies need the extra `steering`. The steering is part of the parameters of a request, so a
replay needs neither the model nor the extra.
"""

from __future__ import annotations

import asyncio
import json
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
from judgekit.core.protocols import Judge
from judgekit.core.replies.vector import vector_text
from judgekit.core.request import ChatMessage, Reply, Request, Try, Usage
from judgekit.core.suggest import suggest
from judgekit.core.value import Json
from judgekit.judges.local import PREFIX, LoadedModel, context_of, load_model, local_reply
from judgekit.judges.named import FunctionJudge
from judgekit.steering.vector import Steering

PACKAGES = ("torch", "transformers", "steering_vectors")
PARAMS: Mapping[str, float] = {"max_tokens": 256, "temperature": 0.0, "top_p": 1.0}
"""Parameters of an answer, with their defaults."""
RANGES = {"max_tokens": (1, 1_000_000), "temperature": (0, 100), "top_p": (0, 1)}


class SteerableModel:
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
        self._vectors: dict[int, list[float]] = {}

    @cached_property
    def loaded(self) -> LoadedModel:
        """The model, which is loaded with the first use.

        Raises:
            ConfigError: the model is not on this machine.
            MissingExtra: a library is not installed.
            JudgeRejected: the model cannot be read.
        """
        folder = self._folder()
        if any(find_spec(package) is None for package in PACKAGES):
            raise MissingExtra(feature=f"a call of {self.name}", extra="steering")
        loaded = load_model(folder, name=self.name)
        tokenizer = loaded.tokenizer
        # Otherwise steering-vectors would pass token types, which `generate` does not use.
        tokenizer.model_input_names = ["input_ids", "attention_mask"]
        if tokenizer.pad_token is None:  # required, although nothing is padded
            tokenizer.pad_token = tokenizer.eos_token or tokenizer.convert_ids_to_tokens(0)
        return loaded

    def _folder(self) -> Path:
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

    def check_layers(self, layers: Sequence[int]) -> None:
        """Check that the model has the layers.

        Raises:
            ConfigError: a layer does not exist; the message lists the valid ones.
        """
        from steering_vectors import get_num_matching_layers, guess_and_enhance_layer_config

        model = self.loaded.model
        matcher = guess_and_enhance_layer_config(model, layer_type="decoder_block")
        count = get_num_matching_layers(model, matcher.get("decoder_block", "{num}"))
        for layer in layers:
            if not 0 <= layer < count:
                raise ConfigError(f"{self.name} has no layer {layer}; it has 0 to {count - 1}")

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

    def trainer(self, layer: int, *, layers: Sequence[int]) -> Judge:
        """Return a judge that trains the steering vector of a layer from a request with pairs.

        The first message of a request is a JSON list of [prompt, positive answer, negative
        answer]; the reply is an embedding. The vector is the mean difference of the activations
        at the last token of the answers, computed by steering-vectors.

        Args:
            layer: the layer, from 0.
            layers: all layers of the same pairs; the first request trains them together.
        """

        def vector(pairs: str) -> Reply:
            with self.lock:
                if not self._vectors:
                    self._vectors = self._trained(json.loads(pairs), layers)
                text, weights = vector_text(self._vectors[layer]), self.loaded.weights
            return local_reply(Try(text=text, finish="stop"), self.name, weights)

        async def train(request: Request) -> Reply:
            return await asyncio.to_thread(vector, request.messages[0].content)

        return FunctionJudge(train, model=self.name, params={"layer": layer, "train": "mean"})

    def _trained(
        self, pairs: Sequence[Sequence[str]], layers: Sequence[int]
    ) -> dict[int, list[float]]:
        tokenizer, model, _ = self.loaded
        from steering_vectors import train_steering_vector

        self.check_layers(layers)
        samples = []
        for number, (prompt, *answers) in enumerate(pairs, start=1):
            asked = [ChatMessage(role="user", content=prompt)]
            # The trainer's tokeniser adds the start token itself.
            start = tokenizer.bos_token or ""
            texts = [self.text(asked, answer=answer).removeprefix(start) for answer in answers]
            size, most = max(len(tokenizer(text)["input_ids"]) for text in texts), context_of(model)
            if most is not None and size > most:
                raise ConfigError(f"pair {number} has {size} tokens; {self.name} takes {most}")
            samples.append((texts[0], texts[1]))
        trained = train_steering_vector(model, tokenizer, samples, layers=list(layers))
        return {layer: vector.tolist() for layer, vector in trained.layer_activations.items()}


class SteeredJudge(NamedJudge):
    """Answers with a local model, optionally steered by a vector.

    With a temperature of 0, decoding is greedy. Otherwise the seed is derived from the request, so
    equal requests have equal answers.

    Args:
        model: the model.
        identity: an additional part of every key.
        params: values for the names in `PARAMS`.
        steering: the vector, its layer and strength.

    Raises:
        ConfigError: a parameter is unknown or out of range.
    """

    settings: JudgeSettings

    def __init__(
        self,
        model: SteerableModel,
        *,
        identity: str | None = None,
        params: Mapping[str, Json],
        steering: Steering | None = None,
    ) -> None:
        for name, value in params.items():
            if name not in PARAMS:
                raise ConfigError(f"{model.name} takes no {name!r}{suggest(name, PARAMS)}")
            low, high = RANGES[name]
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not (number and low <= value <= high):
                raise ConfigError(f"{name} must be a number from {low} to {high}, not {value!r}")
        super().__init__(model.name)
        self.local, self._steering = model, steering
        all_params = {**params, **({"steering": steering.param} if steering else {})}
        self.settings = JudgeSettings(identity=identity, params=all_params)

    async def ask(self, request: Request) -> Reply:
        """Return the answer of the model.

        Raises:
            JudgeRejected: the request is of another kind, or the model cannot be read.
            CaseError: the chat is too long, or the chat template of the model rejects it.
            ConfigError: the model is missing, or the vector does not match it.
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

    def _applied(self, model: Any, weights: str) -> AbstractContextManager[None]:
        """Return a context in which the model is steered."""
        if self._steering is None:
            return nullcontext()
        from steering_vectors import SteeringVector

        self.local.check_layers([self._steering.layer])
        tensor = self._steering.tensor(width=int(model.config.hidden_size), weights=weights)
        vector, strength = SteeringVector({self._steering.layer: tensor}), self._steering.strength
        patch: AbstractContextManager[None] = vector.apply(model, multiplier=strength)
        return patch

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
        with self._applied(model, weights), torch.inference_mode(), own_generator:
            torch.manual_seed(seed)
            out = model.generate(
                given,
                attention_mask=torch.ones_like(given),
                generation_config=config,
                use_model_defaults=False,  # the model's defaults may enable sampling
            )
        return list(out[0, len(ids) :].tolist())
