"""Features: what doors and programs call, one module a topic."""
