"""Intake: take what other agents wrote down of their sessions into memory."""
