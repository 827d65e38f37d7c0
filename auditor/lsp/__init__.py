"""The language server: findings in an editor, from the text as it is typed. Needs the optional package pygls."""
