[(type_identifier) (nested_type_identifier)] @use
(call_expression function: (non_null_expression [(identifier) (member_expression)] @call))
(required_parameter pattern: (identifier) @local)
(optional_parameter pattern: (identifier) @local)
(type_parameter name: (type_identifier) @local)
(extends_type_clause) @bases
(class_body (decorator) @lead)

[(required_parameter) (optional_parameter) (public_field_definition)] @typed
