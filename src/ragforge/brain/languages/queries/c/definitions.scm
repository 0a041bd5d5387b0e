(function_definition) @definition.function
(type_definition type: (struct_specifier body: (_) @body) @same) @definition.struct
(type_definition type: (union_specifier body: (_) @body) @same) @definition.struct
(type_definition type: (enum_specifier body: (_) @body) @same) @definition.enum
(type_definition) @definition.type
[(struct_specifier body: (_)) (union_specifier body: (_))] @definition.struct
(enum_specifier body: (_)) @definition.enum
(preproc_function_def) @definition.macro
(preproc_def value: (_)) @definition.constant
(preproc_include) @import
