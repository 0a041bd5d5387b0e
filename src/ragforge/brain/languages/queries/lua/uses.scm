[(identifier) (dot_index_expression) (method_index_expression)] @use
(function_call name: [(identifier) (dot_index_expression) (method_index_expression)] @call)

(parameters name: (identifier) @local)
(variable_declaration (variable_list name: (identifier) @local))
(variable_declaration (assignment_statement (variable_list name: (identifier) @local)))
(for_numeric_clause name: (identifier) @local)
(for_generic_clause (variable_list name: (identifier) @local))
(field name: (identifier) @skip)
(assignment_statement
  (variable_list . name: (_) @skip) (expression_list . value: (function_definition)))
(comment) @comment
