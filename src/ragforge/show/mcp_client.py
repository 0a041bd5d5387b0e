"""Servers of tools, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragforge.show.console import Fields, or_none, sanitise

if TYPE_CHECKING:
    from ragforge.domain.mcp_client import ServerReport

NO_SERVERS = (
    "No MCP server is configured. Name them under mcp.servers in your configuration file, or in "
    ".mcp.json of a project that you trust: docs/mcp.md."
)


server_to_json = Fields(
    "name=spec.name configured_in=spec.origin kind=spec.url state problem tools=offer.tools"
    " resources=offer.resources prompts=offer.prompts",
    kind=lambda url: "http" if url else "stdio",
    problem=or_none,
    tools=lambda tool: tool.name,
    resources=lambda resource: resource.uri,
    prompts=lambda prompt: prompt.name,
)


def format_servers(reports: Sequence[ServerReport]) -> list[str]:
    """Return two lines a server: what it offers or why it does not answer, and its file."""
    width = max((len(report.spec.name) for report in reports), default=0)
    lines = []
    for report in reports:
        lines.append(f"{sanitise(report.spec.name):<{width}}  {sanitise(describe_state(report))}")
        lines.append(f"{'':<{width}}  {sanitise(report.spec.origin)}")
    return lines


def describe_state(report: ServerReport) -> str:
    """Return what a server offers, or why it does not answer."""
    if report.state == "ready":
        offer = report.offer
        counts = (
            (len(offer.tools), "tool"),
            (len(offer.resources), "resource"),
            (len(offer.prompts), "prompt"),
        )
        some = [f"{many} {word}{'' if many == 1 else 's'}" for many, word in counts if many]
        return ", ".join(some) or "it offers nothing"
    if report.state == "connecting":
        return "connecting"
    return report.problem or "not connected"
