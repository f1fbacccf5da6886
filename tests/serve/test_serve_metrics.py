"""The metrics of `koderz serve`: only with the token, with the figures of its queues and requests."""

from __future__ import annotations

from pathlib import Path

from bad_fields import AUTHORIZED, TOKEN
from served import ADDING, serving

from koderz_core import open_workspace


def test_queues_and_requests_are_measured_for_clients_with_the_token(tmp_path: Path) -> None:
    with serving(open_workspace(home=tmp_path / "home", serve_token=TOKEN)) as served:
        assert served.get("/metrics").status == 401
        assert served.get("/nothing", **AUTHORIZED).status == 404
        graded = served.post("/v1/grade", {"programs": [ADDING, ADDING]}, **AUTHORIZED)
        assert graded.status == 200
        assert served.post("/v1/grade", {"programs": 1}, **AUTHORIZED).status == 422
        answer = served.get("/metrics", **AUTHORIZED)
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    assert 'koderz_serve_jobs_total{queue="grading"} 2.0' in lines
    assert 'koderz_serve_pending{queue="grading"} 0.0' in lines
    assert 'koderz_serve_requests_total{endpoint="POST /v1/grade",status="200"} 1.0' in lines
    assert 'koderz_serve_requests_total{endpoint="POST /v1/grade",status="422"} 1.0' in lines
    assert 'koderz_serve_requests_total{endpoint="none",status="401"} 1.0' in lines
    assert 'koderz_serve_requests_total{endpoint="none",status="404"} 1.0' in lines
    assert TOKEN not in answer.text
