"""Prompts of a debate: for those who speak, who see the others' positions whole, and for the judge who sums it up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from koderz_core.prompts.attempts import BYTES_PER_TOKEN
from koderz_core.prompts.personas import Speaker
from koderz_core.prompts.quoting import shortened
from koderz_core.prompts.thoughts import answer
from koderz_core.records import Message, PublicProblem

VERSION = "1"
POSITION_LIMIT = 8000  # characters, as a spec: a longer position would crowd out the problem, whatever was asked for
_NOTHING = "(said nothing)"

_SYSTEM = (
    "You take part in a debate on how to solve a programming problem. You are the {role}. {style}\nYou hold to this:\n"
    "{rules}\nNobody writes the program here; somebody will afterwards, from what comes of the debate."
)
_OPEN = (
    "Give your position: what the problem really asks, which approach you would take, and what matters most from where "
    "you stand. At most {words} words."
)
_REPLY = (
    "Answer the others: say what you take over and from whom, and what you reject and why. Change your mind where they "
    "are right and not where they are only many. Then give your whole position as it is now: it is all that the others "
    "and the judge will see of you. At most {words} words."
)
_JUDGE = (
    "Several people have debated how to solve the problem below, and these are their last positions. Weigh them "
    "against the text of the problem: an argument counts, not how many share it. Where they disagree, decide.\n"
    "Write what the programmer needs, who sees the problem and your answer and nothing else: (1) the approach, in "
    "steps, (2) the edge cases, and what each must give, (3) the mistakes to avoid. Nothing that the text contradicts. "
    "Do not write the program. At most {words} words."
)


@dataclass(frozen=True, slots=True)
class Position:
    """What somebody said in a round."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Limits:
    """``turn_tokens``: the longest turn; ``shown_tokens``: what positions may take of a prompt, all together."""

    turn_tokens: int
    shown_tokens: int

    @property
    def words(self) -> int:
        return max(20, self.turn_tokens // 2)  # a token is about 0.75 words of English, and no turn shall break off


def position(speaker: str, reply: str) -> Position:
    """What an answer says, without its thinking."""
    return Position(speaker, shortened(answer(reply).strip(), POSITION_LIMIT))


def turn(problem: PublicProblem, speaker: Speaker, last: Sequence[Position], limits: Limits) -> tuple[Message, ...]:
    """Ask one of the speakers, in the first round or after these positions of the round before."""
    rules = "\n".join(f"- {rule}" for rule in speaker.persona.rules)
    system = _SYSTEM.format(role=_titled(speaker.role), style=speaker.persona.style, rules=rules)
    own = [one for one in last if one.speaker == speaker.role]
    others = [one for one in last if one.speaker != speaker.role]
    parts = [_shown(problem)]
    if last:
        parts.append("\n\n".join(["Positions of the last round.", *_positions([*own, *others], speaker.role, limits)]))
    parts.append((_REPLY if last else _OPEN).format(words=limits.words))
    return (Message("system", system), Message("user", "\n\n".join(parts)))


def judge(problem: PublicProblem, last: Sequence[Position], limits: Limits) -> tuple[Message, ...]:
    """Ask for what came of the debate."""
    parts = [_JUDGE.format(words=limits.words), _shown(problem), *_positions(last, "", limits)]
    return (Message("user", "\n\n".join(parts)),)


def _shown(problem: PublicProblem) -> str:
    return f"Problem:\n```python\n{problem.prompt.rstrip()}\n```"


def _positions(positions: Sequence[Position], own: str, limits: Limits) -> Iterator[str]:
    """Each whole if there is room for all, else cut to its fair share, and then it says so."""
    room = limits.shown_tokens * BYTES_PER_TOKEN
    sizes = {one.speaker: len(one.text) for one in positions}
    for place, speaker in enumerate(sorted(sizes, key=lambda name: sizes[name])):
        sizes[speaker] = min(sizes[speaker], room // (len(positions) - place))
        room -= sizes[speaker]
    for one in positions:
        who = "You" if one.speaker == own else f"The {_titled(one.speaker)}"
        cut = " (cut to fit)" if sizes[one.speaker] < len(one.text) else ""
        yield f"### {who}{cut}:\n{shortened(one.text, sizes[one.speaker]) or _NOTHING}"


def _titled(role: str) -> str:
    return role.replace("_", " ")
