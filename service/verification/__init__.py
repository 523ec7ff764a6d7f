"""Verification of finished games by replaying their histories."""

from service.verification.histories import (
    CannotVerify,
    Target,
    VerificationFailed,
    verify_file,
    verify_history,
    verify_target,
)
from service.verification.replay import Mismatch, Replay, Unverifiable, replay_history

__all__ = [
    "CannotVerify",
    "Mismatch",
    "Replay",
    "Target",
    "Unverifiable",
    "VerificationFailed",
    "replay_history",
    "verify_file",
    "verify_history",
    "verify_target",
]
