(function_declaration) @definition.function
(method_declaration receiver: (parameter_list (parameter_declaration type: [
  (type_identifier) @owner
  (generic_type type: (type_identifier) @owner)
  (pointer_type (type_identifier) @owner)
  (pointer_type (generic_type type: (type_identifier) @owner))
]))) @definition.method
(method_declaration) @definition.method
(type_spec type: (struct_type (field_declaration_list) @body)) @definition.struct
(type_spec type: (interface_type) @body) @definition.interface
[(type_spec) (type_alias)] @definition.type
(interface_type (method_elem) @definition.method)
(source_file (const_declaration (const_spec name: (_) @name)) @definition.constant)
(source_file (var_declaration (var_spec name: (_) @name)) @definition.constant)
(source_file (var_declaration
  (var_spec_list (var_spec name: (_) @name) @definition.constant)))
(type_declaration . [(type_spec) (type_alias)] @inner .) @wrap
(import_spec) @import
