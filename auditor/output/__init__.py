"""Writers of results: text, concise, JSON, SARIF, JUnit and GitHub annotations. Each format is a module of its own."""
