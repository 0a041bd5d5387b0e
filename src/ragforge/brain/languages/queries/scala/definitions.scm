(class_definition) @definition.class
(trait_definition) @definition.trait
[(object_definition) (package_object)] @definition.object
(enum_definition) @definition.enum
(type_definition) @definition.type
[(function_definition) (function_declaration)] @definition.function
(given_definition name: (_)) @definition.object
(template_body [
  (val_definition pattern: (identifier) @name)
  (var_definition pattern: (identifier) @name)
] @definition.constant)
(compilation_unit (val_definition pattern: (identifier) @name) @definition.constant)
(import_declaration) @import
