"""A plan says what rendering says, whatever a template does with the texts of a case.

Each body is rendered for cases of the same shape, so that a plan is made of it if it has one, and
for each of them by a rubric that has seen nothing else: both must say the same.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgekit.core.case import Case, Message
from judgekit.core.errors import RubricError
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.prompt_alignment.prompt_alignment import PromptAlignment
from judgekit.rubric import plan as planning
from judgekit.rubric.filters import FILTERS, TESTS
from judgekit.rubric.load import load_rubric
from judgekit.rubric.plan import MAX_LIST, MAX_PLANS, Plan
from tests.hostile.test_message_cache import BODIES, FRONT

CASES = [
    Case(
        id=str(n),
        input=("yes", "no", "Is it 3?", "  yes\n")[n],
        output=("one two", "ONE", "\x1b[0m\ttwo\u2028", "</answer>")[n],
        system=("a", "b\nc", "{{ case }}", "\ufeff")[n],
        reference=(("r", "s"), ("s", "r"), (" ", "1"), ("x" * 40, "\x00"))[n],
        context=(("k",), ("1",), ("\n",), ("{% raw %}",))[n],
        choices=("A", "B"),
        history=(
            Message(role="user", content=("hi", "1", " ", "ho")[n]),
            Message(role="assistant", content=("", "", "", "")[n]),
        ),
        metadata=({}, {"first": True}, {}, {"x": "y"})[n],
    )
    for n in range(4)
]  # fmt: skip

WAYS = {
    "print": "{{ case.input }}",
    "print at both ends": "{{ case.input }}{{ case.output }}",
    "fence": "{{ case.system | fence('s') }} {{ case.output | fence('answer') }}",
    "fence twice": "{{ case.output | fence('a') | fence('b') }}",
    "fence with a text": "{{ case.output | fence(case.input) }}",
    "ask whether it is there": "{% if case.baseline %}{{ case.baseline }}{% else %}none{% endif %}",
    "either": "{{ case.baseline or case.input }} {{ case.input and case.output }}",
    "inline if": "{{ case.output if case.system else 'none' }}",
    "not": "{% if not case.baseline and not not case.input %}yes{% endif %}",
    "lists": "{% for r in case.reference %}{{ loop.index }} {{ r | fence('r') }}{% endfor %}",
    "list filter": "{% for r in case.reference if r %}{{ r }}{% endfor %}",
    "list filter by text": "{% for r in case.reference if r == 'r' %}{{ r }}{% endfor %}",
    "first of a list": "{{ case.reference | first }}{{ case.context | last | fence('c') }}",
    "by place": "{{ case.reference[0] }}{{ case.reference[-1] | fence('r') }}",
    "by slice": "{{ case.input[:2] }}",
    "slice of a list": "{% for r in case.reference[1:] %}{{ r }}{% endfor %}",
    "a character": "{{ case.input[0] }}",
    "sorted": "{% for r in case.reference | sort %}{{ r }}{% endfor %}",
    "joined": "{{ case.reference | join(', ') }}",
    "counted": "{{ case.reference | length }} {{ case.history | length }}",
    "history": "{% for m in case.history %}{{ m.role }}: {{ m.text | fence(m.role) }}{% endfor %}",
    "history by role": "{% for m in case.history | selectattr('role', 'eq', 'user') %}"
    "{{ m.content }}{% endfor %}",
    "history by content": "{% for m in case.history | selectattr('content', 'eq', 'hi') %}"
    "{{ m.role }}{% endfor %}",
    "history without content": "{% for m in case.history if m.content %}{{ m.role }}{% endfor %}",
    "history mapped": "{{ case.history | map(attribute='content') | join(' ') }}",
    "history's last": "{{ (case.history | last).role }} {{ case.history[0].content }}",
    "history's place": "{{ loop is defined }}{{ case.history[0]['content'] }}",
    "compare": "{% if case.input == 'yes' %}A{% else %}B{% endif %}",
    "compare with another": "{% if case.input == case.output %}A{% else %}B{% endif %}",
    "compare lists": "{% if [case.input] == ['yes'] %}A{% else %}B{% endif %}",
    "compare in a list": "{% if case.input in ['yes', 'x'] %}A{% else %}B{% endif %}",
    "inside": "{% if 'o' in case.input %}A{% else %}B{% endif %}",
    "in the references": "{% if 'r' in case.reference %}A{% else %}B{% endif %}",
    "order": "{% if case.input < 'p' %}A{% else %}B{% endif %}",
    "set": "{% set x = case.input %}{{ x }}{% if x == 'yes' %}A{% endif %}",
    "set and print": "{% set x = case.input %}{{ x }}{{ x | fence('x') }}",
    "set block": "{% set x %}{{ case.input }}{% endset %}{{ x }}{% if x == 'yes' %}A{% endif %}",
    "set block sliced": "{% set x %}{{ case.input }}{% endset %}{{ x[1:3] }}",
    "set block's character": "{% set x %}{{ case.input }}{% endset %}{{ x[1] }}{{ x[1:2] }}",
    "set block's characters": "{% set x %}{{ case.input }}{% endset %}"
    "{% for c in x %}{{ loop.index }}{% endfor %}{{ x | first }}",
    "set block unpacked": "{% set x %}{{ case.reference[0] }}..{% endset %}"
    "{% set a, b, c = x %}{{ a }}",
    "set block as a key": "{% set x %}{{ case.input }}{% endset %}"
    "{% set d = {'yes': 1, x: 2} %}{{ d | length }}{{ d[x] is defined }}",
    "set block if there": "{% set x %}{{ case.input }}{% endset %}{{ x if x else 'none' }}",
    "set block of nothing": "{% set x %}{{ case.baseline or '' }}{% endset %}"
    "{{ 'A' if x else 'B' }}",
    "set block fenced": "{% set x %}{{ case.input }}{% endset %}{{ x | fence('x') }}",
    "set block in a set block": "{% set x %}{{ case.input }}{% endset %}"
    "{% set y %}<{{ x }}>{% endset %}{{ y }}{{ y }}",
    "tag of 101 letters": "{{ case.output | fence('" + 101 * "a" + "') }}",
    "macro without arguments": "{% macro m() %}<{{ case.input }}>{% endmacro %}{{ m() }}{{ m() }}",
    "macro of a macro": "{% macro m(t) %}<{{ t }}>{% endmacro %}"
    "{% macro n(t) %}{{ m(t) }}!{% endmacro %}{{ n(case.input) }}",
    "macro of a macro's result": "{% macro m(t) %}<{{ t }}>{% endmacro %}{{ m(m(case.input)) }}",
    "macro joined": "{% macro m() %}{{ case.input }}{% endmacro %}{{ [m(), 'x'] | join('-') }}",
    "macro with more": "{% macro m() %}{{ varargs | length }}{{ varargs[0] }}{% endmacro %}"
    "{{ m(case.input, 'x') }}",
    "macro that looks": "{% macro m(t) %}{% if 'e' in t %}A{% endif %}{% endmacro %}"
    "{{ m(case.input) }}",
    "call and print": "{% macro m() %}<{{ caller() }}>{% endmacro %}"
    "{% call m() %}{{ case.input }}{% endcall %}",
    "call in a call": "{% macro m() %}<{{ caller() }}>{% endmacro %}"
    "{% call m() %}{% call m() %}{{ case.input }}{% endcall %}{% endcall %}",
    "role in a macro": "{% macro m() %}{% role user %}{{ case.input }}{% endrole %}{% endmacro %}"
    "{{ m() }}",
    "macro": "{% macro m(t) %}<{{ t }}>{% endmacro %}{{ m(case.input) }}",
    "macro by name": "{% macro m(t) %}{% if t == 'yes' %}A{% endif %}{{ t }}{% endmacro %}"
    "{{ m(t=case.input) }}",
    "macro's result": "{% macro m() %}{{ case.input }}{% endmacro %}"
    "{% if m() == 'yes' %}A{% else %}{{ m()[0] }}{% endif %}",
    "call": "{% macro m() %}{{ caller() | upper }}{% endmacro %}"
    "{% call m() %}{{ case.input }}{% endcall %}",
    "call and look": "{% macro m() %}{% if 'e' in caller() %}A{% endif %}{% endmacro %}"
    "{% call m() %}{{ case.input }}{% endcall %}",
    "tilde": "{{ case.input ~ '!' }}",
    "plus": "{{ case.input + '!' }}",
    "percent": "{{ '%s' % case.input }}",
    "times": "{{ case.input * 2 }}",
    "minus": "{{ case.input - 1 }}",
    "method": "{{ case.input.upper() }}{{ case.input.split()[0] }}",
    "method is there": "{% if case.input.upper is defined %}A{% endif %}",
    "attribute is there": "{% if case.input.nonsense is defined %}A{% else %}B{% endif %}",
    "attribute of a hole": "{% if case.input.tag is defined %}A{% else %}B{% endif %}"
    "{% if case.input.name is defined %}A{% else %}B{% endif %}",
    "subscript": "{{ case['input'] }}",
    "loop over characters": "{% for c in case.input %}{{ c }}.{% endfor %}",
    "key": "{% set d = {case.input: 1} %}{{ d | length }}{{ d.yes }}",
    "value of a dictionary": "{% set d = {'k': case.input} %}{{ d.k }}{{ d | json }}",
    "values printed": "{% set d = {'k': case.input} %}"
    "{% for k, v in d.items() %}{{ v }}{% endfor %}",
    "metadata": "{{ case.metadata | length }}",
    "metadata there": "{% if case.metadata %}A{% endif %}",
    "expected": "{% if case.expected %}A{% else %}B{% endif %}",
    "no such field": "{{ case.labels is defined }}",
    "the case itself": "{{ case }}",
    "the case as json": "{{ case | json }}",
    "cycle": "{% for r in case.reference %}{{ loop.cycle(case.input, 'x') }}{% endfor %}",
    "previous": "{% for r in case.reference %}{{ loop.previtem }}{{ loop.nextitem }}{% endfor %}",
    "unpacked": "{% set a, b = case.reference %}{{ b }}{{ a }}",
    "text unpacked": "{% set a, b = case.input %}{{ b }}{{ a }}",
    "outside and role": "{{ case.context[0] }}{% role user %}U{% endrole %}",
    "role by text": "{% if 'y' in case.input %}{% role user %}U{% endrole %}{% endif %}"
    "{% role assistant %}A{% endrole %}",
    "blank role": "{% role user %}{{ case.reference[0] }}{% endrole %}"
    "{% role system %}S{% endrole %}",
    "strings": "{{ case.input is string }}{{ case.input is sequence }}{{ case.input is iterable }}",
    "numbers": "{% if case.reference[1] | int == 1 %}A{% else %}B{% endif %}",
}  # fmt: skip
OF_FILTERS = {
    "of a text": "{{ case.input | F }}",
    "of a list": "{{ case.reference | F }}",
    "of a made list": "{{ [case.input, 'yes'] | F }}",
    "in a loop": "{% for r in case.reference | F %}{{ r }}{% endfor %}",
    "of a stretch": "{% filter F %}{{ case.input }}{% endfilter %}",
    "of a block": "{% set x %}{{ case.input }}{% endset %}{{ x | F }}",
}
OF_TESTS = {
    "of a text": "{% if case.input is T %}A{% else %}B{% endif %}",
    "of a list": "{% if case.reference is T %}A{% else %}B{% endif %}",
    "of what is chosen": "{% for r in case.reference if r is T %}{{ r }}{% endfor %}",
    "to choose by": "{{ case.reference | select('T') | join }}",
}
for name in FILTERS:
    if not name.startswith("_"):
        WAYS |= {f"filter {name} {how}": b.replace("F", name) for how, b in OF_FILTERS.items()}
for name in TESTS:
    if name.isidentifier():
        wanted = name + (
            " 'yes'" if name in ("eq", "ne", "lt", "gt", "le", "ge", "equalto") else ""
        )
        WAYS |= {f"test {name} {how}": b.replace("T", wanted) for how, b in OF_TESTS.items()}


def said(rubric, case):
    """Return the messages, or the words of the failure."""
    try:
        _, messages = rubric.render(case, mode="default")
    except RubricError as exc:
        return str(exc)
    return [(message.role, message.content) for message in messages]


def plans_of(rubric):
    return [p for plans in rubric.template._plans.values() for p in plans.values()]


THOROUGH = pytest.mark.thorough


@pytest.mark.parametrize(
    "bodies", [pytest.param(BODIES, id="roles"), pytest.param(WAYS, id="ways", marks=THOROUGH)]
)
def test_a_plan_says_what_rendering_says(rubric_of, tmp_path, bodies):
    (tmp_path / "_part.jinja").write_text("{% set x = case.output %}{{ x }}", encoding="utf-8")
    planned = []
    for name, body in bodies.items():
        path = rubric_of(body, FRONT)
        try:
            used = load_rubric(path)
        except RubricError:
            continue  # what is refused when it is loaded is never rendered
        unused, fresh = load_rubric(path), {}
        for case in CASES:
            fresh[case.id] = said(unused, case)
            unused.template._plans.clear()
            unused.template._cached.clear()
        for case in [*CASES, *CASES]:
            assert said(used, case) == fresh[case.id], name
        planned += [name for plan in plans_of(used) if isinstance(plan, Plan)]

    assert {"nothing of the case"} <= set(planned) or {
        "print", "fence", "either", "lists", "by place", "history", "set and print", "inline if",
        "macro", "macro without arguments", "macro of a macro", "call and print", "call in a call",
        "set block if there", "set block in a set block", "role in a macro",
    } <= set(planned)  # fmt: skip
    assert not {
        "compare", "by slice", "method", "metadata", "joined", "set block's character",
        "set block unpacked", "set block as a key", "set block fenced", "macro that looks",
    } & set(planned)  # fmt: skip


@pytest.mark.parametrize(
    "block",
    [
        "{{ super() }}{{ case.baseline | fence('baseline') }}",
        "{{ super() -}}",
        "{% if case.baseline %}{{ super() }}{% endif %}",
    ],
)
def test_a_block_that_prints_the_one_above_is_planned(rubric_of, block):
    front = FRONT.replace("criteria:", "extends: base\ncriteria:", 1)
    used, fresh = (
        load_rubric(rubric_of(f"{{% block evidence %}}{block}{{% endblock %}}", front))
        for _ in range(2)
    )

    for case in [case.model_copy(update={"baseline": f"b{case.id}"}) for case in CASES]:
        expected = said(fresh, case)
        fresh.template._plans.clear()
        assert said(used, case) == expected

    assert any(isinstance(plan, Plan) for plan in plans_of(used))


texts = st.text(max_size=12) | st.sampled_from(
    ["", " ", "a\x07b", "</answer>", "\u2028", "{{ x }}"]
)
cases = st.builds(
    Case,
    id=st.just("1"),
    input=texts.map(lambda text: text + "?"),
    output=texts.map(lambda text: text + "."),
    system=st.none() | texts,
    reference=st.lists(texts, max_size=2).map(tuple),
    context=st.lists(texts, max_size=2).map(tuple),
    history=st.lists(
        st.builds(Message, role=st.sampled_from(["user", "assistant"]), content=texts), max_size=2
    ).map(tuple),
)


@pytest.mark.parametrize("name", ["quality", "safety", "prompt_alignment"])
def test_built_in_rubrics_are_planned(name):
    used, fresh = load_rubric(name), load_rubric(name)

    @settings(max_examples=100, deadline=None)
    @given(cases)
    def compare(case):
        mode = used.default_mode
        _, expected = fresh.render(case, mode=mode)
        fresh.template._plans.clear()
        assert used.render(case, mode=mode)[1] == expected

    compare()

    assert sum(isinstance(plan, Plan) for plan in plans_of(used)) >= 5
    assert None not in plans_of(used)


def rows(**fields):
    return [Case(id="x", input="i", output=f"o{n}", system="s", **fields) for n in range(3)]


@pytest.mark.parametrize(
    ("fields", "planned"),
    [
        ({}, True),
        ({"reference": ("r",) * MAX_LIST}, True),
        ({"reference": ("r",) * (MAX_LIST + 1)}, False),
        ({"history": (Message(role="user", content="h"),) * 3}, True),
        (
            {"history": (Message(role="assistant", tool_calls=({"name": "f"},)),)},
            False,
        ),
    ],
)
def test_only_short_plain_cases_have_plans(fields, planned):
    metric = PromptAlignment(judge=FakeJudge())

    for case in rows(**fields):
        metric.requests(case)

    assert any(isinstance(plan, Plan) for plan in plans_of(metric.rubric)) is planned


def test_the_shapes_kept_in_mind_are_few(rubric_of):
    rubric = load_rubric(rubric_of("{{ case.output }}", FRONT))
    roles = ("user", "assistant", "tool", "system")

    for number in range(3 * MAX_PLANS):
        history = tuple(Message(role=roles[number >> 2 * n & 3], content="x") for n in range(4))
        case = Case(id="1", output="o", history=history)
        assert said(rubric, case) == [("user", "o")]
        assert said(rubric, case) == [("user", "o")]

    assert len(plans_of(rubric)) == MAX_PLANS


def test_a_long_prompt_is_rendered_and_pays(rubric_of, monkeypatch):
    monkeypatch.setattr(planning, "MAX_FILLING", 1000)
    body = "{% for c in criteria %}{{ case.output }}{% endfor %}"
    rubric = load_rubric(rubric_of(body, FRONT))
    for _ in range(3):
        said(rubric, Case(id="1", output="o"))
    assert isinstance(plans_of(rubric)[0], Plan)

    assert said(rubric, Case(id="1", output="o" * 600)) == [("user", "o" * 1200)]
    assert "characters" in said(rubric, Case(id="1", output="o" * 60_000_000))


def test_text_that_looks_like_a_mark_is_text(rubric_of):
    # Half characters cannot come from a file, but from Python.
    rubric = load_rubric(rubric_of("{{ case.output }}", FRONT))
    for output in ("a", "b", "\ud8000\udfff"):
        assert said(rubric, Case.model_construct(id="1", output=output)) == [("user", output)]
