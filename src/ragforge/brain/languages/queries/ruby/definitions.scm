(module) @definition.module
(class) @definition.class
(assignment left: (constant) @name
  right: (call receiver: (constant) @maker block: (_) @body)
  (#any-of? @maker "Class" "Data" "Module" "Struct")) @definition.class
(assignment left: (constant) @name right: (call receiver: (constant) @maker)
  (#any-of? @maker "Data" "Struct")) @definition.class
(module body: (body_statement [(method) (singleton_method)] @definition.method))
[(method) (singleton_method)] @definition.function
(call method: (identifier) @kind arguments: (argument_list (simple_symbol) @name @definition.attribute)
  (#any-of? @kind "attr_reader" "attr_writer" "attr_accessor"))
(assignment left: (constant) right: (call receiver: (constant) @maker
    arguments: (argument_list (simple_symbol) @name @definition.attribute))
  (#any-of? @maker "Data" "Struct"))
(superclass (call receiver: (constant) @maker
    arguments: (argument_list (simple_symbol) @name @definition.attribute))
  (#any-of? @maker "Data" "Struct"))
(assignment left: (constant) @name) @definition.constant
(call method: (identifier) @loader arguments: (argument_list . (string))
  (#any-of? @loader "require" "require_relative" "load")) @import
