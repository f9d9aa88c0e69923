"""The client of the gRPC protocol: connections, publications and subscriptions, blocking and for asyncio.

`publishing` and `subscribing` implement the protocol and the handling of failures without I/O. The shells around them
are `blocking`, with `publisher` and `subscription`, and `asynchronous`, with `async_publisher` and
`async_subscription`.
"""
