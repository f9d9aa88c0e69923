"""The client of the gRPC protocol: connections, publications and subscriptions, blocking and for asyncio.

What goes over the wire and what is done about a failure is decided in `publishing` and `subscribing`, without I/O;
`blocking` and `asynchronous` are shells around these.
"""
