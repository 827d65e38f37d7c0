"""Repairs of findings: edits that rules propose in the text of the audited file, and the audit that confirms them."""
