[(function_declaration) (generator_function_declaration)] @definition.function
(class_declaration) @definition.class
(class_body (method_definition) @definition.method)
(variable_declarator name: (identifier) value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
  (generator_function body: (_) @body)
]) @definition.function
(variable_declarator name: (identifier) value: (class body: (_) @body)) @definition.class

(assignment_expression
  left: (member_expression
    object: (member_expression object: (_) @owner property: (_) @prototype)
    property: (_) @name)
  right: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
  ]
  (#eq? @prototype "prototype")) @definition.method
(assignment_expression
  left: (member_expression object: (_) @exports property: (_) @name)
  right: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
  ]
  (#any-of? @exports "exports" "module.exports")) @definition.function
(assignment_expression
  left: (member_expression object: (identifier) @owner property: (_) @name)
  right: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
  ]) @definition.function
(assignment_expression
  left: (member_expression) @exports
  right: (object [
    (method_definition) @definition.function
    (pair key: (_) @name value: [
      (arrow_function body: (_) @body)
      (function_expression body: (_) @body)
      (generator_function body: (_) @body)
    ]) @definition.function
  ])
  (#eq? @exports "module.exports"))

(export_statement "default" @name
  value: [(function_expression) (generator_function) (arrow_function)] @definition.function)
(export_statement "default" @name value: (class) @definition.class)
(export_statement "default" @name value: (object)) @definition.constant

(program [(lexical_declaration (variable_declarator name: (identifier)) @definition.constant)
          (variable_declaration (variable_declarator name: (identifier)) @definition.constant)])
(program (export_statement declaration:
  (lexical_declaration (variable_declarator name: (identifier)) @definition.constant)))

(export_statement declaration: (_) @inner) @wrap
(export_statement value: (_) @inner) @wrap
(lexical_declaration . (variable_declarator) @inner .) @wrap
(variable_declaration . (variable_declarator) @inner .) @wrap
(expression_statement (assignment_expression) @inner) @wrap

(import_statement) @import
(export_statement source: (_)) @import
(variable_declarator
  value: [
    (call_expression function: (identifier) @require arguments: (arguments . (string)))
    (member_expression object:
      (call_expression function: (identifier) @require arguments: (arguments . (string))))
  ]
  (#eq? @require "require")) @import
(call_expression function: (identifier) @require arguments: (arguments . (string))
  (#eq? @require "require")) @import
(call_expression function: (import) arguments: (arguments . (string))) @import
