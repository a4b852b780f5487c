"""One module per source of facts and questions; the only place that opens the network. Imports only `data`."""
