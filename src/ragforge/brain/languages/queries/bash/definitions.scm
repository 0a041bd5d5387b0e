(function_definition) @definition.function
(program (variable_assignment name: (variable_name)) @definition.constant)
(program (declaration_command (variable_assignment name: (variable_name) @name))
  @definition.constant)
(command name: (command_name (word) @source) (#any-of? @source "source" ".")) @import
