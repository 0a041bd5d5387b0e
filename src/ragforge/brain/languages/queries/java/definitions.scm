[(class_declaration) (record_declaration)] @definition.class
[(interface_declaration) (annotation_type_declaration)] @definition.interface
(enum_declaration) @definition.enum
(enum_constant) @definition.variant
[(method_declaration) (constructor_declaration) (compact_constructor_declaration)
 (annotation_type_element_declaration)] @definition.method
(field_declaration declarator: (variable_declarator name: (_) @name)) @definition.constant
(constant_declaration declarator: (variable_declarator name: (_) @name)) @definition.constant
(import_declaration) @import
