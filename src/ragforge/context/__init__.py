"""Context: what the model gets to see beside the question, and why."""
