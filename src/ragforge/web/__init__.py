"""Web: a page to look at memory and code, for the browser of one user."""
