"""The model that messages, help texts and documentation use as an example.

Change it here and in `docs/`, `examples/` and `README.md`; a test compares them.
"""

EXAMPLE_MODEL = "openai/gpt-6-luna"
"""A small, current hosted model: its provider has not announced its retirement."""
LOCAL_MODEL = "ollama_chat/qwen3:8b"
"""A model on the user's own machine."""
