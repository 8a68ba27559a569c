"""`judgekit metrics`: list and explain metrics."""

import typer

app = typer.Typer(help="List all metrics, or explain one.", rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def metrics(context: typer.Context) -> None:
    """List all metrics, or explain one."""
    if context.invoked_subcommand is None:
        from judgekit.authoring.metric_cards import list_text
        from judgekit.cli.screen import fitted

        typer.echo(fitted(list_text()), nl=False)


@app.command("show")
def show(name: str) -> None:
    """Explain a metric.

    Print its formula, source, range, required fields and a computed example.
    """
    from judgekit.authoring.metric_cards import metric_text
    from judgekit.cli.screen import columns

    typer.echo(metric_text(name, width=columns()), nl=False)
