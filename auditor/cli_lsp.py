"""The command ``bw-audit lsp``."""

from __future__ import annotations

import click


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
def lsp() -> None:
    """Serve an editor over standard input and output, by the language server protocol."""
    try:
        from auditor.lsp.server import serve
    except ImportError as error:
        if error.name and error.name.partition(".")[0] in ("pygls", "lsprotocol"):
            raise click.ClickException("the language server needs pygls: pip install 'bw-audit[lsp]'") from None
        raise
    serve()
