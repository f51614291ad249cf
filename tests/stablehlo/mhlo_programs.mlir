// Programs in XLA's MHLO dialect, and parts of the HLO that each of them becomes.

// a list of numbers as a tensor
func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "mhlo.reverse"(%a) {dimensions = dense<[0, 1]> : tensor<2xi64>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// becomes: reverse(%a), dimensions={0,1}

// -----

// a list of one number repeated
func.func @main(%a: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %0 = "mhlo.slice"(%a) <{start_indices = dense<0> : tensor<2xi64>, limit_indices = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}> : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
// becomes: slice(%a), slice={[0:2], [0:2]}

// -----

// an empty list
func.func @main(%a: tensor<f32>) -> tensor<2x3xf32> {
  %0 = "mhlo.broadcast_in_dim"(%a) {broadcast_dimensions = dense<> : tensor<0xi64>} : (tensor<f32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// becomes: broadcast(%a), dimensions={}

// -----

// truth values
func.func @main(%a: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = "mhlo.convolution"(%a, %k) {dimension_numbers = #mhlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>,
    padding = dense<1> : tensor<2x2xi64>, window_reversal = dense<[1, 0]> : tensor<2xi1>,
    window_strides = dense<1> : tensor<2xi64>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x4x4x2xf32>, tensor<3x3x2x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
// becomes: window={size=3x3 pad=1_1x1_1 rhs_reversal=1x0}

// -----

// an enumeration in a form of its own
func.func @main(%a: tensor<3xui64>) -> tensor<5xui8> {
  %0:2 = "mhlo.rng_bit_generator"(%a) <{rng_algorithm = #mhlo.rng_algorithm<PHILOX>}> : (tensor<3xui64>) -> (tensor<3xui64>, tensor<5xui8>)
  return %0#1 : tensor<5xui8>
}
// becomes: algorithm=rng_philox

// -----

// an accuracy
func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = mhlo.tanh %a {result_accuracy = #mhlo.result_accuracy<mode = #mhlo.result_accuracy_mode<HIGHEST>>} : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// becomes: result_accuracy={mode=highest}

// -----

// copy
func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = mhlo.copy %a : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// becomes:  copy(%a)

// -----

// copy, generic, with a name
func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "mhlo.copy"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("kept")
  return %0 : tensor<2x3xf32>
}
// becomes: %kept = f32[2,3] copy(%a)

// -----

// bitcast
func.func @main(%a: tensor<2x3xf32>) -> tensor<6xf32> {
  %0 = mhlo.bitcast %a : (tensor<2x3xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
// becomes: f32[6] bitcast(%a)

// -----

// bitcast to a layout
func.func @main(%a: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = "mhlo.bitcast"(%a) {result_layout = dense<[0, 1]> : tensor<2xindex>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
// becomes: f32[3,2]{0,1} bitcast(%a)

// -----

// stochastic_convert
func.func @main(%a: tensor<2x3xf32>, %r: tensor<2x3xui32>) -> tensor<2x3xi8> {
  %0 = mhlo.stochastic_convert %a, %r : (tensor<2x3xf32>, tensor<2x3xui32>) -> tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}
// becomes: s8[2,3] stochastic-convert(%a, %b)

// -----

// add_dependency
func.func @main(%a: tensor<2x3xf32>, %t: !mhlo.token) -> tensor<2x3xf32> {
  %0 = mhlo.add_dependency %a, %t : (tensor<2x3xf32>, !mhlo.token) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// becomes: add-dependency(%a, %b)

// -----

// topk
func.func @main(%a: tensor<2x3xf32>) -> tensor<2x2xi32> {
  %0:2 = mhlo.topk(%a, k = 2, largest = true) : tensor<2x3xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)
  return %0#1 : tensor<2x2xi32>
}
// becomes: topk(%a), k=2, largest=true

// -----

// topk of the smallest
func.func @main(%a: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %0:2 = "mhlo.topk"(%a) <{k = 2 : i64, largest = false}> : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
  return %0#0 : tensor<2x2xf32>
}
// becomes: topk(%a), k=2, largest=false

// -----

// functions that only CHLO has
func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = mhlo.erf %a : tensor<2x3xf32>
  %1 = mhlo.cosh %0 : tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
// becomes: erf(%a)
// becomes: cosh(

// -----

// cross-replica-sum
func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "mhlo.cross-replica-sum"(%a) {replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// becomes: all-reduce(%a), replica_groups={{1,0}}

// -----

// the state of random numbers
func.func @main() -> tensor<2xui64> {
  %0 = "mhlo.xla.rng_get_and_update_state"() {delta = 7 : i64} : () -> tensor<2xui64>
  return %0 : tensor<2xui64>
}
// becomes: u64[2] rng-get-and-update-state(), delta=7

// -----

// all_to_all of several operands
func.func @main(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0:2 = "mhlo.all_to_all"(%a, %b) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return %0#1 : tensor<2x3xf32>
}
// becomes: (f32[2,3], f32[2,3]) all-to-all(%a, %b), replica_groups={{0,1}}

// -----

// fusion
func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "mhlo.fusion"(%a) ({
  ^bb0(%x: tensor<2x3xf32>):
    %1 = mhlo.add %x, %x : tensor<2x3xf32>
    "mhlo.return"(%1) : (tensor<2x3xf32>) -> ()
  }) {fusion_kind = #mhlo<fusion_kind kInput>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// becomes: fusion(%a), kind=kInput, calls=%fused_computation

// -----

// what a thread does
func.func private @work(%x: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {execution_thread = "side"} {
  %0 = mhlo.copy %x : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "mhlo.async_start"(%a) {called_computation = @work, execution_thread = "side"} : (tensor<2x3xf32>) -> !mhlo.async_bundle<tuple<tensor<2x3xf32>>, tensor<2x3xf32>, tensor<i32>>
  %1 = "mhlo.async_done"(%0) {called_computation = @work, execution_thread = "side"} : (!mhlo.async_bundle<tuple<tensor<2x3xf32>>, tensor<2x3xf32>, tensor<i32>>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
// becomes: ((f32[2,3]), f32[2,3], s32[]) async-start(%a.1), calls=%work, async_execution_thread="side"
// becomes: f32[2,3] async-done(
// becomes: execution_thread="side"

// -----

// the literal and schedule of a call
func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "mhlo.custom_call"(%a) {call_target_name = "t", mhlo.literal = dense<[3, 4]> : tensor<2xi32>, custom_call_schedule = #mhlo<custom_call_schedule EARLIEST>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// becomes: literal=s32[2] {3, 4}
// becomes: schedule=SCHEDULE_EARLIEST

// -----

// parameters that are replicated
func.func @main(%a: tensor<2x3xf32> {mhlo.parameter_replication = [true]}) -> tensor<2x3xf32> {
  return %a : tensor<2x3xf32>
}
// becomes: parameter(0), parameter_replication={true}

// -----

// layouts of what is fed, a scalar among it
func.func @main(%t: !mhlo.token) -> tensor<2x3xf32> {
  %0:3 = "mhlo.infeed"(%t) {infeed_config = "c", layout = [[0, 1], [0]]} : (!mhlo.token) -> (tensor<2x3xf32>, tensor<i1>, !mhlo.token)
  return %0#0 : tensor<2x3xf32>
}
// becomes: ((f32[2,3]{0,1}, pred[]), token[]) infeed(%a)

// -----

// one value that goes out
func.func @main(%a: tensor<2x3xf32>, %t: !mhlo.token) -> !mhlo.token {
  %0 = "mhlo.outfeed"(%a, %t) {outfeed_config = ""} : (tensor<2x3xf32>, !mhlo.token) -> !mhlo.token
  return %0 : !mhlo.token
}
// becomes: (f32[2,3]) tuple(%a)
// becomes: outfeed_shape=(f32[2,3])

// -----

// what stands beside a transfer
func.func @main(%a: tensor<2x3xf32>, %t: !mhlo.token) -> !mhlo.token {
  %0 = "mhlo.send"(%a, %t) {channel_handle = #mhlo.channel_handle<handle = 2, type = 2>, is_host_transfer = true, mhlo.frontend_attributes = {k = "v"}, mhlo.sharding = "{manual}"} : (tensor<2x3xf32>, !mhlo.token) -> !mhlo.token
  return %0 : !mhlo.token
}
// becomes:  send(%a, %b), channel_id=2, is_host_transfer=true, sharding={{manual}, {manual}, {manual}}, frontend_attributes={k="v"}
// becomes: is_host_transfer=true, sharding={manual}, frontend_attributes={k="v"}

// -----

// a cast that forgets everything
func.func @main(%a: tensor<4xi32>) -> tensor<*xi32> {
  %0 = mhlo.not %a : tensor<4xi32>
  %1 = tensor.cast %0 : tensor<4xi32> to tensor<*xi32>
  return %1 : tensor<*xi32>
}
// becomes: ROOT %not = s32[4] not(%a)

// -----

// sizes that are set and not said
func.func @main(%a: tensor<4xf32>, %n: tensor<i32>) -> tensor<f32> {
  %0 = "mhlo.set_dimension_size"(%a, %n) {dimension = 0 : i64} : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  %1 = mhlo.abs %0 : tensor<4xf32>
  %z = mhlo.constant dense<0.0> : tensor<f32>
  %2 = mhlo.reduce(%1 init: %z) applies mhlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %2 : tensor<f32>
}
// becomes: f32[<=4] set-dimension-size(
// becomes: f32[<=4] abs(

// -----

// a number in 32 bits
func.func @main(%a: tensor<2x3xf32>, %s: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = "mhlo.batch_norm_inference"(%a, %s, %s, %s, %s) {epsilon = 0.001 : f32, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// becomes: epsilon=0.001,

// -----

// words of the dialect in strings and comments
func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = mhlo.custom_call @x(%a) {backend_config = "mhlo.domain %a : T"} : (tensor<2x3xf32>) -> tensor<2x3xf32> // mhlo.domain %a
  return %0 : tensor<2x3xf32>
}
// becomes: backend_config="mhlo.domain %a : T"
