"""Error messages for undefined names in templates."""

from __future__ import annotations

from jinja2 import StrictUndefined
from jinja2.utils import missing

from judgekit.core.canonical import visible
from judgekit.core.suggest import suggest

_KINDS = {
    "CaseView": "a case",
    "CriterionView": "a criterion",
    "MessageView": "a message",
    "RubricView": "the rubric",
}


class Unknown(StrictUndefined):
    """An undefined value; its error names the object and the closest name in it."""

    __slots__ = ()

    @property
    def _undefined_message(self) -> str:
        looked_in, name = self._undefined_obj, self._undefined_name
        if self._undefined_hint or looked_in is missing or not isinstance(name, str):
            return str(super()._undefined_message)
        if isinstance(looked_in, dict):
            known = (visible(key)[:60] for key in looked_in if isinstance(key, str))
            hint = suggest(name, known)
            return f"there is no {name!r}{hint}; write | default('') if cases may lack it"
        kind = next(
            (_KINDS[c.__name__] for c in type(looked_in).__mro__ if c.__name__ in _KINDS), ""
        )
        if not kind:
            return str(super()._undefined_message)
        fields = (field for field in dir(looked_in) if not field.startswith("_"))
        return f"{kind} has no field {name!r}{suggest(name, fields)}"
