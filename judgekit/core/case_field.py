"""The table of the fields of a case: what each holds, who reads it, and what it is called.

Everything that treats some fields of a case in a certain way takes them from here. A new field is
an entry in the model `Case` and a row here; without the row, `judgekit.core.case` cannot be
imported. This module loads nothing, so that the command line can read it before pydantic.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

FieldKind = Literal["id", "text", "texts", "messages", "object"]
"""What a field holds: the id of a case, a text, several texts, messages, or a JSON object."""
Compared = Literal["question", "setting"]
"""What a field is to a comparison of two runs: the question must be equal in both, and a run may
vary a setting, such as the system prompt."""


class CaseField(NamedTuple):
    """A field of a case. The defaults are right for a text that a judge reads."""

    name: str
    kind: FieldKind
    about: str
    """What it holds, in words: in the help of its flag and as the text of an invented case."""
    title: str
    """Its heading on pages."""
    judged: bool = True
    """Whether templates may read it and rubrics may require it."""
    quoted: bool = True
    """Whether it is evidence: quotes of a judge are looked up in it, people who label see it, and
    `judgekit score` has a flag for it if it is text."""
    asked: bool = False
    """Whether the system under test reads it before it answers."""
    compared: Compared | None = "question"
    """Its part in a comparison of two runs; `None` for the answer, and if it does not matter."""
    on_pages: bool = True
    """Whether pages print it among the texts of the case."""
    answer: bool = False
    """Whether it is an answer: one without a word is an answer, while another text without a word
    is missing."""
    aliases: Mapping[str, str] = {}
    """Other names of the field in files of cases, those of common tools -> where they are from: a
    project, and a page or file without an address."""


CASE_FIELDS = (
    CaseField(
        "id", "id", "the id of the case", "Case",
        judged=False, quoted=False, compared=None, on_pages=False,
    ),
    CaseField(
        "system", "text", "the system prompt", "System prompt",
        asked=True, compared="setting",
        aliases={"system_prompt": "OpenOrca: data set card"},
    ),
    CaseField("history", "messages", "the earlier messages", "Earlier messages", asked=True),
    CaseField(
        "input", "text", "the user's question", "Input",
        asked=True,
        aliases={
            "prompt": "openai-python: src/openai/types/completion_create_params.py",
            "question": "langsmith-sdk: python/langsmith/evaluation/_runner.py",
            "query": "lm-evaluation-harness: docs/new_task_guide.md",
            "user_input": "Ragas: src/ragas/dataset_schema.py",
        },
    ),
    CaseField(
        "steps", "messages", "what the assistant did before it answered", "Steps before the answer",
        compared=None,
    ),
    CaseField(
        "output", "text", "the answer to score", "Output",
        compared=None, answer=True,
        aliases={
            "response": "Ragas: src/ragas/dataset_schema.py",
            "answer": "langsmith-sdk: python/langsmith/evaluation/_runner.py",
            "completion": "OpenAI Evals: evals/registry/modelgraded",
            "prediction": "LangChain: libs/langchain/langchain/evaluation/schema.py",
            "actual_output": "DeepEval: deepeval/test_case/llm_test_case.py",
        },
    ),
    CaseField("baseline", "text", "the answer to compare with", "Baseline", answer=True),
    CaseField(
        "reference", "texts", "an accepted answer", "Reference",
        aliases={
            "expected_output": "DeepEval: deepeval/test_case/llm_test_case.py",
            "expected_answer": "habit: seen in data sets of questions, of no tool in particular",
            "ground_truth": "Ragas: docs/concepts/metrics/available_metrics/rubrics_based.md",
            "gold": "lm-evaluation-harness: docs/new_task_guide.md",
            "references": "Hugging Face evaluate: the arguments of its metrics",
            "target": "inspect_ai: src/inspect_ai/dataset/_dataset.py",
            "ideal": "OpenAI Evals: docs/build-eval.md",
        },
    ),
    CaseField(
        "context", "texts", "a passage the answer relies on", "Context",
        asked=True, compared="setting",
        aliases={
            "contexts": "Ragas: docs/concepts/metrics/available_metrics/rubrics_based.md",
            "retrieved_contexts": "Ragas: src/ragas/dataset_schema.py",
            "retrieval_context": "DeepEval: deepeval/test_case/llm_test_case.py",
            "documents": "cohere-python: src/cohere/v2/client.py",
        },
    ),
    # The options are no evidence: a quote of one says nothing about the answer.
    CaseField("choices", "texts", "an option to choose", "Choices", quoted=False, asked=True),
    CaseField(
        "parent", "id", "the id of the original case", "Copy of",
        judged=False, quoted=False, compared=None, on_pages=False,
    ),
    CaseField("expected", "object", "the inputs of a metric", "Expected", quoted=False),
    # A judge that saw the labels would repeat them.
    CaseField(
        "labels", "object", "the human scores", "Human labels",
        judged=False, quoted=False, compared=None,
    ),
    # Pages show the metadata in the head of a case, where they filter by it.
    CaseField(
        "metadata", "object", "any other data", "Metadata",
        quoted=False, compared=None, on_pages=False,
    ),
    CaseField(
        "unread", "object", "the fields that were not read whole", "Not read",
        judged=False, quoted=False, compared=None,
    ),
)  # fmt: skip
"""The fields of a case, in the order in which people read them."""


def _named(*kinds: FieldKind) -> tuple[str, ...]:
    return tuple(field.name for field in CASE_FIELDS if field.kind in kinds)


TEXTS = _named("text")
"""Fields with one text, which may be missing."""
TEXT_LISTS = _named("texts")
"""Fields with any number of texts."""
MESSAGE_LISTS = _named("messages")
"""Fields with any number of messages."""
OBJECTS = _named("object")
"""Fields that are objects; `metadata.topic` is one value inside."""
CASE_WORDS = frozenset((*TEXTS, *TEXT_LISTS))
"""The fields that hold text."""

_QUOTED = tuple(field.name for field in CASE_FIELDS if field.quoted)
CASE_TEXTS = tuple(name for name in _QUOTED if name in CASE_WORDS)
"""The texts that are evidence, in the order in which reports show them."""
FIELD_OF = {alias: field.name for field in CASE_FIELDS for alias in field.aliases}
"""Words that other tools use for a field -> the field."""
EVIDENCE = (*CASE_TEXTS, *(name for name in _QUOTED if name in MESSAGE_LISTS))
"""All evidence: the texts, then the messages."""
JUDGED = (*EVIDENCE, *(f.name for f in CASE_FIELDS if f.judged and f.name not in EVIDENCE))
"""The fields that a judge may see: the evidence first."""
ANSWERS = frozenset(field.name for field in CASE_FIELDS if field.answer)
"""The answers: an empty one is an answer, and only null is a missing one."""
SETTINGS = tuple(field.name for field in CASE_FIELDS if field.compared == "setting")
"""The fields that a run may vary, such as the system prompt; many cases share their texts."""
FIELD_BY_NAME = {field.name: field for field in CASE_FIELDS}
"""Name -> the row of the field."""
