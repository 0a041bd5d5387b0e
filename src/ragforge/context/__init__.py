"""Context: what the model receives in addition to the question, and why."""
