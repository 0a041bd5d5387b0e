[(identifier) (type_identifier) (qualified_type) (selector_expression)] @use
(call_expression function: [(identifier) (selector_expression)] @call)
(call_expression function: (type_instantiation_expression type: (_) @call))
(composite_literal type: [(type_identifier) (qualified_type)] @call)
(composite_literal type: (generic_type type: [(type_identifier) (qualified_type)] @call))

(parameter_declaration name: (identifier) @local)
(variadic_parameter_declaration name: (identifier) @local)
(type_parameter_declaration name: (identifier) @local)
(short_var_declaration left: (expression_list (identifier) @local))
(range_clause left: (expression_list (identifier) @local))
(type_switch_statement alias: (expression_list (identifier) @local))
(var_spec name: (identifier) @local)
(const_spec name: (identifier) @local)
(keyed_element key: (literal_element (identifier) @skip))
(package_clause) @skip
(label_name) @skip

(field_declaration !name type: (_) @bases)
(interface_type (type_elem . [(type_identifier) (qualified_type) (generic_type)] @bases .))
(comment) @comment

[(parameter_declaration) (var_spec) (short_var_declaration) (field_declaration name: (_))] @typed
