"""Security: what a hostile project, model or file must not be able to do."""
