"""Graph: the relations between the files and scopes of a project."""
