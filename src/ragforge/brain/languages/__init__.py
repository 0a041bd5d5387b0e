"""Languages: what is known of each programming language, one file for each or for a family."""
