(call target: (identifier) @kind (arguments . (alias) @name) (do_block)
  (#eq? @kind "defmodule")) @definition.module
(call target: (identifier) @kind (arguments . (alias) @name) (do_block)
  (#eq? @kind "defprotocol")) @definition.interface
(call target: (identifier) @kind
  (arguments . (alias) (keywords . (pair value: (alias) @name))) (do_block)
  (#eq? @kind "defimpl")) @definition.impl
(call target: (identifier) @kind (arguments . [
  (identifier) @name
  (call target: (identifier) @name)
  (binary_operator left: (call target: (identifier) @name))
  (binary_operator left: (identifier) @name operator: "when")
]) (#any-of? @kind "def" "defp" "defdelegate" "defguard" "defguardp")) @definition.function
(call target: (identifier) @kind (arguments . [
  (identifier) @name
  (call target: (identifier) @name)
  (binary_operator left: (call target: (identifier) @name))
  (binary_operator left: (identifier) @name operator: "when")
]) (#any-of? @kind "defmacro" "defmacrop")) @definition.macro
(unary_operator operator: "@" operand: (call target: (identifier) @kind
    (arguments . (binary_operator left: [(identifier) @name (call target: (_) @name)])))
  (#any-of? @kind "type" "typep" "opaque")) @definition.type
(unary_operator operator: "@" operand: (call target: (identifier) @name (arguments))
  (#not-match? @name "^((module|type)?doc|spec|impl|deprecated|since|(macro)?callback)$"))
  @definition.constant
(call target: (identifier) @kind (arguments . [(alias) (dot)])
  (#any-of? @kind "alias" "import" "require" "use")) @import
