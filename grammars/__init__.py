"""The Lark grammars: the one definition of HLO text."""
