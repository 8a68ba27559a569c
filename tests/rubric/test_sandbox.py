"""What templates may do. What they may not do is in tests/hostile."""

from __future__ import annotations

import pytest

from judgekit.core.case import Case, Message, ToolCall

FRONT = "name: mine\ncriteria:\n  a: {text: One}\n  b: {text: Two, levels: {fine: 1, bad: 0}}"
CASE = Case(
    id="1",
    input="one two\nthree",
    output="Yes.",
    history=(
        Message(role="user", content="Hi"),
        Message(role="assistant", tool_calls=(ToolCall(name="look", arguments={"q": 1}),)),
    ),
    metadata={"tags": ["x", "y"], "n": 3, "deep": {"k": "v"}},
)

ALLOWED = {
    "{{ case.input | upper }}": "ONE TWO\nTHREE",
    "{{ case.input | replace('o', '0') }}": "0ne tw0\nthree",
    "{{ case.input | indent(2) }}": "one two\n  three",
    "{{ case.input | wordcount }} {{ case.input | length }}": "3 13",
    "{{ case.input.split() | join(', ') }}": "one, two, three",
    "{{ case.input.splitlines() | first }}": "one two",
    "{{ case.output.startswith('Yes') }}": "true",
    "{{ case.input[:3] ~ '-' ~ case.output[-1] }}": "one-.",
    "{{ case.metadata.tags | join('+') }} {{ case.metadata.n + 1 }}": "x+y 4",
    "{{ case.metadata.deep.k }} {{ case.metadata['deep']['k'] }}": "v v",
    "{% for k, v in case.metadata.items() %}{{ k }} {% endfor %}": "tags n deep",
    "{{ case.metadata.get('none', 'else') }}": "else",
    "{{ case.metadata | json }}": '{"deep":{"k":"v"},"n":3,"tags":["x","y"]}',
    "{% for m in case.history %}{{ loop.index }}{{ m.role }} {{ m.text }};{% endfor %}": (
        '1user Hi;2assistant [calls look({"q":1})];'
    ),
    "{{ case.history[1].tool_calls[0].name }}": "look",
    "{{ criteria | map(attribute='id') | join(',') }}": "a,b",
    "{{ criteria | selectattr('levels') | map(attribute='id') | list | join }}": "b",
    "{% for l in criteria[1].levels %}{{ l.label }}={{ l.value }} {% endfor %}": "fine=1.0 bad=0.0",
    "{{ [3, 1, 2] | sort | join }} {{ [1, 2] | sum }} {{ [1, 2] | max }}": "123 3 2",
    "{{ 7 // 2 }} {{ 7 % 2 }} {{ 2 ** 10 }} {{ (2 / 3) | round(2) }}": "3 1 1024 0.67",
    "{% set x = case.output %}{% if x == 'Yes.' and 'Y' in x %}ok{% endif %}": "ok",
    "{% set x %}a{{ case.output }}{% endset %}{{ x }}": "aYes.",
    "{% macro m(t, n=2) %}{{ t }}{{ n }}{% endmacro %}{{ m('a') }}{{ m('b', n=3) }}": "a2b3",
    "{{ case.reference | default('none', true) }}": "none",
    "{{ case.output is string }} {{ case.metadata.zz is defined }}": "true false",
    "{{ 'lo' ~ 'ng' | trim | truncate(9) | title }}": "loNg",
}


@pytest.mark.parametrize("body", ALLOWED)
def test_a_template_may(rubric, body):
    shown = "{% if false %}{{ criteria }}{{ case.output }}{% endif %}"
    loaded = rubric(FRONT, f"{shown}{{% role user %}}{body}{{% endrole %}}")

    for _ in range(2):
        _, (message,) = loaded.render(CASE, mode="default")
        assert message.content == ALLOWED[body]
