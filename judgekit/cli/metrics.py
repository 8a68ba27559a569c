"""`judgekit metrics`: list and explain metrics."""

import typer

from judgekit.cli.options import check_place
from judgekit.cli.output import print_json

app = typer.Typer(help="List all metrics, or explain one.", rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def metrics(context: typer.Context, json: bool = False) -> None:
    """List all metrics, or explain one."""
    from judgekit.authoring.metric_cards import list_text, listed_metrics
    from judgekit.cli.screen import fitted

    check_place(context, json=json)
    if context.invoked_subcommand is not None:
        return
    if json:
        print_json("metrics", {"metrics": [one._asdict() for one in listed_metrics()]})
    else:
        typer.echo(fitted(list_text()), nl=False)


@app.command("show")
def show(name: str, json: bool = False) -> None:
    """Explain a metric.

    Print its formula, source, range, required fields and a computed example.
    """
    from judgekit.authoring.metric_cards import metric_data, metric_text
    from judgekit.cli.screen import columns

    if json:
        print_json("metric", metric_data(name))
    else:
        typer.echo(metric_text(name, width=columns()), nl=False)
