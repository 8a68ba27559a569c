"""Steering: push a local model towards a trait, find out how far, and answer with it.

Contrastive pairs train a steering vector for a layer, a search scores layers and strengths, and
`judgekit answer --steering-vector` answers with the vector. The rest of judgekit finds this package
by its entry points alone, so it can be left out. It imports any other package.

Start with `search`; `steered` calls the model, and `vector` is the file of a vector.
"""
