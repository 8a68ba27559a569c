"""How values look where they are shown by themselves: in a notebook, and at a prompt.

A value says what there is to see as a few lines and grids (`parts`); they become HTML in one
place (`html`) and plain text in another (`text`). What cases and judges say is a stranger's in
both.
"""
