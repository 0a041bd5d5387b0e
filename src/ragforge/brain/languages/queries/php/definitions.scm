(namespace_definition name: (_)) @definition.namespace
(class_declaration) @definition.class
(interface_declaration) @definition.interface
(trait_declaration) @definition.trait
(enum_declaration) @definition.enum
(enum_case) @definition.variant
(function_definition) @definition.function
(method_declaration) @definition.method
(const_declaration (const_element . (name) @name)) @definition.constant
(namespace_use_declaration) @import
[(require_expression) (require_once_expression) (include_expression) (include_once_expression)]
  @import
