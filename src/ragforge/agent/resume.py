"""Resume: whether a turn broke off, and what the model is asked then."""

from __future__ import annotations

from ragforge.domain.turns import Turn

GO_ON = "This is as far as it went before it broke off. Go on from here; repeat nothing."


def is_answered(turn: Turn) -> bool:
    """Tell whether a model has answered; what broke off ends with a call or with the reason.

    What the user did afterwards, such as taking an edit back, is a call of the system's.
    """
    said = [one for one in turn.replies if one.role != "system" or not one.tool_calls]
    last = said[-1] if said else turn.user
    return last.role == "assistant" and not last.tool_calls
