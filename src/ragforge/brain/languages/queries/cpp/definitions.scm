(class_specifier body: (_)) @definition.class
(namespace_definition name: (_)) @definition.namespace
(alias_declaration) @definition.type
(concept_definition) @definition.type
(field_declaration declarator: (function_declarator declarator: [
  (identifier) (field_identifier) (qualified_identifier) (operator_name) (destructor_name)]))
  @definition.method
(field_declaration declarator: (pointer_declarator declarator: (function_declarator declarator: [
  (identifier) (field_identifier) (qualified_identifier) (operator_name) (destructor_name)])))
  @definition.method
(field_declaration declarator: (reference_declarator (function_declarator declarator: [
  (identifier) (field_identifier) (qualified_identifier) (operator_name) (destructor_name)])))
  @definition.method
(field_declaration declarator: (_) default_value: (_)) @definition.constant
(template_declaration (_) @inner) @wrap
[(using_declaration) (namespace_alias_definition)] @import
