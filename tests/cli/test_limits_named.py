"""A configuration that its own limits ended is unsolved, and the tables say why."""

from __future__ import annotations

from chat_server import sends, serving_chat


def test_a_prompt_that_did_not_fit_is_named_as_the_cause_beside_each_table(koderz, monkeypatch):
    with serving_chat() as server:
        server.answer = sends(400, {"error": {"code": "context_length_exceeded", "message": "Too long."}})
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        asked = ("--problems", "0:2", "--strategy", "direct", "--coder", "vllm/it", "--no-baselines")
        ran = koderz("benchmark", *asked)
    why = "of 2 unsolved experiments, 2 ended because a prompt did not fit into the context window of its model."
    assert why in " ".join(ran.out.split())
    for command in ("results", "compare"):
        assert why in " ".join(koderz(command).out.split())
