[(identifier) (type_identifier) (field_expression) (stable_type_identifier)] @use
(call_expression function: [(identifier) (field_expression)] @call)
(generic_function function: [(identifier) (field_expression)] @call)
(instance_expression . [(type_identifier) (stable_type_identifier)] @call)
(instance_expression . (generic_type type: (_) @call))

(parameter name: (identifier) @local)
(class_parameter name: (identifier) @local)
(binding name: (identifier) @local)
(lambda_expression parameters: (identifier) @local)
(val_definition pattern: (identifier) @local)
(var_definition pattern: (identifier) @local)
(enumerator . (identifier) @local)
(capture_pattern name: (identifier) @local)
(typed_pattern . (identifier) @local)
(type_parameters name: (identifier) @local)
(interpolated_string_expression interpolator: (identifier) @skip)
(simple_enum_case name: (identifier) @skip)
(package_clause name: (_) @skip)

(extends_clause) @bases
(annotation) @decorator
[(comment) (block_comment)] @comment
