"""A test whose reply an open batch job has fails, names the job, and asks nothing live."""

from __future__ import annotations

from judgekit.batch.job import Job
from judgekit.batch.journal import Journal
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.rubric import RubricMetric
from judgekit.suite.evaluate import score_sync
from tests.testing.conftest import tape

MODEL = "openai/fake"
ASK = ("--judgekit-judge", MODEL, "--judgekit-api-base", "http://127.0.0.1:9/v1")


def test_a_pending_reply_fails_the_test(project, run):
    keys = []

    def reply(request):
        keys.append(request.key)
        return '{"kind": {"reason": "", "quotes": [], "value": false}}'

    metric = RubricMetric(project / "rubrics/kind.jinja", judge=FakeJudge(reply, model=MODEL))
    score_sync({"output": "Hello there."}, metric)
    journal = Journal(project / "store")
    job = Job(
        intent="0" * 16,
        at="",
        provider="file",
        model=MODEL,
        mode="json_schema",
        keys=(keys[0][:40],),
        sha256="",
        state="sent",
    )
    with journal.locked():
        journal.add(job)

    code, out = run("test_tone.py::test_kind", *ASK)

    assert code == 1
    assert "no score (pending): job jk-0000000000000000 has not answered yet" in out
    assert not tape(project).exists()
    assert run("test_tone.py::test_kind")[0] == 1  # a replay looks at no job
