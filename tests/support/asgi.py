"""The application of ``lscfg serve`` without a server and without processes."""

import asyncio
from dataclasses import replace

import httpx

from lscfg.bundle.system import open_system
from lscfg.serve.application import Application, Offer
from lscfg.serve.guard import Hosts
from lscfg.serve.settings import ServeSettings


class InProcess:
    """A pool that works in this process."""

    workers, deaths, queued = 2, 0, 0

    async def call(self, function, block, size):
        await asyncio.sleep(0)
        return function(block)


class Client:
    """Sends requests to an application."""

    def __init__(self, bundle, pool=None, settings=None, memory=None, glossary=(), system=None, **offer):
        self.folder = bundle
        hosts = Hosts("127.0.0.1", origins=offer.pop("origins", ()))
        system = replace(system or open_system(bundle), memory=memory, glossary=glossary)
        self.application = Application(system, pool or InProcess(), settings or ServeSettings(), hosts, Offer(**offer))

    def __call__(self, method, path, **arguments):
        async def whole():
            transport = httpx.ASGITransport(self.application.asgi)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8080") as client:
                return await client.request(method, path, **arguments)

        return asyncio.run(whole())

    def post(self, path, content=None, **arguments):
        """Sends JSON."""
        return self("POST", path, **({"json": content} if content is not None else {}), **arguments)

    def get(self, path, **arguments):
        """Asks for a path."""
        return self("GET", path, **arguments)
