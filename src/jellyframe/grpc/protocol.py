"""The protocol on the wire: methods, messages and keys of call metadata, for server and client.

Frames are sent as bytes. The few other messages are encoded here by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from jellyframe.dialects import dialect_named
from jellyframe.errors import OptionsError, ParseError, shortened
from jellyframe.options import DialectName, StreamOptions
from jellyframe.wire import BYTES, VARINT, decode_fields, encode_bytes_field, encode_string, encode_varint

SERVICE: Final = "eu.ostrzyciel.jelly.core.proto.v1.RdfStreamService"
SUBSCRIBE: Final = f"/{SERVICE}/SubscribeRdf"
PUBLISH: Final = f"/{SERVICE}/PublishRdf"
# The message RdfStreamReceived, which has no fields.
RECEIVED: Final = b""

# Our own service, in addition to that of the protocol: proto/topics.proto.
TOPICS_SERVICE: Final = "jellyframe.v1.TopicService"
LIST_TOPICS: Final = f"/{TOPICS_SERVICE}/ListTopics"

# Keys of call metadata. The topic of a publication, in place of the stream's name:
TOPIC_KEY: Final = "jelly-topic-bin"
# where a subscription starts: `earliest`, `latest`, or the offset of a frame;
FROM_KEY: Final = "jelly-from"
# and `true` to request the offset of each frame, in the frame's metadata under `OFFSET_ENTRY`.
OFFSETS_KEY: Final = "jelly-offsets"
OFFSET_ENTRY: Final = "jelly-offset"
# The dialect of the frames and options of a call: `released` or `draft`.
DIALECT_KEY: Final = "jelly-dialect"

# Our servers send this key in the initial metadata as soon as they accept a subscription.
ACCEPTED_KEY: Final = "jelly-accepted"

EARLIEST: Final = "earliest"
LATEST: Final = "latest"
Start: TypeAlias = Literal["earliest", "latest"] | int
# Offsets are numbers of 63 bits.
_MOST_OFFSET_DIGITS = 19

CallMetadata: TypeAlias = Sequence[tuple[str, str | bytes]]


class Subscription(NamedTuple):
    """The message RdfStreamSubscribe. `options` is None if the client leaves the choice to the server."""

    topic: str = ""
    options: StreamOptions | None = None


def encode_subscription(subscription: Subscription, dialect: DialectName = "released") -> bytes:
    """Return an RdfStreamSubscribe message of a dialect."""
    data = b""
    if subscription.topic:
        data += encode_bytes_field(1, encode_string(subscription.topic, "the topic"))
    if subscription.options is not None:
        data += encode_bytes_field(2, dialect_named(dialect).options_message(subscription.options))
    return data


def decode_subscription(data: bytes, dialect: DialectName = "released") -> Subscription:
    """Read an RdfStreamSubscribe message of a dialect. Options without content are the same as none."""
    topic, message = "", b""
    for field, wire_type, value in decode_fields(data):
        if field not in (1, 2):
            continue
        if wire_type != BYTES or not isinstance(value, bytes):
            raise ParseError(
                f"field {field} of RdfStreamSubscribe has the wire type {wire_type}, and must have {BYTES}"
            )
        if field == 1:
            topic = decode_topic(value)
        else:
            # Protobuf merges a message that comes in parts, and so does this.
            message += value
    return Subscription(topic, dialect_named(dialect).parse_options(message) if message else None)


def decode_topic(value: str | bytes) -> str:
    """Return a topic from its UTF-8 bytes."""
    if isinstance(value, str):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise ParseError("the topic is not valid UTF-8") from None


# ---- call metadata ----


def dialect_metadata(dialect: DialectName) -> list[tuple[str, str | bytes]]:
    """Return the call metadata with the dialect of a call, whatever the default of the server is."""
    return [(DIALECT_KEY, dialect)]


def publication_metadata(topic: str | None) -> list[tuple[str, str | bytes]]:
    """Return the call metadata with the topic of a publication; none if the stream's name is the topic."""
    return [] if topic is None else [(TOPIC_KEY, encode_string(topic, "the topic"))]


def subscription_metadata(start: Start | None = None, *, offsets: bool = False) -> list[tuple[str, str | bytes]]:
    """Return the call metadata of a subscription: where it starts, and whether frames have offsets."""
    metadata: list[tuple[str, str | bytes]] = []
    if start is not None:
        metadata.append((FROM_KEY, str(start)))
    if offsets:
        metadata.append((OFFSETS_KEY, "true"))
    return metadata


def accepted_metadata() -> list[tuple[str, str | bytes]]:
    """Return the initial metadata of a subscription that is accepted."""
    return [(ACCEPTED_KEY, "true")]


def is_accepted(metadata: Iterable[tuple[str, str | bytes]] | None) -> bool:
    """Return whether the initial metadata of a call says that a subscription is accepted."""
    return any(key == ACCEPTED_KEY for key, _value in metadata or ())


