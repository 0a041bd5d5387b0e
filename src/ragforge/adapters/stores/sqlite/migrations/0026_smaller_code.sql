-- Code takes a third of the space. The texts of scopes are compressed once for each file, in which each
-- scope has its places. Relations are between numbers of scopes and files, not between their ids, so
-- files get a number that lasts; libraries have a table.
CREATE TABLE file_text (
  file_id TEXT PRIMARY KEY REFERENCES file (uuid) ON DELETE CASCADE ON UPDATE CASCADE,
  data    BLOB NOT NULL
) STRICT;
INSERT INTO file_text
SELECT o.file_id, pack_text(group_concat(t.source || coalesce(t.search_text, ''), '' ORDER BY o.id))
FROM scope o JOIN scope_text t ON t.id = o.id GROUP BY o.file_id;

ALTER TABLE scope ADD COLUMN source_from INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scope ADD COLUMN source_to INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scope ADD COLUMN search_from INTEGER;
ALTER TABLE scope ADD COLUMN search_to INTEGER;
UPDATE scope SET source_from = p.start, source_to = p.start + p.source,
  search_from = iif(p.search IS NULL, NULL, p.start + p.source),
  search_to = p.start + p.source + p.search
FROM (
  SELECT o.id AS id, length(t.source) AS source, length(t.search_text) AS search,
    coalesce(sum(length(t.source) + coalesce(length(t.search_text), 0)) OVER (
      PARTITION BY o.file_id ORDER BY o.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)
      AS start
  FROM scope o JOIN scope_text t ON t.id = o.id
) p WHERE p.id = scope.id;
DROP TABLE scope_text;

CREATE TABLE file_new (
  id         INTEGER PRIMARY KEY,
  uuid       TEXT NOT NULL UNIQUE,
  project_id TEXT NOT NULL REFERENCES project (uuid) ON DELETE CASCADE,
  path       TEXT NOT NULL,
  name       TEXT NOT NULL,
  hash       TEXT NOT NULL,
  kind       TEXT NOT NULL,
  language   TEXT,
  size       INTEGER NOT NULL,
  mtime      TEXT,
  state      TEXT NOT NULL,
  imports    TEXT NOT NULL DEFAULT '[]',
  UNIQUE (project_id, path)
) STRICT;
INSERT INTO file_new
  (uuid, project_id, path, name, hash, kind, language, size, mtime, state, imports)
SELECT uuid, project_id, path, name, hash, kind, language, size, mtime, state, imports FROM file;

CREATE TABLE library (
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO library (name)
SELECT DISTINCT target FROM relation WHERE kind = 'USES_LIBRARY' ORDER BY target;

CREATE TABLE relation_new (
  source INTEGER NOT NULL,
  kind   INTEGER NOT NULL,
  target INTEGER NOT NULL,
  PRIMARY KEY (source, kind, target)
) STRICT, WITHOUT ROWID;
INSERT INTO relation_new
SELECT s.id, CASE r.kind WHEN 'HAS_PARENT' THEN 1 WHEN 'CONSUMES' THEN 2 ELSE 3 END, t.id
FROM relation r JOIN scope s ON s.uuid = r.source JOIN scope t ON t.uuid = r.target
WHERE r.kind IN ('HAS_PARENT', 'CONSUMES', 'INHERITS_FROM');
INSERT INTO relation_new
SELECT f.id, 4, t.id
FROM relation r JOIN file_new f ON f.uuid = r.source JOIN file_new t ON t.uuid = r.target
WHERE r.kind = 'IMPORTS';
INSERT INTO relation_new
SELECT f.id, 5, l.id
FROM relation r JOIN file_new f ON f.uuid = r.source JOIN library l ON l.name = r.target
WHERE r.kind = 'USES_LIBRARY';

-- Foreign keys are not looked at meanwhile: to drop a table would drop what refers to it.
DROP TRIGGER scope_gone;
DROP TRIGGER file_gone;
DROP TABLE relation;
DROP TABLE file;
ALTER TABLE relation_new RENAME TO relation;
ALTER TABLE file_new RENAME TO file;
CREATE INDEX relation_by_target ON relation (target, kind);
CREATE TRIGGER scope_gone AFTER DELETE ON scope BEGIN
  DELETE FROM scope_words WHERE rowid = old.id AND old.type <> 'section';
  DELETE FROM section_words WHERE rowid = old.id AND old.type = 'section';
  DELETE FROM vector WHERE kind = 'scope' AND owner = old.id;
  DELETE FROM relation WHERE source = old.id AND kind < 4;
  DELETE FROM relation WHERE target = old.id AND kind < 4;
END;
CREATE TRIGGER file_gone AFTER DELETE ON file BEGIN
  DELETE FROM relation WHERE source = old.id AND kind >= 4;
  DELETE FROM relation WHERE target = old.id AND kind = 4;
END;
CREATE TRIGGER project_gone AFTER DELETE ON project BEGIN
  DELETE FROM library
  WHERE NOT EXISTS (SELECT 1 FROM relation WHERE target = library.id AND kind = 5);
END;
