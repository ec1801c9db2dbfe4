"""The prose desk: which of very many texts are hers, by as few comparisons as possible, with claims that hold up."""
