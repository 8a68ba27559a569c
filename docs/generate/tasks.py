"""The ten first tasks of the page about the Python API, which the tests run."""

TASKS = """## Ten first tasks

What a new program does first; the blocks run in this order, in one folder. `fake/judge` makes up replies without a key; name a model instead, such as `openai/gpt-6-luna`.

### 1. Score one answer

```python
import judgekit

answer = {"input": "When do you open?", "output": "At ten.", "reference": "At ten."}
result = judgekit.score_sync(answer, "exact_match")
assert isinstance(result, judgekit.Score)
print(result.value, result.reason)
```

```text
1.0 The output is the accepted answer.
```

### 2. Score a spreadsheet

```python
from pathlib import Path

Path("answers.csv").write_text("Question,Reply\\nOpen?,At ten.\\nParking?,Behind the house.\\n")
columns = {"input": "Question", "output": "Reply"}
replies = list(judgekit.load_cases("answers.csv", fields=columns))
report = judgekit.evaluate_sync(replies, {"length": {"maximum": 2, "unit": "words"}})
print(report)
```

```text
Report(cases=2, length=0.750)
```

### 3. Ask a judge

```python
report = judgekit.evaluate_sync(replies, ["quality"], judge="fake/judge", max_cost=1.0)
print(report.run["origins"])  # report.run["spent"] has the US dollars
```

```text
{'live': 2}
```

### 4. Ask your own questions

```python
questions = {"kind": "Is the reply kind?", "short": "Is the reply short?"}
kind = judgekit.RubricMetric(criteria=questions, judge="fake/judge", name="kind")
report = judgekit.evaluate_sync(replies, [kind])
print([criterion.id for criterion in report.metrics["kind"].criteria])
```

```text
['kind', 'short']
```

### 5. Write your own metric

```python
@judgekit.metric("says_when")
def says_when(case: judgekit.Case) -> bool:
    return "ten" in (case.output or "")


print(judgekit.evaluate_sync(replies, [says_when]))
```

```text
Report(cases=2, says_when=0.500)
```

### 6. Use your own client as judge

The function gets a [`Request`](#request). [Extending](extending.md#your-own-client-as-judge) has clients of OpenAI, of Anthropic and plain HTTP.

```python
async def my_judge(request: judgekit.Request) -> dict[str, object]:
    assert request.schema["type"] == "object"  # the JSON schema of the reply
    return {q.id: {"reason": "It is.", "value": True} for q in request.form.questions}


question = {"kind": {"text": "Is the reply kind?", "kind": "boolean"}}
own = judgekit.RubricMetric(criteria=question, judge=my_judge)
print(judgekit.evaluate_sync(replies, [own]))
```

```text
Report(cases=2, criteria=1.000)
```

### 7. Set thresholds and gates

```python
report = judgekit.evaluate_sync(
    replies,
    ["quality", says_when],
    judge="fake/judge",
    thresholds={"quality": 0.7},
    gates={"says_when": {"mean": 0.9}},
)
print(report.passed, report.exit_code, report.figures.gates[0].sentence)
```

```text
False 1 says_when: mean 0.500 [too few: 2 of the 5 values that an interval needs] over 2 misses at least 0.9 by its estimate
```

### 8. Read the results

```python
for scored, results in report.results:
    for row in results:
        if isinstance(row.result, judgekit.Failure):
            print(row.result.message)
        elif row.metric == "says_when":
            print(scored.input, row.result.value)
table = report.to_pandas()
print(len(table), report.metrics["says_when"].mean)
```

```text
Open? 1.0
Parking? 0.0
4 0.5
```

### 9. Record replies, and replay them

Replies of judges by name are kept in the private store of the project, so the first call asks nothing that task 3 asked. The tape is a file to commit.

```python
for mode in ("new_episodes", "none"):
    record = judgekit.RecordMode(mode)
    taped = judgekit.evaluate_sync(
        replies, ["quality"], judge="fake/judge", cassette="replies.jsonl", record=record
    )
    print(taped.run["origins"])
```

```text
{'store': 2}
{'tape': 2}
```

### 10. Keep runs, and compare two

```python
before = judgekit.evaluate_sync(replies, [says_when], out="runs/before")
improved = [one.model_copy(update={"output": "At ten."}) for one in replies]
after = judgekit.evaluate_sync(improved, [says_when], out="runs/after")
print(after.to_html(), judgekit.compare("runs/before", "runs/after").pairs)
```

```text
runs/after/report.html 2
```

## Names by task
"""
