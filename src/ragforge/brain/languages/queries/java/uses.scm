[(identifier) (type_identifier) (field_access) (scoped_type_identifier)] @use
(method_invocation) @invocation
(method_reference) @use
(object_creation_expression type: [(type_identifier) (scoped_type_identifier)] @call)
(object_creation_expression
  type: (generic_type . [(type_identifier) (scoped_type_identifier)] @call))

(formal_parameter name: (identifier) @local)
(catch_formal_parameter name: (identifier) @local)
(enhanced_for_statement name: (identifier) @local)
(resource name: (identifier) @local)
(variable_declarator name: (identifier) @local)
(lambda_expression parameters: (identifier) @local)
(inferred_parameters (identifier) @local)
(type_pattern (identifier) @local)
(type_parameter . (type_identifier) @local)
(element_value_pair key: (identifier) @skip)
(labeled_statement . (identifier) @skip)
(package_declaration) @skip

[(superclass) (super_interfaces) (extends_interfaces)] @bases
[(marker_annotation) (annotation)] @decorator
[(line_comment) (block_comment)] @comment

[(formal_parameter) (variable_declarator) (resource) (enhanced_for_statement)] @typed
