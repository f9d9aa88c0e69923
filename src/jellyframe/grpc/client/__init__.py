"""The client of the gRPC protocol: connections, publications and subscriptions, blocking and for asyncio.

What goes over the wire and what is done about a failure is decided in `publishing` and `subscribing`, without I/O.
Shells around these are `blocking`, with `publisher` and `subscription`, and `asynchronous`, with `async_publisher` and
`async_subscription`.
"""
