"""Signatures as in a stub, and the types that they name."""

from __future__ import annotations

import ast
import enum
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from typing import Any, ForwardRef, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel

from docs.generate.fields import class_tree

WIDTH = 88
WITHOUT_CONSTRUCTOR = frozenset(
    {
        "Pace",
        "PatternSet",
        "PendingRun",
        "Persona",
        "Report",
        "Rubric",
        "RunLabels",
        "Store",
        "Suite",
        "Variant",
    }
)
"""Classes whose objects come from a function; their constructors are not public."""


class Signatures:
    """Renders signatures.

    Attributes:
        named: name and object of the types of judgekit that the rendered signatures name. An alias
            of `Literal` is none of them: signatures have its words instead.
    """

    def __init__(self) -> None:
        self.named: list[tuple[str, Any]] = []

    def of(self, name: str, made: Any) -> str:
        """Return the signature of a function or a class."""
        if inspect.isfunction(made):
            word = "async def" if inspect.iscoroutinefunction(made) else "def"
            return self._def(f"{word} {name}", made)
        base = made.__base__.__name__ if issubclass(made, (BaseException, enum.Enum)) else ""
        head = f"class {name}({base}):" if base else f"class {name}:"
        if issubclass(made, enum.Enum):
            return "\n".join([head, *(f'    {one.name} = "{one.value}"' for one in made)])
        if name in WITHOUT_CONSTRUCTOR:
            return f"{head} ..."
        if issubclass(made, BaseModel):
            return "\n".join([head, *(self._field(made, field) for field in made.model_fields)])
        if issubclass(made, tuple):
            fields = inspect.signature(made).parameters.values()
            return "\n".join([head, *(f"    {self._parameter(p, made)}" for p in fields)])
        own_init = "__init__" in vars(made) and not getattr(made, "_is_protocol", False)
        if not own_init:
            return f"{head} ..."
        return f"{head}\n{textwrap.indent(self._def('def __init__', made.__init__), '    ')}"

    def alias(self, name: str, home: str) -> tuple[str, str]:
        """Return the definition of an alias in a module, and the text below it."""
        body = ast.parse(inspect.getsource(importlib.import_module(home))).body
        place, value = next(
            (place, node.value)
            for place, node in enumerate(body)
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name
        )
        after = body[place + 1] if place + 1 < len(body) else None
        text = after.value if isinstance(after, ast.Expr) else None
        said = text.value if isinstance(text, ast.Constant) else ""
        return f"{name} = {self.type(ast.unparse(value), home)}", " ".join(str(said).split())

    def member(self, home: str, name: str, member: Any) -> str:
        """Return an item of a list with a method or a property."""
        function = function_of(member)
        first = " ".join((inspect.getdoc(function) or "").split("\n\n", maxsplit=1)[0].split())
        signature = inspect.signature(function)
        if isinstance(member, property):
            self.type(signature.return_annotation, function.__module__)
            return f"- `.{name}`: {first}\n"
        own = [one for one in signature.parameters.values() if one.name not in ("self", "cls")]
        shown = ", ".join(self._parameters(signature.replace(parameters=own), function.__module__))
        before = home if isinstance(member, classmethod) else ""
        wait = "await " if inspect.iscoroutinefunction(function) else ""
        returned = signature.return_annotation
        nothing = returned in (signature.empty, None, "None")
        arrow = "" if nothing else f" -> {self.type(returned, function.__module__)}"
        return f"- `{wait}{before}.{name}({shown}){arrow}`: {first}\n"

    def type(self, kind: Any, module: str) -> str:
        """Return an annotation of a module as text, and keep the types that it names."""
        if isinstance(kind, ForwardRef):
            kind = kind.__forward_arg__
        if isinstance(kind, str):
            tree = _Resolved(module, self.named).visit(ast.parse(kind, mode="eval"))
            text = ast.unparse(tree)
        else:
            self._keep(kind, module)
            text = kind.__name__ if isinstance(kind, type) else str(kind)
        text = text.replace("'", '"')  # as ruff formats it
        return re.sub(
            r"\b(?:judgekit|typing|collections\.abc|pathlib)(?:\.\w+)*\.(?=[A-Z])", "", text
        )

    def _keep(self, kind: Any, module: str) -> None:
        """Keep the types of an annotation that is not a text."""
        if isinstance(kind, ForwardRef | str):
            self.type(kind, module)
        elif isinstance(kind, type) and kind.__module__.startswith("judgekit"):
            self.named.append((kind.__name__, kind))
        elif get_origin(kind) is not Literal:
            for inner in get_args(kind):
                for one in inner if isinstance(inner, list) else [inner]:
                    self._keep(one, module)

    def _field(self, made: type[BaseModel], name: str) -> str:
        default = "" if made.model_fields[name].is_required() else " = ..."
        home, annotation = _annotation(made, name)
        return f"    {name}: {self.type(annotation, home.__module__)}{default}"

    def _def(self, head: str, function: Any) -> str:
        """Return a signature, on one line if it is short."""
        signature = inspect.signature(function)
        listed = list(self._parameters(signature, function.__module__))
        returned = signature.return_annotation
        arrow = ""
        if returned is not signature.empty:
            arrow = f" -> {self.type(returned, function.__module__)}"
        line = f"{head}({', '.join(listed)}){arrow}: ..."
        if len(line) <= WIDTH:
            return line
        return f"{head}(\n{''.join(f'    {one},{chr(10)}' for one in listed)}){arrow}: ..."

    def _parameters(self, signature: inspect.Signature, module: str) -> Iterator[str]:
        before = None
        for parameter in signature.parameters.values():
            if before is parameter.POSITIONAL_ONLY and parameter.kind is not before:
                yield "/"
            if parameter.kind is parameter.KEYWORD_ONLY and before is not parameter.kind:
                yield "*"
            before = parameter.kind
            text = "**" * (before is parameter.VAR_KEYWORD) + parameter.name
            if parameter.annotation is not parameter.empty:
                text += f": {self.type(parameter.annotation, module)}"
            if parameter.default is not parameter.empty:
                text += f" = {_literal(parameter.default)}"
            yield text
        if before is inspect.Parameter.POSITIONAL_ONLY:
            yield "/"

    def _parameter(self, field: inspect.Parameter, made: type) -> str:
        """Return a field of a named tuple."""
        default = "" if field.default is field.empty else f" = {_literal(field.default)}"
        return f"{field.name}: {self.type(field.annotation, made.__module__)}{default}"


