"""Binary modules: HloModuleProto, HloProto and HloSnapshot to IR. Needs protobuf."""

from hlotool.proto.proto_module import looks_like_proto, read_proto, read_sharding
from hlotool.proto.proto_snapshot import Snapshot, read_snapshot

__all__ = ["Snapshot", "looks_like_proto", "read_proto", "read_sharding", "read_snapshot"]
