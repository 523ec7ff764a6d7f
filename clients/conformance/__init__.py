"""One set of scenarios that every client library runs, seen from the server's side. README.md tells how it works."""
