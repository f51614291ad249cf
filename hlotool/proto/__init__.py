"""Binary modules: HloModuleProto, HloProto and HloSnapshot to IR. Needs protobuf."""

from hlotool.proto.proto_module import looks_like_proto, read_proto, read_sharding

__all__ = ["looks_like_proto", "read_proto", "read_sharding"]
