-- Secrets in sources are redacted: the next ingestion reads every file again.
UPDATE file SET mtime = NULL, hash = 'to be read again';
