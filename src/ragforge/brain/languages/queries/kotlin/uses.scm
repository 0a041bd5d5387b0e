[(identifier) (navigation_expression)] @use
(call_expression . [(identifier) (navigation_expression)] @call)

(parameter . (identifier) @local)
(variable_declaration . (identifier) @local)
(catch_block . (identifier) @local)
(type_parameter (identifier) @local)
(class_parameter (identifier) @local)
(value_argument . (identifier) @skip . "=")
(package_header) @skip

(delegation_specifiers) @bases
(annotation) @decorator
[(line_comment) (block_comment)] @comment
