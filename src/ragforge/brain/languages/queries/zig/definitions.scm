(function_declaration) @definition.function
(test_declaration (string) @name (block) @body) @definition.function
(variable_declaration . (identifier) @name (struct_declaration) @body) @definition.struct
(variable_declaration . (identifier) @name (union_declaration) @body) @definition.struct
(variable_declaration . (identifier) @name (enum_declaration) @body) @definition.enum
(variable_declaration . (identifier) @name (error_set_declaration) @body) @definition.type
(source_file (variable_declaration . (identifier) @name) @definition.constant)
(struct_declaration (variable_declaration . (identifier) @name) @definition.constant)
(variable_declaration . (identifier) (builtin_function (builtin_identifier) @builtin)
  (#eq? @builtin "@import")) @import
(builtin_function (builtin_identifier) @builtin (#eq? @builtin "@import")) @import
