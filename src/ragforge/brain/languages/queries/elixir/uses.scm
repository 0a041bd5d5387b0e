[(identifier) (alias) (dot)] @use
(call target: [(identifier) (dot)] @call)

(call target: (identifier) @kind
  (arguments . (call (arguments [(identifier) @local (tuple (identifier) @local)])))
  (#any-of? @kind "def" "defp" "defdelegate" "defguard" "defguardp" "defmacro" "defmacrop"))
(call target: (identifier) @kind
  (arguments . (binary_operator
    left: (call (arguments [(identifier) @local (tuple (identifier) @local)]))))
  (#any-of? @kind "def" "defp" "defdelegate" "defguard" "defguardp" "defmacro" "defmacrop"))
(binary_operator left: (identifier) @local operator: ["=" "\\\\"])
(stab_clause left: (arguments (identifier) @local))
(call target: (identifier) @skip
  (#any-of? @skip
    "def" "defp" "defdelegate" "defguard" "defguardp" "defmacro" "defmacrop"
    "defmodule" "defprotocol" "defimpl" "alias" "import" "require" "use" "defstruct"))
(unary_operator operator: "@" operand: (call target: (identifier) @skip))
(unary_operator operator: "@" operand: (call target: (identifier) @kind
    (arguments . (binary_operator left: (call target: (identifier) @skip))))
  (#eq? @kind "spec"))

(call target: (identifier) @kind (arguments . (alias) @bases) (#eq? @kind "defimpl"))
(unary_operator operator: "@" operand: (call target: (identifier) @kind (arguments (string) @doc))
  (#any-of? @kind "doc" "moduledoc"))
(unary_operator operator: "@" operand: (call target: (identifier) @kind)
  (#any-of? @kind "doc" "spec" "impl" "deprecated" "typedoc" "since")) @lead
(comment) @comment
