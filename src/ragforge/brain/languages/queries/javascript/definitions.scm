(class_body (field_definition property: (_) @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
  (generator_function body: (_) @body)
]) @definition.method)
(class_body (field_definition property: (_) @name) @definition.constant)
