"""The platform's helper CLI: tools, the embedded cluster, renders, schemas and secrets."""