class _Resolved(ast.NodeTransformer):
    """Keeps the types of judgekit in an annotation, and replaces an alias of words by the words."""

    def __init__(self, module: str, named: list[tuple[str, Any]]) -> None:
        self._module, self._named = module, named

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = resolved(self._module, node.id)
        if get_origin(value) is Literal:
            words = ", ".join(map(repr, get_args(value)))
            return ast.parse(f"Literal[{words}]", mode="eval").body
        if value is not None and not isinstance(value, TypeVar):
            self._named.append((node.id, value))
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if not isinstance(node.value, str):
            return node
        inner: ast.expr = self.visit(ast.parse(node.value, mode="eval").body)
        return inner

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        generic = ast.unparse(node.value)
        if generic == "Literal":  # its texts are words, not annotations
            return node
        if generic in ("Annotated", "SerializeAsAny"):  # for pydantic; not for a reader
            inner = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
            plain: ast.expr = self.visit(inner)
            return plain
        self.generic_visit(node)
        return node


def resolved(module: str, name: str) -> Any:
    """Return what a name of judgekit in an annotation of a module means; `None` for others."""
    home = _homes(module).get(name)
    return None if home is None else getattr(importlib.import_module(home), name)


@cache
def _homes(module: str) -> dict[str, str]:
    """Return the modules of the names that a module defines or imports, also for type checkers."""
    source = inspect.getsource(importlib.import_module(module)) if module else ""
    tree = ast.parse(source)
    homes = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("judgekit")
        for alias in node.names
        if node.module is not None
    }
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            homes[node.name] = module
        for target in node.targets if isinstance(node, ast.Assign) else []:
            homes.update({one.id: module for one in ast.walk(target) if isinstance(one, ast.Name)})
    return homes


def _annotation(made: type[BaseModel], field: str) -> tuple[type, str]:
    """Return the class of a field and its type as it is written; pydantic replaces some of them."""
    for home in made.__mro__:
        if field in inspect.get_annotations(home):
            for node in ast.walk(class_tree(home)):
                if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == field:
                    return home, ast.unparse(node.annotation)
    raise LookupError(f"{made.__name__} has no field {field}")


def _literal(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    shown = repr(value)
    return shown if re.fullmatch(r"None|True|False|-?[\d.]+|\(\)", shown) else "..."


def function_of(member: Any) -> Any:
    """Return the function of a method or property."""
    if isinstance(member, property):
        return member.fget
    return member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
