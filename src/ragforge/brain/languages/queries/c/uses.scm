[(identifier) (type_identifier) (field_expression)] @use
(call_expression function: [(identifier) (field_expression)] @call)

(parameter_declaration declarator: (identifier) @local)
(declaration declarator: (identifier) @local)
(init_declarator declarator: (identifier) @local)
(pointer_declarator declarator: (identifier) @local)
(array_declarator declarator: (identifier) @local)
(preproc_params (identifier) @local)
(enumerator name: (identifier) @skip)
[(preproc_ifdef name: (_) @skip) (preproc_def name: (_) @skip)]
(type_definition type: [
  (struct_specifier name: (_) @skip) (union_specifier name: (_) @skip)
  (enum_specifier name: (_) @skip)])
(comment) @comment
