[(namespace_declaration) (file_scoped_namespace_declaration)] @definition.namespace
[(class_declaration) (record_declaration)] @definition.class
(interface_declaration) @definition.interface
(struct_declaration) @definition.struct
(enum_declaration) @definition.enum
(enum_member_declaration) @definition.variant
(delegate_declaration) @definition.type
[(method_declaration) (constructor_declaration) (destructor_declaration)] @definition.method
(local_function_statement) @definition.function
(property_declaration accessors: (accessor_list (accessor_declaration body: (_))) @body)
  @definition.method
(property_declaration value: (arrow_expression_clause) @body) @definition.method
(field_declaration (variable_declaration (variable_declarator name: (_) @name)))
  @definition.constant
(using_directive) @import
