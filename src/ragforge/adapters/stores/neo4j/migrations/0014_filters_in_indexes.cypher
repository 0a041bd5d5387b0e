// Indexes of words know the project, and of turns who may see them: a common word is in most turns of a
// server, and to read the project of each took longer than all other work of a search. Scopes are
// compared within the nearest files, so that an index of all their vectors was kept for nothing.
CREATE FULLTEXT INDEX ragforge_turn_text IF NOT EXISTS
FOR (n:Message) ON EACH [n.words, n.project_id, n.private_to]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};
CREATE FULLTEXT INDEX ragforge_scope_text IF NOT EXISTS
FOR (n:Scope)
ON EACH [n.words_name, n.words_path, n.words_signature, n.words_docstring, n.words_source, n.project_id]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};
CREATE FULLTEXT INDEX ragforge_section_text IF NOT EXISTS
FOR (n:MarkdownSection)
ON EACH [n.words_name, n.words_path, n.words_signature, n.words_docstring, n.words_source, n.project_id]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};
DROP INDEX ragforge_turn_words IF EXISTS;
DROP INDEX ragforge_scope_words IF EXISTS;
DROP INDEX ragforge_section_words IF EXISTS;
DROP INDEX ragforge_scope_vectors IF EXISTS;
