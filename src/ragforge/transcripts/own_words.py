"""Own words: how texts are marked that RagForge itself gave to an agent.

They must not be remembered again.
"""

from __future__ import annotations

OWN_TAG = "ragforge-memory"
"""Stands around what RagForge gave to an agent."""
OWN_NOTICE = "Recalled by RagForge."
"""Begins the note of a fence, which stands around what RagForge recalled."""
