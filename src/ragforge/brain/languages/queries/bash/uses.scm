(command name: (command_name (word) @call (#match? @call "^[A-Za-z_][A-Za-z0-9_-]*$")))
(simple_expansion (variable_name) @use)
(expansion (variable_name) @use)
(declaration_command "local" (variable_assignment name: (variable_name) @local))
(declaration_command "local" (variable_name) @local)
(for_statement variable: (variable_name) @local)
(comment) @comment
