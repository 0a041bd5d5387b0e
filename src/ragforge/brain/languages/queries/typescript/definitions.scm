(abstract_class_declaration) @definition.class
(interface_declaration) @definition.interface
(type_alias_declaration) @definition.type
(enum_declaration) @definition.enum
(enum_body name: (property_identifier) @name @definition.variant)
(enum_body (enum_assignment) @definition.variant)
[(internal_module) (module)] @definition.namespace
(function_signature) @definition.function
(class_body [(abstract_method_signature) (method_signature)] @definition.method)
(interface_body (method_signature) @definition.method)
(class_body (public_field_definition value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
  (generator_function body: (_) @body)
]) @definition.method)
(class_body (public_field_definition) @definition.constant)
(ambient_declaration (_) @inner) @wrap
(expression_statement (internal_module) @inner) @wrap
