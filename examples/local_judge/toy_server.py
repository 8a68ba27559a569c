"""A judge server without a model, to try judgekit with before you have one.

It speaks the OpenAI chat protocol, like Ollama, vLLM, llama.cpp and LM Studio, and the messages
protocol of Anthropic. It is as limited as some of them: it refuses `json_schema` and tool calls. It
computes its reply from the share of the question's words in the answer. It judges nothing, so do
not trust its verdicts.

python examples/local_judge/toy_server.py [PORT]
"""

from __future__ import annotations

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "toy-judge"
SCHEMA = "JSON schema:\n"


def overlap(prompt: str) -> float:
    """Return the share of the material's longer words that are in the answer.

    A prompt has its texts between <tag-digest> and </tag-digest>, the text to judge last.
    """
    texts = ["", *(text for _, text in re.findall(r"<([\w]+-\w+)>(.*?)</\1>", prompt, re.DOTALL))]
    asked, answered = (
        set(re.findall(r"\w{4,}", text.lower())) for text in (" ".join(texts[:-1]), texts[-1])
    )
    return len(asked & answered) / len(asked) if asked else 0.0


def filled(
    schema: dict[str, Any], share: float, defs: dict[str, Any], turn: int | None = None
) -> Any:
    """Return a value that is valid under a schema; the share selects numbers and words.

    Inside a list, `turn` counts the entries: a checklist needs each of its items once.
    """
    if "$ref" in schema:
        return filled(defs[schema["$ref"].rpartition("/")[2]], share, defs, turn)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        words = [word for word in schema["enum"] if word is not None]
        if turn is not None:
            return words[turn % len(words)]
        return words[min(len(words) - 1, int((1 - share) * len(words)))]
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return filled(schema[several][0], share, defs, turn)
    kind = schema.get("type")
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: filled(part, share, defs, turn) for name, part in properties.items()}
    if kind == "array":
        items = schema.get("prefixItems", [])
        least = schema.get("minItems", len(items))
        more = [schema.get("items", {})] * max(0, least - len(items))
        return [filled(item, share, defs, at) for at, item in enumerate((*items, *more))]
    if kind in ("number", "integer"):
        low, high = schema.get("minimum", 0), schema.get("maximum", 1)
        value = low + share * (high - low)
        return round(value, 2) if kind == "number" else int(value)
    if kind == "boolean":
        return share >= 0.5
    return f"The answer holds {share:.0%} of the question's longer words."


class Toy(BaseHTTPRequestHandler):
    """Serve the list of models, and the endpoints `chat/completions` and `messages`."""

    def do_GET(self) -> None:
        """List the one model."""
        self.send(200, {"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    def do_POST(self) -> None:
        """Answer a chat request, or refuse an unsupported format."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        format_ = asked.get("response_format") or {}
        if format_.get("type") == "json_schema" or "schema" in format_:
            return self.refuse("response_format json_schema is not supported, use json_object")
        if asked.get("tools"):
            return self.refuse("tools are not supported")
        texts = [asked.get("system", ""), *(message["content"] for message in asked["messages"])]
        prompt = "\n".join(map(str, texts))
        text = "This server answers with JSON only when it is given a schema."
        if SCHEMA in prompt:
            schema, _ = json.JSONDecoder().raw_decode(prompt.rpartition(SCHEMA)[2])
            text = json.dumps(filled(schema, overlap(prompt), schema.get("$defs", {})))
        if self.path.endswith("/messages"):
            return self.send(200, {
                "id": "toy", "type": "message", "role": "assistant", "model": MODEL,
                "content": [{"type": "text", "text": text}], "stop_reason": "end_turn",
                "usage": {"input_tokens": len(prompt) // 4, "output_tokens": len(text) // 4},
            })  # fmt: skip
        message = {"role": "assistant", "content": text}
        return self.send(200, {
            "id": "toy", "object": "chat.completion", "created": 0, "model": MODEL,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": len(prompt) // 4, "completion_tokens": len(text) // 4,
                      "total_tokens": (len(prompt) + len(text)) // 4},
        })  # fmt: skip

    def refuse(self, message: str) -> None:
        """Refuse a request with an OpenAI-style error."""
        self.send(400, {"error": {"message": message, "type": "invalid_request_error"}})

    def send(self, status: int, body: dict[str, Any]) -> None:
        """Send a JSON answer."""
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


def main() -> None:
    """Serve on loopback until Ctrl-C; port 0 takes any free one."""
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8642
    with ThreadingHTTPServer(("127.0.0.1", port), Toy) as server:
        print(f"toy judge at http://127.0.0.1:{server.server_port}/v1", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print("stopped")


if __name__ == "__main__":
    main()
