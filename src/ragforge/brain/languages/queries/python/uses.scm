(identifier) @use
(attribute) @use
(call function: [(identifier) (attribute)] @call)

(parameters (identifier) @local)
(lambda_parameters (identifier) @local)
(default_parameter name: (identifier) @local)
(typed_parameter . (identifier) @local)
(typed_default_parameter name: (identifier) @local)
(list_splat_pattern (identifier) @local)
(dictionary_splat_pattern (identifier) @local)
(assignment left: (identifier) @local)
(pattern_list (identifier) @local)
(tuple_pattern (identifier) @local)
(for_statement left: (identifier) @local)
(for_in_clause left: (identifier) @local)
(as_pattern_target (identifier) @local)
(named_expression name: (identifier) @local)
(keyword_argument name: (identifier) @skip)

(class_definition superclasses: (argument_list) @bases)
(decorator) @decorator
(module . (comment)* . (expression_statement . (string) @doc))
(class_definition body: (block . (expression_statement . (string) @doc)))
(function_definition body: (block . (expression_statement . (string) @doc)))
(comment) @comment

[(typed_parameter) (typed_default_parameter) (assignment) (named_expression)] @typed
