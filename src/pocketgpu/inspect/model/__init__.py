"""The debugger's answers: the same types for both consoles. Nothing here depends on a console.

schema("pocketgpu.why/2")    # the JSON Schema of what `to_json` of an answer gives
"""

from pocketgpu.inspect.model.schemas import schema, schema_ids

__all__ = ["schema", "schema_ids"]


def __dir__() -> list[str]:
    return [*__all__]
