"""Ports: the interfaces of stores, models, servers and the web, which adapters implement."""
