"""Writes golden.json.gz: what apply_chat_template of transformers makes of the templates in
chat/ and of the snippets below.

    pip install jinja2==3.1.6 transformers==5.23.0 && python golden.py
"""

import datetime
import glob
import gzip
import json
import os

import transformers.utils.chat_template_utils as utils
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast


class Fixed(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2026, 3, 5, 9, 7, 3, 4500)


utils.datetime = Fixed
HERE = os.path.dirname(os.path.abspath(__file__))


def message(role, content, **more):
    return {"role": role, "content": content, **more}


def user(content):
    return message("user", content)


def answer(content, **more):
    return message("assistant", content, **more)


def calls(content, *pairs, **more):
    made = [{"type": "function", "id": f"call{i:05d}", "function": {"name": n, "arguments": a}} for i, (n, a) in enumerate(pairs)]
    return answer(content, tool_calls=made, **more)


def tool(content, i=0, name="weather"):
    return message("tool", content, tool_call_id=f"call{i:05d}", name=name)


TOOLS = [
    {"type": "function", "function": {
        "name": "weather", "description": " What it is <like> & \"how\" 'warm'.",
        "parameters": {"type": "object", "required": ["city"], "properties": {
            "city": {"type": "string", "description": "Zürich, 北京 …"},
            "unit": {"type": "string", "enum": ["c", "f"], "default": "c"},
            "days": {"type": ["integer", "null"], "default": 3},
            "tags": {"type": "array", "items": {"type": "string"}},
            "where": {"type": "object", "properties": {"lat": {"type": "number"}, "Lon": {"type": "number"}}, "required": ["lat"]}}},
        "return": {"type": "string"}}},
    {"type": "function", "function": {"name": "clock", "description": "时间", "parameters": {"type": "object", "properties": {}}}},
]

CHATS = {
    "one": [user("Hello there")],
    "blanks": [user("  padded \n\n text \t\n")],
    "system": [message("system", "Be terse.\n"), user("Hi")],
    "systems": [message("system", "a"), message("system", "b"), user("Hi")],
    "turns": [message("system", "Be <kind> & \"good\"."), user("a"), answer("b\n"), user("c é 水 🙂"), answer("d"), user("e")],
    "answered": [user("a"), answer("b")],
    "thought": [user("q"), answer("<think>\nwhy\n</think>\n\nso"), user("more"), answer("so", reasoning_content="\nbecause\n")],
    "call": [user("cold?"), calls("", ("weather", {"city": "Zürich", "days": 2, "x": 1.5, "n": None, "t": True, "l": [1, "a", []], "o": {"ü": {}}})), tool('{"t": 3}')],
    "calls": [message("system", "s"), user("cold?"), calls(None, ("weather", {"city": "Bern"}), ("clock", {})), tool("3"), tool("12:00", 1, "clock"), answer("Yes."), user("ok")],
    "call as text": [user("cold?"), calls("Let me see", ("weather", '{"city": "Bern"}')), tool("3"), user("thanks")],
    "answer as object": [user("cold?"), calls("", ("clock", {})), tool({"a": 1e20, "b": [True, None, "ü"], "c": 12345678901234567890123})],
    "parts": [user([{"type": "text", "text": " What is "}, {"type": "text", "text": "this?"}])],
    "picture": [message("system", [{"type": "text", "text": "s"}]), user([{"type": "image"}, {"type": "text", "text": "this?"}]), answer([{"type": "text", "text": "a cat"}]),
                user([{"type": "image_url", "image_url": {"url": "http://x/y.png"}}, {"type": "text", "text": "and?"}])],
    "reasoned": [user("q"), calls("", ("clock", {}), thinking="a thought"), tool("1"), answer("so", reasoning="because", thinking=None), user("r"), answer("b", reasoning_content="", thinking="t")],
    "none": [],
    "no message": ["x"],
    "developer": [message("developer", "rules"), user("x")],
    "order": [user("a"), user("b")],
    "begun": [answer("hi"), user("b")],
    "role": [message("weird", "z"), user("x")],
    "empty": [{"role": "user"}, answer("a")],
    "null": [user(None)],
    "code": [user("```python\ndef f(x):\r\n\treturn {'a': \"b\"}\n```\n{{ not }} {% a %} {# b #}")],
}

SETTINGS = [
    {"prompt": False}, {"prompt": True}, {"prompt": True, "tools": TOOLS},
    {"prompt": True, "arguments": {"enable_thinking": False, "date_string": "1 Jan 2025"}},
    {"prompt": True, "tools": TOOLS[:1], "arguments": {"enable_thinking": True, "thinking": True, "reasoning_effort": "high", "model_identity": "I am."}},
    {"prompt": False, "tools": [], "arguments": {"documents": [{"title": "T", "text": "body"}, {"title": "ü", "text": ["b", 2]}]}},
]

TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}

# Parts of the language. Some are mistakes, or fail: then both must say so.
SNIPPETS = open(os.path.join(HERE, "snippets.txt"), encoding="utf-8", newline="").read().split("\n====\n")

VALUES = {
    "s": "Hello, Wörld ", "n": 7, "f": 2.5, "b": True, "z": None, "l": [3, 1, 2, 1], "d": {"b": 2, "A": 1, "items": 5, "c": {"d": [1, {"e": "f"}]}},
    "rows": [{"name": "x", "age": 3, "on": True}, {"name": "Y", "age": 1, "on": False}, {"name": "z", "age": 2}], "e": [], "q": "it's \"q\" \\ \t\n\x7f\u200b é 水 🙂",
    "html": "<b>&'\"</b>", "floats": [0.1, 1e16, 1e-5, 123456789.125, 1e22, -0.0, 3.0],
}


TOKENIZER = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel({"a": 0}, "a")), **TOKENS)


def render(template, messages, **variables):
    try:
        return TOKENIZER.apply_chat_template(messages, chat_template=template, tokenize=False, **variables), None
    except Exception as e:
        return None, f"{type(e).__name__}: {e}"


def main():
    chats = []
    for path in sorted(glob.glob(os.path.join(HERE, "chat", "*.jinja"))):
        name, source = os.path.basename(path), open(path, encoding="utf-8").read()
        for chat, messages in CHATS.items():
            for i, s in enumerate(SETTINGS):
                arguments = s.get("arguments", {})
                text, error = render(source, messages=messages, tools=s.get("tools"), add_generation_prompt=s["prompt"], **arguments)
                chats.append({"template": name, "chat": chat, "setting": i, "text": text, "error": error})
    snippets = []
    for source in SNIPPETS:
        text, error = render(source, messages=[user("x")], **VALUES)
        snippets.append({"source": source, "text": text, "error": error})
    golden = {"tokens": TOKENS, "chats": CHATS, "settings": SETTINGS, "rendered": chats, "values": VALUES, "snippets": snippets}
    with open(os.path.join(HERE, "golden.json.gz"), "wb") as f:
        f.write(gzip.compress(json.dumps(golden, ensure_ascii=False).encode(), mtime=0))
    failed = sum(c["text"] is None for c in chats)
    print(f"{len(chats)} chats, {failed} of them refused; {len(snippets)} snippets, {sum(s['text'] is None for s in snippets)} of them refused")
    for s in snippets:
        if s["text"] is None:
            print("  ", repr(s["source"])[:90], "->", s["error"][:90])


if __name__ == "__main__":
    main()
