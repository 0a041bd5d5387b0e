(function_definition) @definition.function
(class_definition) @definition.class
(decorated_definition definition: (_) @inner) @wrap
(module (expression_statement . (assignment left: (identifier) @name)) @definition.constant)
(class_definition
  body: (block (expression_statement . (assignment left: (identifier) @name)) @definition.constant))
(type_alias_statement left: (type [(identifier) @name (generic_type . (identifier) @name)]))
  @definition.type
[(import_statement) (import_from_statement) (future_import_statement)] @import
