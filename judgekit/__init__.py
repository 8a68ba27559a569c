"""Score LLM output with LLM judges and rubrics; replay every verdict offline."""

__version__ = "0.1.0"
