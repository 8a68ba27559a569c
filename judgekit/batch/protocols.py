"""The protocols of batch jobs by the names that the table of providers uses."""

from __future__ import annotations

from collections.abc import Mapping

from judgekit.batch.anthropic import AnthropicBatches
from judgekit.batch.mistral import MistralBatches
from judgekit.batch.openai import OpenAIBatches
from judgekit.batch.protocol import BatchProtocol

PROTOCOLS: Mapping[str, type[BatchProtocol]] = {
    "openai": OpenAIBatches,
    "mistral": MistralBatches,
    "anthropic": AnthropicBatches,
}
