(formal_parameters (identifier) @local)
