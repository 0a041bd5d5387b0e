[(identifier) (constant) (scope_resolution)] @use
(call) @invocation

(method_parameters (identifier) @local)
(lambda_parameters (identifier) @local)
(block_parameters (identifier) @local)
(destructured_parameter (identifier) @local)
(keyword_parameter name: (identifier) @local)
(optional_parameter name: (identifier) @local)
(splat_parameter name: (identifier) @local)
(hash_splat_parameter name: (identifier) @local)
(block_parameter name: (identifier) @local)
[(assignment left: (identifier) @local) (operator_assignment left: (identifier) @local)]
(left_assignment_list (identifier) @local)
(exception_variable (identifier) @local)
(for pattern: (identifier) @local)

(superclass (_) @bases)
(body_statement (call method: (identifier) @skip arguments: (argument_list) @bases
  (#any-of? @skip "include" "extend" "prepend")))
(comment) @comment

(assignment left: [(identifier) (instance_variable)]) @typed
