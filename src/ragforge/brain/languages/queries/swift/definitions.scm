(class_declaration declaration_kind: "struct") @definition.struct
(class_declaration declaration_kind: "enum") @definition.enum
(class_declaration declaration_kind: "extension") @definition.impl
(class_declaration) @definition.class
(enum_entry name: (simple_identifier) @name @definition.variant)
(protocol_declaration) @definition.interface
(typealias_declaration) @definition.type
[(function_declaration) (protocol_function_declaration)] @definition.function
(init_declaration "init" @name) @definition.method
(deinit_declaration "deinit" @name) @definition.method
(class_body (property_declaration
  name: (pattern bound_identifier: (_) @name) computed_value: (_) @body) @definition.method)
(class_body (property_declaration name: (pattern bound_identifier: (_) @name))
  @definition.constant)
(source_file (property_declaration name: (pattern bound_identifier: (_) @name))
  @definition.constant)
(import_declaration) @import
