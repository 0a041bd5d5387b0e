"""Files: which files of a project are read, and which of them have changed."""
