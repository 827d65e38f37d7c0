"""Writers of results: text, concise, JSON, SARIF and GitHub annotations. Each format is a module of its own."""
