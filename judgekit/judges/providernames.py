"""The providers that litellm knows, to suggest one without importing litellm."""

from __future__ import annotations

from judgekit.core.errors import ConfigError
from judgekit.core.suggest import closest

PROVIDERS = frozenset({
    "ai21", "ai21_chat", "aiml", "aiohttp_openai", "amazon_nova", "anthropic", "anthropic_text",
    "azure", "azure_ai", "azure_text", "baseten", "bedrock", "cerebras", "chutes", "clarifai",
    "cloudflare", "codestral", "cohere", "cohere_chat", "cometapi", "custom", "custom_openai",
    "dashscope", "databricks", "datarobot", "deepinfra", "deepseek", "edenai", "featherless_ai",
    "fireworks_ai", "friendliai", "galadriel", "gemini", "gigachat", "github", "github_copilot",
    "gradient_ai", "groq", "heroku", "hosted_vllm", "huggingface", "hyperbolic", "infinity",
    "jina_ai", "lambda_ai", "lemonade", "litellm_proxy", "llamafile", "lm_studio", "maritalk",
    "meta_llama", "minimax", "mistral", "modelscope", "moonshot", "morph", "nebius", "nlp_cloud",
    "novita", "nscale", "nvidia_nim", "oci", "ollama", "ollama_chat", "oobabooga", "openai",
    "openai_like", "openrouter", "ovhcloud", "parasail", "perplexity", "petals", "poe",
    "predibase", "publicai", "replicate", "sagemaker", "sagemaker_chat", "sambanova", "scaleway",
    "snowflake", "together_ai", "triton", "v0", "vercel_ai_gateway", "vertex_ai",
    "vertex_ai_beta", "vllm", "volcengine", "voyage", "wandb", "watsonx", "watsonx_text", "xai",
    "xinference", "zai",
})  # fmt: skip
"""Those that answer chats or texts; the others are never refused, unless one is a misspelling."""
OWN = ("fake", "manual", "transformers")
"""What judgekit runs itself."""
_SURE = 0.8
"""How alike a name must be to a provider to count as a misspelling of it."""


def check_provider(model: str) -> None:
    """Refuse a model whose provider is a misspelled one.

    Raises:
        ConfigError: with the provider that is meant.
    """
    provider, slash, name = model.partition("/")
    known = (*PROVIDERS, *OWN)
    if slash and provider not in known and (close := closest(provider, known, alike=_SURE)):
        raise ConfigError(
            f"model {model!r}: unknown provider {provider!r}; did you mean '{close[0]}/{name}'?"
        )
