"""JSON Schemas of the files that people write, for editors and for review."""
