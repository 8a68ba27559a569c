"""The model that messages, help texts and documentation use as an example.

Change it here and in `docs/`, `examples/` and `README.md`; a test compares them.
"""

EXAMPLE_MODEL = "openai/gpt-6-luna"
"""A small hosted model that is current: its provider has announced no end of it."""
LOCAL_MODEL = "ollama_chat/qwen3:8b"
"""A model on the user's own machine."""
