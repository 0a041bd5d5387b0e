(function_declaration name: (method_index_expression)) @definition.method
(function_declaration) @definition.function
(assignment_statement
  (variable_list . name: (_) @name)
  (expression_list . value: (function_definition body: (_) @body))) @definition.function
(field name: (identifier) @name value: (function_definition body: (_) @body)) @definition.function
(chunk (variable_declaration
  (assignment_statement (variable_list . name: (_) @name)) @definition.constant))
(chunk (assignment_statement (variable_list . name: (_) @name)) @definition.constant)
(variable_declaration (assignment_statement) @inner) @wrap
(assignment_statement
  (expression_list . value: (function_call name: (identifier) @require))
  (#eq? @require "require")) @import
(function_call name: (identifier) @require (#eq? @require "require")) @import
