"""A steered local model, and the training of steering vectors; needs the extra `steering`.

The steering is part of the parameters of a request, so a replay needs neither the model nor the
extra.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from importlib.util import find_spec
from typing import Any

from judgekit.core.errors import ConfigError, MissingExtra
from judgekit.core.judge_settings import JudgeSettings
from judgekit.core.protocols import Judge
from judgekit.core.replies.vector import vector_text
from judgekit.core.request import ChatMessage, Reply, Request, Try
from judgekit.core.value import Json
from judgekit.judges.local import LoadedModel, context_of, local_reply
from judgekit.judges.local_text import LocalTextJudge, TextModel
from judgekit.judges.named import FunctionJudge
from judgekit.steering.vector import Steering


class SteerableModel:
    """A local model with its layers.

    Args:
        local: the model, loaded with the first live request and shared by its judges.
    """

    def __init__(self, local: TextModel) -> None:
        self.local = local
        self._vectors: dict[int, list[float]] = {}

    @property
    def loaded(self) -> LoadedModel:
        """The model, which is loaded with the first use.

        Raises:
            ConfigError: the model is not on this machine.
            MissingExtra: a library is not installed.
            JudgeRejected: the model cannot be read.
        """
        self.local.folder()  # a wrong path is the likelier mistake, so it comes first
        if find_spec("steering_vectors") is None:
            raise MissingExtra(feature=f"a call of {self.local.name}", extra="steering")
        loaded = self.local.loaded
        # Otherwise steering-vectors would pass token types, which `generate` does not use.
        loaded.tokenizer.model_input_names = ["input_ids", "attention_mask"]
        return loaded

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
                message = f"{self.local.name} has no layer {layer}; it has 0 to {count - 1}"
                raise ConfigError(message)

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
            with self.local.lock:
                if not self._vectors:
                    self._vectors = self._trained(json.loads(pairs), layers)
                text, weights = vector_text(self._vectors[layer]), self.loaded.weights
            return local_reply(Try(text=text, finish="stop"), self.local.name, weights)

        async def train(request: Request) -> Reply:
            return await asyncio.to_thread(vector, request.messages[0].content)

        return FunctionJudge(train, model=self.local.name, params={"layer": layer, "train": "mean"})

    def _trained(
        self, pairs: Sequence[Sequence[str]], layers: Sequence[int]
    ) -> dict[int, list[float]]:
        local, (tokenizer, model, _) = self.local, self.loaded
        from steering_vectors import train_steering_vector

        self.check_layers(layers)
        samples = []
        for number, (prompt, *answers) in enumerate(pairs, start=1):
            asked = [ChatMessage(role="user", content=prompt)]
            # The trainer's tokeniser adds the start token itself.
            start = tokenizer.bos_token or ""
            texts = [local.text(asked, answer=answer).removeprefix(start) for answer in answers]
            size, most = max(len(tokenizer(text)["input_ids"]) for text in texts), context_of(model)
            if most is not None and size > most:
                raise ConfigError(f"pair {number} has {size} tokens; {local.name} takes {most}")
            samples.append((texts[0], texts[1]))
        trained = train_steering_vector(model, tokenizer, samples, layers=list(layers))
        return {layer: vector.tolist() for layer, vector in trained.layer_activations.items()}


class SteeredJudge(LocalTextJudge):
    """Answers with a local model that is steered by a vector.

    Args:
        model: the model.
        steering: the vector, its layer and strength; part of every key.
        identity: an additional part of every key.
        params: values for the names in `PARAMS` of `judgekit.judges.local_text`.

    Raises:
        ConfigError: a parameter is unknown or out of range.
    """

    def __init__(
        self,
        model: SteerableModel,
        *,
        steering: Steering,
        identity: str | None = None,
        params: Mapping[str, Json],
    ) -> None:
        super().__init__(model.local, identity=identity, params=params)
        self._steerable, self._steering = model, steering
        self.settings = JudgeSettings(
            identity=identity, params={**params, "steering": steering.param}
        )

    def applied(self, model: Any, weights: str) -> AbstractContextManager[None]:
        """Return a context in which the model is steered.

        Raises:
            ConfigError: the vector does not match the model.
            MissingExtra: steering-vectors is not installed.
        """
        self._steerable.check_layers([self._steering.layer])
        from steering_vectors import SteeringVector

        tensor = self._steering.tensor(width=int(model.config.hidden_size), weights=weights)
        vector, strength = SteeringVector({self._steering.layer: tensor}), self._steering.strength
        patch: AbstractContextManager[None] = vector.apply(model, multiplier=strength)
        return patch
