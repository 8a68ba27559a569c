"""Ask about the criteria of cases with promptfoo: `with_promptfoo.py FOLDER BASE PROGRAM`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

folder, base, program = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
rows = [json.loads(line) for line in (folder / "cases.jsonl").read_text("utf-8").splitlines()]
judge = {"id": "openai:chat:bench", "config": {"apiBaseUrl": base, "apiKey": "none"}}
tests = [
    {
        "vars": {"output": row["output"]},
        "assert": [
            {"type": "llm-rubric", "value": item["criterion"]}
            for item in row["expected"]["criteria"]
        ],
    }
    for row in rows
]
config = {
    "prompts": ["{{output}}"],
    "providers": ["echo"],
    "defaultTest": {"options": {"provider": judge}},
    "tests": tests,
}
(folder / "promptfooconfig.json").write_text(json.dumps(config), "utf-8")
words = ["eval", "-c", "promptfooconfig.json", "--no-cache", "--no-write", "--no-table"]
words += ["--no-progress-bar", "-j", "8", "-o", "results.json"]
quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1"}
quiet["PROMPTFOO_CONFIG_DIR"] = str(folder / "home")
subprocess.run([program, *words], cwd=folder, env={**os.environ, **quiet}, check=False)
results = json.loads((folder / "results.json").read_text("utf-8"))["results"]
assert results["stats"]["successes"] == len(rows), results["stats"]
