; Written by tests/write_tree_sitter_grammar.py
(comment) @comment
(string) @string
[(number) (index)] @number
["HloModule" "FileNames" "FunctionNames" "FileLocations" "StackFrames"] @keyword
[(entry) (root)] @keyword
(module_name (module_name_token) @module)
(computation_name (word) @function)
(parameter (parameter_name) @variable.parameter)
(instruction (name (word) @variable))
(operands (parens (sign) . (word) @variable))
(opcode [(word) (glued_word)] @function.builtin)
(attribute_name (word) @property)
(shape . [(word) (glued_word)] @type)
(parens ((word) @type (#match? @type "^(bf16|c128|c64|f16|f32|f4e2m1fn|f64|f6e2m3fn|f6e3m2fn|f8e3m4|f8e4m3|f8e4m3b11fnuz|f8e4m3fn|f8e4m3fnuz|f8e5m2|f8e5m2fnuz|f8e8m0fnu|opaque|pred|s1|s16|s2|s32|s4|s64|s8|token|u1|u16|u2|u32|u4|u64|u8)$")))
(value [(word) (glued_word)] @constant.builtin (#match? @constant.builtin "^(true|false|inf|nan)$"))
(value (sign) . [(word) (glued_word)] @function)
[(arrow) (equals)] @operator
["{" "}" "[" "]" "(" ")" (layout_open)] @punctuation.bracket
[(comma) (colon)] @punctuation.delimiter
