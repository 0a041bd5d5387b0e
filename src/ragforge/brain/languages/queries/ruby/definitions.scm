(module) @definition.module
(class) @definition.class
(assignment left: (constant) @name
  right: (call receiver: (constant) @maker block: (_) @body)
  (#any-of? @maker "Class" "Data" "Module" "Struct")) @definition.class
(module body: (body_statement [(method) (singleton_method)] @definition.method))
[(method) (singleton_method)] @definition.function
(assignment left: (constant) @name) @definition.constant
(call method: (identifier) @loader arguments: (argument_list . (string))
  (#any-of? @loader "require" "require_relative" "load")) @import
