"""Wiring: what the application is built from: stores, models, projects, trust."""
