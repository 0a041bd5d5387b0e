(function name: (_) match: (_) @body) @definition.function
(function (infix operator: (_) @name) match: (_) @body) @definition.function
(declarations (bind name: (_) match: (_) @body) @definition.function)
(class_declarations (bind name: (_) match: (_) @body) @definition.function)
(instance_declarations (bind name: (_) match: (_) @body) @definition.function)
(class_declarations (signature name: (_)) @definition.function)
[(data_type) (newtype) (type_synonym) (type_family)] @definition.type
(class declarations: (_) @body) @definition.trait
(class) @definition.trait
(instance patterns: (type_patterns . [
    (name) @name
    (parens type: (name) @name)
    (parens type: (apply constructor: (name) @name))
    (parens type: (apply constructor: (apply constructor: (name) @name)))
  ]) declarations: (_) @body) @definition.impl
(instance patterns: (_) @name declarations: (_) @body) @definition.impl
(import) @import
