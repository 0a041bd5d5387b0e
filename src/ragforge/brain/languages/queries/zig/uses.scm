[(identifier) (field_expression)] @use
(call_expression function: [(identifier) (field_expression)] @call)
(struct_initializer . [(identifier) (field_expression)] @call)

(parameter name: (identifier) @local)
(variable_declaration . (identifier) @local)
(payload (identifier) @local)
(field_expression !object) @skip
(container_field name: (identifier) @skip)
(error_set_declaration (identifier) @skip)
(comment) @comment
