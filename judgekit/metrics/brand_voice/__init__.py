"""Brand voice: how close an assistant is to its persona, how safe, and how stable."""
