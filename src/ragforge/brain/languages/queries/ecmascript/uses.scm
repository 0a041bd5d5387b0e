[(identifier) (shorthand_property_identifier) (member_expression)] @use
(call_expression function: [(identifier) (member_expression)] @call)
(call_expression function: (await_expression [(identifier) (member_expression)] @call))
(new_expression constructor: [(identifier) (member_expression)] @call)

(variable_declarator name: (identifier) @local)
(arrow_function parameter: (identifier) @local)
(array_pattern (identifier) @local)
(rest_pattern (identifier) @local)
(assignment_pattern left: (identifier) @local)
(pair_pattern value: (identifier) @local)
(shorthand_property_identifier_pattern) @local
(catch_clause parameter: (identifier) @local)
(for_in_statement left: (identifier) @local)
(function_expression name: (identifier) @local)
(statement_identifier) @skip
(assignment_expression left: (member_expression) @skip
  right: [(arrow_function) (function_expression) (generator_function)])

(class_heritage) @bases
(decorator) @decorator
(comment) @comment

[(variable_declarator) (assignment_expression)] @typed
