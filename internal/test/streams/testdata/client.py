"""Asks for streams with the functions of vLLM's client.

Usage: client.py ENDPOINT_REQUEST_FUNC URL...     prints a JSON list, an answer for each URL
"""
import asyncio
import importlib.util
import json
import sys

import aiohttp

TRIES = 3


async def main(source, urls):
    spec = importlib.util.spec_from_file_location("client", source)
    client = importlib.util.module_from_spec(spec)
    sys.modules["client"] = client
    spec.loader.exec_module(client)

    async def ask(url):
        asked = client.RequestFuncInput(prompt="hello there", api_url=url, prompt_len=2, output_len=16, model="m")
        async with aiohttp.ClientSession() as session:
            chat = url.endswith("chat/completions")
            got = await (client.async_request_openai_chat_completions if chat else client.async_request_openai_completions)(asked, session)
        return dict(ok=got.success, tokens=int(min(float(got.output_tokens or 0), 1e12)), ttft=got.ttft, gaps=len(got.itl), error=got.error)

    async def quickest(url):  # of a few: a busy machine delays some
        return min([await ask(url) for _ in range(TRIES)], key=lambda answer: answer["ttft"])

    return [await quickest(url) for url in urls]


print(json.dumps(asyncio.run(main(sys.argv[1], sys.argv[2:]))))
