"""Jobs: work that is done once, whatever crashes."""
