[(simple_identifier) (type_identifier) (navigation_expression)] @use
(call_expression . [(simple_identifier) (navigation_expression)] @call)

(parameter external_name: (simple_identifier) @skip)
(parameter name: (simple_identifier) @local)
(lambda_parameter name: (simple_identifier) @local)
(pattern bound_identifier: (simple_identifier) @local)
(if_statement bound_identifier: (simple_identifier) @local)
(guard_statement bound_identifier: (simple_identifier) @local)
(type_parameter . (type_identifier) @local)
(value_argument_label) @skip
(prefix_expression operation: "." target: (simple_identifier) @skip)

(inheritance_specifier) @bases
(attribute) @decorator
[(comment) (multiline_comment)] @comment
