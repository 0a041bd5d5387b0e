[(variable) (constructor) (name) (qualified)] @use
(apply function: [(variable) (constructor) (qualified)] @call)

(patterns (variable) @local)
(patterns (parens pattern: (apply argument: (variable) @local)))
(patterns (parens pattern: (apply function: (apply argument: (variable) @local))))
(alternative pattern: (variable) @local)
(alternative pattern: (apply argument: (variable) @local))
(tuple element: (variable) @local)
(bind pattern: (variable) @local)
(local_binds decl: (bind name: (variable) @local))
(function parameter: (variable) @skip)
(function result: (variable) @skip)
; Without the anchors it takes quadratic time in a long chain of arguments.
(apply . constructor: (_) . argument: (variable) @skip)
(function (infix left_operand: (variable) @local))
(function (infix right_operand: (variable) @local))
(type_params) @skip
(header) @skip
(data_constructor constructor: (_ name: (constructor) @skip))
(newtype_constructor name: (constructor) @skip)
(field_name) @skip
(signature name: (_) @skip)

(instance name: (_) @bases)
(deriving classes: (_) @bases)
(declarations (signature) @lead)
(local_binds decl: (signature) @lead)
(declarations (signature) @signature)
[(comment) (haddock)] @comment
