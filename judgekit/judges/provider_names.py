"""The names of litellm's providers, which are the first parts of hosted models' strings."""

KNOWN_PROVIDERS = frozenset({
    "ai21", "ai21_chat", "aiml", "aiohttp_openai", "amazon_nova", "anthropic", "anthropic_text",
    "azure", "azure_ai", "azure_text", "baseten", "bedrock", "cerebras", "chutes", "clarifai",
    "clf_ai_gateway",
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
"""Providers of chat or text models; other names are refused only if they are misspellings."""
