// Programs that are refused: at which line of the function, and what is said.

// an operation that nothing reads
func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = mhlo.dynamic_gizmo %a : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// refused at 2: mhlo.dynamic_gizmo has no form in StableHLO

// -----

// a list that is none
func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "mhlo.reverse"(%a) {dimensions = dense<[0, 1]> : tensor<3xi64>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// refused at 2: 

// -----

// the layout of a bitcast's operand
func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "mhlo.bitcast"(%a) {source_layout = dense<[0, 1]> : tensor<2xindex>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// refused at 2: its operand has the layout [0, 1]

// -----

// values that are left out
func.func @main() -> tensor<4xf32> {
  %0 = "mhlo.constant"() {value = dense_resource<__elided__> : tensor<4xf32>} : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// refused at 2: are left out

// -----

// no function main
func.func @other(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  return %a : tensor<2x3xf32>
}
// refused at 0: no function main; it has other

// -----

// a gathering that forgets a size
func.func @main(%a: tensor<2x3xf32>) -> tensor<2x?xf32> {
  %0 = "mhlo.all_gather"(%a) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x3xf32>) -> tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}
// refused at 2: of known sizes the result's are known

// -----

// a name that we use ourselves
func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.custom_call @hlotool.kept.nothing(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// refused at 2: no HLO form
