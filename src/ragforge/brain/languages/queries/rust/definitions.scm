[(function_item) (function_signature_item)] @definition.function
[(struct_item) (union_item)] @definition.struct
(enum_item) @definition.enum
(enum_variant) @definition.variant
(trait_item) @definition.trait
(impl_item type: (_) @name) @definition.impl
[(type_item) (associated_type)] @definition.type
(mod_item body: (_)) @definition.module
(macro_definition) @definition.macro
[(const_item) (static_item)] @definition.constant
[(use_declaration) (extern_crate_declaration) (mod_item !body)] @import
