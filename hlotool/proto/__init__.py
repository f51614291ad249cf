"""Modules as protobuf messages, in bytes or text, to IR: HloModuleProto, HloProto and snapshots. Needs protobuf."""

from hlotool.proto.proto_forms import looks_like_proto
from hlotool.proto.proto_module import read_proto, read_sharding
from hlotool.proto.proto_snapshot import Snapshot, read_snapshot

__all__ = ["Snapshot", "looks_like_proto", "read_proto", "read_sharding", "read_snapshot"]
