"""The endpoints that grade and run programs, some of them in SandboxFusion's shapes.

Source of the shapes: SandboxFusion, ``scripts/client/src/sandbox_fusion/models.py`` of July 2026.
"""

from __future__ import annotations

from typing import Literal

from koderz_core.grading.grader import Graded
from koderz_core.serve.endpoint import Call, Endpoint
from koderz_core.serve.parts import Parts, result_of
from koderz_core.serve.records import (
    CommandResult,
    CommandStatus,
    GradeAnswer,
    GradeRequest,
    RunCodeAnswer,
    RunCodeRequest,
    SentProgram,
    SubmitAnswer,
    SubmitRequest,
    SubmitTest,
)

Extraction = Literal["fenced", "incomplete_fenced", "heuristic", "empty"]


async def grade(parts: Parts, call: Call) -> GradeAnswer:
    request: GradeRequest = call.body
    return GradeAnswer([result_of(graded) for graded in await parts.programs.grade(call.client, request.programs)])


async def run_code(parts: Parts, call: Call) -> RunCodeAnswer:
    ran = await parts.programs.run(call.client, call.body)
    status: CommandStatus = "TimeLimitExceeded" if ran.error == "timeout" else "Finished"
    result = CommandResult(status, ran.seconds, ran.exit_code, ran.output, ran.message)
    return RunCodeAnswer("Failed" if ran.error else "Success", run_result=result)


async def submit(parts: Parts, call: Call) -> SubmitAnswer:
    request: SubmitRequest = call.body
    sent = SentProgram(answer=request.completion, dataset=request.dataset, problem=str(request.id))
    (graded,) = await parts.programs.grade(call.client, (sent,))
    result = result_of(graded)
    accepted = result.passed is True
    return SubmitAnswer(
        id=request.id,
        accepted=accepted,
        extracted_code=graded.sample.program.code or "",
        tests=[SubmitTest(accepted, _exec_info(graded))],
        extracted_type=_extracted(graded),
        extra=result,
    )


def _exec_info(graded: Graded) -> RunCodeAnswer:
    verdict = graded.verdict
    if verdict is None:
        return RunCodeAnswer("SandboxError", graded.trouble)
    status: CommandStatus = "TimeLimitExceeded" if verdict.error == "timeout" else "Finished"
    result = CommandResult(status, verdict.seconds, int(not verdict.passed), "", verdict.message)
    return RunCodeAnswer("Success" if verdict.passed else "Failed", run_result=result)


def _extracted(graded: Graded) -> Extraction:
    how = graded.sample.program.how
    if graded.sample.program.code is None:
        return "empty"
    if how == "unfinished-fence":
        return "incomplete_fenced"
    return "fenced" if how.startswith("fence") or how == "joined" else "heuristic"


ENDPOINTS = (
    Endpoint("POST", "/v1/grade", "Grade one or many programs.", grade, GradeAnswer, GradeRequest),
    Endpoint("POST", "/submit", "Grade a model's reply to a problem.", submit, SubmitAnswer, SubmitRequest),
    Endpoint("POST", "/run_code", "Run a Python program, without grading it.", run_code, RunCodeAnswer, RunCodeRequest),
)
