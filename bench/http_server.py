"""A loopback endpoint with a fixed latency and twenty top tokens a position, in a process of its own."""

import asyncio
import json

from aiohttp import web

_LATENCY = 0.05
_TOP = [{"token": f"token {n}", "logprob": -1.0 - n} for n in range(19)]
_POSITION = {"token": "(C", "logprob": -0.5, "top_logprobs": [{"token": "(C", "logprob": -0.5}, *_TOP]}
_BODY = json.dumps(
    {
        "model": "loopback",
        "choices": [
            {"message": {"content": "(C)"}, "finish_reason": "stop", "logprobs": {"content": [_POSITION, _POSITION]}}
        ],
        "usage": {"prompt_tokens": 500, "completion_tokens": 2},
    }
).encode()


async def _answer(request: web.Request) -> web.Response:
    await request.read()
    await asyncio.sleep(_LATENCY)
    return web.Response(body=_BODY, content_type="application/json")


async def _main() -> None:
    app = web.Application()
    app.router.add_post("/v1/chat/completions", _answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_main())
