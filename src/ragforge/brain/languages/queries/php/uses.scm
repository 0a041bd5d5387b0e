[(name) (qualified_name) (member_access_expression) (nullsafe_member_access_expression)
 (class_constant_access_expression) (scoped_property_access_expression)] @use
(function_call_expression function: [(name) (qualified_name)] @call)
(object_creation_expression . [(name) (qualified_name)] @call)
[(member_call_expression) (nullsafe_member_call_expression) (scoped_call_expression)] @invocation

(variable_name) @skip
(argument name: (_) @skip)
(enum_case name: (_) @skip)
(declare_statement) @skip

[(base_clause) (class_interface_clause)] @bases
(use_declaration [(name) (qualified_name)] @bases)
(attribute) @decorator
(comment) @comment

[(simple_parameter) (property_promotion_parameter) (assignment_expression)
 (property_declaration)] @typed
