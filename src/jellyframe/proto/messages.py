"""Makes message classes from descriptors, in a pool of our own.

Other packages define messages of the same names. protobuf's default pool takes such a name only once, so
ours stay out of it, and any number of Jelly packages can be imported together, in any order.
"""

from __future__ import annotations

from typing import Any

from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper
from google.protobuf.message_factory import GetMessageClass

# Where reflection of a gRPC server looks them up.
POOL = DescriptorPool()


def define(module: dict[str, Any], serialized_file: bytes) -> None:
    """Puts what a serialized FileDescriptorProto describes into a module's globals, as protoc does."""
    file = POOL.AddSerializedFile(serialized_file)
    module["DESCRIPTOR"] = file
    for name, message in file.message_types_by_name.items():
        module[name] = GetMessageClass(message)
    for name, enum in file.enum_types_by_name.items():
        module[name] = EnumTypeWrapper(enum)
        module.update((value.name, value.number) for value in enum.values)
