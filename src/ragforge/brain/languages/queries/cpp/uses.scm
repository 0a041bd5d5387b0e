(qualified_identifier) @use
(call_expression function: (qualified_identifier) @call)
(call_expression function: (template_function name: (identifier) @call))
(new_expression type: [(type_identifier) (qualified_identifier)] @call)
(new_expression type: (template_type name: (_) @call))

(optional_parameter_declaration declarator: (identifier) @local)
(reference_declarator (identifier) @local)
(for_range_loop declarator: (identifier) @local)
(type_parameter_declaration (type_identifier) @local)
(lambda_capture_specifier) @skip
(attribute_declaration) @skip
(attribute) @decorator
(base_class_clause) @bases
