"""Lint every hostile file in a process of bounded memory; print what came of each."""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from judgekit.authoring.lint.lint import lint_rubrics
from judgekit.authoring.lint.text import lint_json, lint_sarif, lint_text
from judgekit.core.errors import JudgekitError
from judgekit.rubric import template
from tests.hostile.conftest import SHOWN
from tests.hostile.template_worker import FRONT, Spent, entries
from tests.hostile.test_front_matter import BYTES, FILES, whole

RANGES = " ".join(f"{n}-{n + 3}: so far" for n in range(2_000))
TEXTS = {
    "digits": "1" * 25_000,
    "digits and dots": "1." * 12_500,
    "numbers": "score " * 2_500 + "1 to 5",
    "ranges": RANGES,
    "words that nearly match": "first give " * 2_500,
    "brackets": "<your " * 2_500,
    "braces": "{{" * 20_000,
    "spaces": "is the" + " " * 25_000 + "good",
    "keys": '"score" : ' * 2_500,
    "question marks": "?" * 25_000,
    "adjectives": "clear and " * 2_500,
    "letters of many scripts": "".join(chr(n) for n in range(0xA0, 0xD000)),
    "controls": "Is it \\u202e good?",
}


def files() -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of every file."""
    for name, (text, _) in FILES.items():
        yield name, whole(text).encode()
    for name, (data, _) in BYTES.items():
        yield name, whole(data)
    # Every sixth template: `test_templates` renders all of them within the same bounds.
    for name, body, _, _ in islice(entries(), 0, None, 6):
        yield name, (FRONT + SHOWN + body).encode()
    for name, text in TEXTS.items():
        front = f'---\nname: hostile\nextends: base\ncriteria:\n  a: {{text: "{text}"}}\n---\n'
        shown = front if "\\" in text or '"' not in text else front.replace('"', "'")
        yield f"a criterion of {name}", shown.encode()
        body = f"{{% raw %}}{text}{{% endraw %}}"
        yield f"a template of {name}", (FRONT + SHOWN + body).encode()
    deep = 3_000
    yield "deep braces", (FRONT + SHOWN + "{{ " + "(" * deep + "1" + ")" * deep + " }}").encode()
    ifs = "{% if case.output %}" * 400 + "{{ case.output }}" + "{% endif %}" * 400
    yield "deep conditions", (FRONT + SHOWN + ifs).encode()
    sums = "{{ case.output" + " ~ case.output" * 1_500 + " }}"
    yield "a long sum", (FRONT + SHOWN + sums).encode()
    macros = "".join(
        f"{{% macro m{n}(a) %}}{{{{ m{n + 1}(a) }}}}{{% endmacro %}}" for n in range(150)
    )
    yield "macros in a row", (FRONT + SHOWN + macros + "{{ m0(case.output) }}").encode()


def main(folder: Path) -> None:
    """Write and lint each."""
    path = folder / "hostile.jinja"
    template.Rendering = Spent  # `test_templates` spends whole budgets
    for name, data in files():
        path.write_bytes(data)
        started = time.process_time()
        said, fault, count = "", "", 0
        try:
            found = lint_rubrics([path])
            count = len(found.findings)
            said = lint_text(found)
            json.loads(lint_json(found))
            json.loads(lint_sarif(found))
        except JudgekitError as exc:
            said = str(exc)
        except Exception:
            fault = traceback.format_exc()
        seconds = time.process_time() - started
        entry = {"name": name, "said": said[:2_000], "fault": fault, "seconds": seconds}
        print(json.dumps({**entry, "count": count}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