def publication_topic(metadata: CallMetadata) -> str | None:
    """Return the topic that the call metadata of a publication names, or None."""
    value = _last(metadata, TOPIC_KEY)
    return None if value is None else decode_topic(value)


def subscription_start(metadata: CallMetadata) -> Start | None:
    """Return where a subscription starts, or None if its call metadata does not say."""
    value = _last(metadata, FROM_KEY)
    return None if value is None else parse_start(_text(value))


def call_dialect(metadata: CallMetadata, default: DialectName) -> DialectName:
    """Return the dialect of a call: that of its metadata, or otherwise the default."""
    value = _last(metadata, DIALECT_KEY)
    return default if value is None else dialect_named(_text(value)).name


def wants_offsets(metadata: CallMetadata) -> bool:
    """Return whether the frames of a subscription have their offsets."""
    value = _last(metadata, OFFSETS_KEY)
    word = "false" if value is None else _text(value).lower()
    if word not in ("true", "false"):
        raise OptionsError(f"{OFFSETS_KEY} is {shortened(word)}, and must be true or false")
    return word == "true"


def parse_start(text: str) -> Start:
    """Return a start of a subscription from its text: `earliest`, `latest` or an offset."""
    if text == EARLIEST:
        return EARLIEST
    if text == LATEST:
        return LATEST
    if text.isascii() and text.isdigit() and len(text) <= _MOST_OFFSET_DIGITS:
        return int(text)
    raise OptionsError(f"{FROM_KEY} is {shortened(text)}, and must be {EARLIEST}, {LATEST} or the offset of a frame")


def frame_offset(metadata: dict[str, bytes]) -> int | None:
    """Return the offset in a frame's metadata, or None."""
    value = metadata.get(OFFSET_ENTRY, b"")
    return int(value) if value.isdigit() and len(value) <= _MOST_OFFSET_DIGITS else None


def offset_metadata(offset: int) -> dict[str, bytes]:
    """Return frame metadata that holds an offset."""
    return {OFFSET_ENTRY: b"%d" % offset}


def _last(metadata: CallMetadata, key: str) -> str | bytes | None:
    return next((value for name, value in reversed(list(metadata)) if name == key), None)


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("latin-1")


# ---- the list of topics ----


@dataclass(frozen=True)
class TopicInfo:
    """Information about a topic, as the server lists it.

    Attributes:
        name: the topic
        retention: `live`, `replay`, `log`, `static` or `kafka`
        first_offset: the offset of the oldest frame that is kept
        next_offset: the offset that the next frame will have
        publishers: publications in progress
        subscribers: subscriptions in progress
        frames: frames received since the server started
        statements: statements received since the server started
        bytes_in: bytes received since the server started
        bytes_out: bytes sent since the server started
    """

    name: str
    retention: str
    first_offset: int = 0
    next_offset: int = 0
    publishers: int = 0
    subscribers: int = 0
    frames: int = 0
    statements: int = 0
    bytes_in: int = 0
    bytes_out: int = 0

    @property
    def is_retained(self) -> bool:
        """Whether frames are kept, so that a subscription can resume where another one stopped."""
        return self.retention != "live"


_TOPIC_NUMBERS: Final = {
    3: "first_offset",
    4: "next_offset",
    5: "publishers",
    6: "subscribers",
    7: "frames",
    8: "statements",
    9: "bytes_in",
    10: "bytes_out",
}


def encode_topics(topics: Iterable[TopicInfo]) -> bytes:
    """Return a ListTopicsResponse message."""
    return b"".join(encode_bytes_field(1, _encode_topic(topic)) for topic in topics)


def _encode_topic(topic: TopicInfo) -> bytes:
    data = encode_bytes_field(1, encode_string(topic.name, "the topic"))
    data += encode_bytes_field(2, topic.retention.encode())
    for field, name in _TOPIC_NUMBERS.items():
        if value := getattr(topic, name):
            data += encode_varint(field << 3 | VARINT) + encode_varint(value)
    return data


def decode_topics(data: bytes) -> list[TopicInfo]:
    """Read a ListTopicsResponse message."""
    return [_decode_topic(value) for field, _type, value in decode_fields(data) if field == 1 and _is_bytes(value)]


def _is_bytes(value: int | bytes) -> bool:
    if not isinstance(value, bytes):
        raise ParseError("a topic in ListTopicsResponse is not a message")
    return True


def _decode_topic(data: int | bytes) -> TopicInfo:
    assert isinstance(data, bytes)
    texts = {1: "", 2: ""}
    numbers: dict[str, int] = {}
    for field, _wire_type, value in decode_fields(data):
        if field in texts and isinstance(value, bytes):
            texts[field] = decode_topic(value)
        elif field in _TOPIC_NUMBERS and isinstance(value, int):
            numbers[_TOPIC_NUMBERS[field]] = value
    return TopicInfo(texts[1], texts[2], **numbers)
