[(identifier) (type_identifier) (field_expression)] @use
[(scoped_identifier) (scoped_type_identifier)] @use
(call_expression function: [(identifier) (scoped_identifier) (field_expression)] @call)
(generic_function function: (_) @call)
(struct_expression name: [(type_identifier) (scoped_type_identifier)] @call)
(macro_invocation macro: (_) @call)
(token_tree (identifier) @call . (token_tree))

(parameter pattern: (identifier) @local)
(let_declaration pattern: (identifier) @local)
(for_expression pattern: (identifier) @local)
(closure_parameters (identifier) @local)
(tuple_pattern (identifier) @local)
(tuple_struct_pattern type: (_) (identifier) @local)
(field_pattern name: (shorthand_field_identifier) @local)
(captured_pattern . (identifier) @local)
(mut_pattern (identifier) @local)
(ref_pattern (identifier) @local)
(type_parameter name: (type_identifier) @local)
(const_parameter name: (identifier) @local)
(lifetime) @skip
(attribute_item) @skip
(inner_attribute_item) @skip

(trait_item bounds: (_) @bases)
(impl_item trait: (_) @bases)
(attribute_item) @decorator
(attribute_item) @lead
[(line_comment) (block_comment)] @comment

[(parameter) (let_declaration) (field_declaration)] @typed
