(class_declaration "interface") @definition.interface
(class_declaration (enum_class_body) @body) @definition.enum
(class_declaration) @definition.class
(enum_entry . (identifier) @name) @definition.variant
(object_declaration) @definition.object
(function_declaration (user_type) @owner . "." . name: (_)) @definition.function
(function_declaration) @definition.function
(secondary_constructor "constructor" @name) @definition.method
(type_alias type: (identifier) @name) @definition.type
(source_file (property_declaration (variable_declaration . (identifier) @name))
  @definition.constant)
(class_body (property_declaration (variable_declaration . (identifier) @name))
  @definition.constant)
(import) @import
