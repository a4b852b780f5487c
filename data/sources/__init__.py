"""Sources of facts and questions, each a module or a folder; no other part of `data` opens the network."""
