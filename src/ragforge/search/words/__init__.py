"""Words: text in any language as the words that are indexed and searched for."""
