"""A local causal language model for log-probabilities; needs the extra `transformers`."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.core.canonical import digest
from judgekit.core.errors import CaseError, ConfigError, InvalidReply, JudgeRejected, MissingExtra
from judgekit.core.input_file import home_path, sha256_of
from judgekit.core.judge_settings import JudgeSettings
from judgekit.core.judge_wrapper import NamedJudge
from judgekit.core.replies.logprobs import logprobs_text
from judgekit.core.request import Reply, Request, Try, Usage
from judgekit.judges.kinds import LOCAL, JudgeSetup

PREFIX = LOCAL.prefix


class LoadedModel(NamedTuple):
    """A model in memory."""

    tokenizer: Any
    model: Any
    weights: str
    """The first 16 hexadecimal characters of the digest of its weights."""


class TransformersJudge(NamedJudge):
    """Returns the log-probabilities of texts; it does not give verdicts or free answers.

    The model is a folder with safetensors and a fast tokeniser. It is loaded with the first
    request; nothing is downloaded, and no code of the model is executed. The field `server` of its
    replies identifies the weights, so a run can report that two models used one name.

    Args:
        model: `transformers/FOLDER`.
        base: the folder that the model's folder is relative to.
        identity: an additional part of every key.

    Raises:
        ConfigError: there is no such folder, or no safetensors in it.
        MissingExtra: transformers or torch is not installed.
    """

    settings: JudgeSettings

    def __init__(self, model: str, *, base: Path = Path(), identity: str | None = None) -> None:
        super().__init__(model)
        self.settings = JudgeSettings(identity=identity)
        self._folder = base / home_path(model.removeprefix(PREFIX))
        if not self._folder.is_dir() or not any(self._folder.glob("*.safetensors")):
            raise ConfigError(f"{model}: no folder {self._folder} with *.safetensors in it")
        if find_spec("transformers") is None or find_spec("torch") is None:
            raise MissingExtra(feature=f"{PREFIX}FOLDER", extra="transformers")
        self._lock = threading.Lock()
        self._loaded: LoadedModel | None = None

    async def ask(self, request: Request) -> Reply:
        """Return the log-probabilities of a text.

        Raises:
            JudgeRejected: the request is for something else.
            CaseError: the text is too long for the model.
            InvalidReply: no token has a position in the text.
        """
        import asyncio

        if request.form.want != "logprobs":
            raise JudgeRejected(f"{self._model} gives log-probabilities only; name another model")
        whole = "".join(message.content for message in request.messages)
        return await asyncio.to_thread(self._figures, whole)

    def _figures(self, whole: str) -> Reply:
        with self._lock:  # one text at a time; torch uses several threads for it
            tokenizer, model, weights = self._ready()
            import torch

            encoded = tokenizer(whole, return_offsets_mapping=True)
            ids, spans = encoded["input_ids"], encoded["offset_mapping"]
            most = context_of(model)
            if most is not None and len(ids) > most:
                raise CaseError(f"{len(ids)} tokens; {self._model} takes {most}")
            with torch.inference_mode():
                logits = model(torch.tensor([ids])).logits[0].double()
            following = torch.tensor(ids[1:], dtype=torch.long).reshape(-1, 1)
            chosen = torch.log_softmax(logits[:-1], dim=-1).gather(1, following)
        figures = [None, *chosen.reshape(-1).tolist()]
        # Start and end tokens have no position in the text.
        inside = [place for place, (start, end) in enumerate(spans) if end > start]
        if not inside:
            raise InvalidReply(f"{self._model} finds no token in the text")
        begins = _begins([spans[place] for place in inside])
        text = logprobs_text([figures[place] for place in inside], begins, length=len(whole))
        attempt = Try(text=text, finish="stop")
        return local_reply(attempt, self._model, weights, Usage(input_tokens=len(ids)))

    def _ready(self) -> LoadedModel:
        if self._loaded is None:
            loaded = load_model(self._folder, name=self._model)
            if not loaded.tokenizer.is_fast:
                raise JudgeRejected(f"{self._model}: its tokeniser does not say where tokens stand")
            self._loaded = loaded
        return self._loaded


def open_local(setup: JudgeSetup) -> TransformersJudge:
    """Open the judge `transformers/FOLDER`.

    Raises:
        ConfigError: there is no such folder, or no safetensors in it.
        MissingExtra: transformers or torch is not installed.
    """
    return TransformersJudge(setup.model, base=setup.base, **setup.given("identity"))


def local_reply(attempt: Try, model: str, weights: str, usage: Usage | None = None) -> Reply:
    """Return the reply of a model in memory, which names its weights."""
    return Reply(tries=(attempt,), model=model, server=f"weights {weights}", usage=usage, cost=0.0)


def load_model(folder: Path, *, name: str) -> LoadedModel:
    """Return the model of a folder with safetensors, ready to be called; no code of it is executed.

    Raises:
        JudgeRejected: it cannot be read.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    local: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, use_fast=True, **local)
        model = AutoModelForCausalLM.from_pretrained(
            folder, use_safetensors=True, dtype=torch.float32, **local
        )
    except (OSError, ValueError) as exc:
        line = " ".join(str(exc).split())[:300]
        raise JudgeRejected(f"{name} cannot be read: {line}") from exc
    files = sorted(folder.glob("*.safetensors"))
    weights = digest(b"".join(bytes.fromhex(sha256_of(path)) for path in files))[:16]
    return LoadedModel(tokenizer, model.train(False), weights)


def context_of(model: Any) -> int | None:
    """Return a model's maximum number of tokens; `None` if its configuration does not state it."""
    most = getattr(model.config, "max_position_embeddings", None)
    return most if isinstance(most, int) else None


def _begins(spans: Sequence[tuple[int, int]]) -> list[int]:
    """Return the index of the first character of each token, including a preceding space.

    >>> _begins([(0, 3), (4, 7), (7, 8), (7, 8)])
    [0, 3, 7, 7]
    """
    begins: list[int] = []
    last = 0
    for start, end in spans:
        begins.append(min(start, last) if begins else 0)
        last = max(last, end)
    return begins
