[(identifier) (member_access_expression) (qualified_name)] @use
(invocation_expression function: [(identifier) (member_access_expression)] @call)
(invocation_expression function: (generic_name . (identifier) @call))
(invocation_expression function: (conditional_access_expression
  (member_binding_expression name: (identifier) @call)))
(object_creation_expression type: [(identifier) (qualified_name)] @call)
(object_creation_expression type: (generic_name . (identifier) @call))

(parameter name: (identifier) @local)
(implicit_parameter) @local
(variable_declarator name: (identifier) @local)
(foreach_statement left: (identifier) @local)
(catch_declaration name: (identifier) @local)
(declaration_expression name: (identifier) @local)
(declaration_pattern name: (identifier) @local)
(type_parameter name: (identifier) @local)
(argument name: (identifier) @skip)
(enum_member_declaration name: (identifier) @skip)
(property_declaration name: (identifier) @skip)

(base_list) @bases
(attribute) @decorator
(comment) @comment

[(parameter) (variable_declarator) (property_declaration)] @typed
