// Ids
CREATE CONSTRAINT ragforge_conversation IF NOT EXISTS
FOR (n:Conversation) REQUIRE n.uuid IS UNIQUE;
CREATE CONSTRAINT ragforge_message IF NOT EXISTS
FOR (n:Message) REQUIRE n.uuid IS UNIQUE;
CREATE CONSTRAINT ragforge_tool_call IF NOT EXISTS
FOR (n:ToolCall) REQUIRE n.uuid IS UNIQUE;
CREATE CONSTRAINT ragforge_tool_result IF NOT EXISTS
FOR (n:ToolResult) REQUIRE n.uuid IS UNIQUE;
CREATE CONSTRAINT ragforge_summary IF NOT EXISTS
FOR (n:Summary) REQUIRE n.uuid IS UNIQUE;
CREATE CONSTRAINT ragforge_project IF NOT EXISTS
FOR (n:Project) REQUIRE n.uuid IS UNIQUE;
CREATE CONSTRAINT ragforge_project_path IF NOT EXISTS
FOR (n:Project) REQUIRE n.path IS UNIQUE;
CREATE CONSTRAINT ragforge_directory IF NOT EXISTS
FOR (n:Directory) REQUIRE n.uuid IS UNIQUE;
CREATE CONSTRAINT ragforge_file IF NOT EXISTS
FOR (n:File) REQUIRE n.uuid IS UNIQUE;
CREATE CONSTRAINT ragforge_file_path IF NOT EXISTS
FOR (n:File) REQUIRE (n.project_id, n.path) IS UNIQUE;
CREATE CONSTRAINT ragforge_web_page IF NOT EXISTS
FOR (n:WebPage) REQUIRE n.uuid IS UNIQUE;
CREATE CONSTRAINT ragforge_web_page_path IF NOT EXISTS
FOR (n:WebPage) REQUIRE (n.project_id, n.path) IS UNIQUE;
CREATE CONSTRAINT ragforge_document_file IF NOT EXISTS
FOR (n:DocumentFile) REQUIRE n.uuid IS UNIQUE;
CREATE CONSTRAINT ragforge_scope IF NOT EXISTS
FOR (n:Scope) REQUIRE n.uuid IS UNIQUE;
CREATE CONSTRAINT ragforge_section IF NOT EXISTS
FOR (n:MarkdownSection) REQUIRE n.uuid IS UNIQUE;
CREATE CONSTRAINT ragforge_library IF NOT EXISTS
FOR (n:ExternalLibrary) REQUIRE n.name IS UNIQUE;
CREATE CONSTRAINT ragforge_reference IF NOT EXISTS
FOR (n:CodeReference) REQUIRE (n.owner_id, n.scope_id) IS UNIQUE;
CREATE CONSTRAINT ragforge_mention IF NOT EXISTS
FOR (n:CodeMention) REQUIRE (n.owner_id, n.kind, n.target_id) IS UNIQUE;
CREATE CONSTRAINT ragforge_model IF NOT EXISTS
FOR (n:EmbeddingModel) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT ragforge_job IF NOT EXISTS
FOR (n:RagForgeJob) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT ragforge_queue IF NOT EXISTS
FOR (n:RagForgeQueue) REQUIRE n.name IS UNIQUE;
CREATE CONSTRAINT ragforge_lock IF NOT EXISTS
FOR (n:RagForgeLock) REQUIRE n.name IS UNIQUE;
CREATE CONSTRAINT ragforge_bookmark IF NOT EXISTS
FOR (n:RagForgeBookmark) REQUIRE n.name IS UNIQUE;

// What queries filter and order by
CREATE INDEX ragforge_conversation_cwd IF NOT EXISTS
FOR (n:Conversation) ON (n.cwd);
CREATE INDEX ragforge_conversation_project IF NOT EXISTS
FOR (n:Conversation) ON (n.project_path);
CREATE INDEX ragforge_conversation_updated IF NOT EXISTS
FOR (n:Conversation) ON (n.updated_ms);
CREATE INDEX ragforge_conversation_model IF NOT EXISTS
FOR (n:Conversation) ON (n.summary_embedding_key);
CREATE INDEX ragforge_message_conversation IF NOT EXISTS
FOR (n:Message) ON (n.conversation_id);
CREATE INDEX ragforge_message_position IF NOT EXISTS
FOR (n:Message) ON (n.conversation_id, n.position);
CREATE INDEX ragforge_message_turn IF NOT EXISTS
FOR (n:Message) ON (n.conversation_id, n.turn_index);
CREATE INDEX ragforge_message_time IF NOT EXISTS
FOR (n:Message) ON (n.role, n.timestamp_ms);
CREATE INDEX ragforge_message_project IF NOT EXISTS
FOR (n:Message) ON (n.project_path);
CREATE INDEX ragforge_message_model IF NOT EXISTS
FOR (n:Message) ON (n.embedding_key);
CREATE INDEX ragforge_summary_conversation IF NOT EXISTS
FOR (n:Summary) ON (n.conversation_id);
CREATE INDEX ragforge_summary_project IF NOT EXISTS
FOR (n:Summary) ON (n.project_path);
CREATE INDEX ragforge_summary_created IF NOT EXISTS
FOR (n:Summary) ON (n.created_ms);
CREATE INDEX ragforge_summary_model IF NOT EXISTS
FOR (n:Summary) ON (n.embedding_key);
CREATE INDEX ragforge_directory_project IF NOT EXISTS
FOR (n:Directory) ON (n.project_id);
CREATE INDEX ragforge_file_project IF NOT EXISTS
FOR (n:File) ON (n.project_id);
CREATE INDEX ragforge_web_page_project IF NOT EXISTS
FOR (n:WebPage) ON (n.project_id);
CREATE INDEX ragforge_scope_project IF NOT EXISTS
FOR (n:Scope) ON (n.project_id);
CREATE INDEX ragforge_scope_path IF NOT EXISTS
FOR (n:Scope) ON (n.project_id, n.file_path);
CREATE INDEX ragforge_scope_name IF NOT EXISTS
FOR (n:Scope) ON (n.project_id, n.name_key);
CREATE INDEX ragforge_scope_qualified_name IF NOT EXISTS
FOR (n:Scope) ON (n.project_id, n.qualified_name_key);
CREATE INDEX ragforge_scope_model IF NOT EXISTS
FOR (n:Scope) ON (n.embedding_key);
CREATE INDEX ragforge_section_project IF NOT EXISTS
FOR (n:MarkdownSection) ON (n.project_id);
CREATE INDEX ragforge_section_path IF NOT EXISTS
FOR (n:MarkdownSection) ON (n.project_id, n.file_path);
CREATE INDEX ragforge_section_name IF NOT EXISTS
FOR (n:MarkdownSection) ON (n.project_id, n.name_key);
CREATE INDEX ragforge_section_qualified_name IF NOT EXISTS
FOR (n:MarkdownSection) ON (n.project_id, n.qualified_name_key);
CREATE INDEX ragforge_section_model IF NOT EXISTS
FOR (n:MarkdownSection) ON (n.embedding_key);
CREATE INDEX ragforge_reference_owner IF NOT EXISTS
FOR (n:CodeReference) ON (n.owner_id);
CREATE INDEX ragforge_reference_scope IF NOT EXISTS
FOR (n:CodeReference) ON (n.scope_id);
CREATE INDEX ragforge_reference_file IF NOT EXISTS
FOR (n:CodeReference) ON (n.file_key);
CREATE INDEX ragforge_mention_owner IF NOT EXISTS
FOR (n:CodeMention) ON (n.owner_id);
CREATE INDEX ragforge_mention_target IF NOT EXISTS
FOR (n:CodeMention) ON (n.target_id);
CREATE INDEX ragforge_job_due IF NOT EXISTS
FOR (n:RagForgeJob) ON (n.status, n.run_after_ms);
CREATE INDEX ragforge_job_status IF NOT EXISTS
FOR (n:RagForgeJob) ON (n.status);
CREATE INDEX ragforge_job_sequence IF NOT EXISTS
FOR (n:RagForgeJob) ON (n.sequence);

// Words: RagForge's tokeniser made them, so that Lucene only has to split at spaces
CREATE FULLTEXT INDEX ragforge_turn_words IF NOT EXISTS
FOR (n:Message) ON EACH [n.words]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};
CREATE FULLTEXT INDEX ragforge_summary_words IF NOT EXISTS
FOR (n:Summary) ON EACH [n.words]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};
CREATE FULLTEXT INDEX ragforge_scope_words IF NOT EXISTS
FOR (n:Scope)
ON EACH [n.words_name, n.words_path, n.words_signature, n.words_docstring, n.words_source]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};
CREATE FULLTEXT INDEX ragforge_section_words IF NOT EXISTS
FOR (n:MarkdownSection)
ON EACH [n.words_name, n.words_path, n.words_signature, n.words_docstring, n.words_source]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};

// Vectors: without dimensions, so that those of several models live side by side
CREATE VECTOR INDEX ragforge_turn_vectors IF NOT EXISTS
FOR (n:Message) ON (n.embedding)
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};
CREATE VECTOR INDEX ragforge_summary_vectors IF NOT EXISTS
FOR (n:Summary) ON (n.embedding)
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};
CREATE VECTOR INDEX ragforge_conversation_vectors IF NOT EXISTS
FOR (n:Conversation) ON (n.summary_embedding)
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};
CREATE VECTOR INDEX ragforge_scope_vectors IF NOT EXISTS
FOR (n:Scope) ON (n.embedding)
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};
CREATE VECTOR INDEX ragforge_section_vectors IF NOT EXISTS
FOR (n:MarkdownSection) ON (n.embedding)
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};
