module @m attributes {a.b = 1 : i32} {
  func.func private @declared(tensor<2xf32>, i32 {x.y}) -> (tensor<2xf32> {x.z = "s"})
  func.func public @"a name"(%arg0: tensor<i32>, %arg1: tensor<4xf32> {x.y = "}"}) -> (tensor<i32>, tensor<4xf32>) attributes {q.r} {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_1 = %arg1) : tensor<i32>, tensor<4xf32>
    cond {
      %c_2 = stablehlo.constant dense<5> : tensor<i32>
      %2 = stablehlo.compare LT, %iterArg, %c_2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2 = stablehlo.add %iterArg, %c_0 : tensor<i32>
      %3 = stablehlo.reduce(%iterArg_1 init: %cst) applies stablehlo.maximum across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
      %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<4xf32>
      stablehlo.return %2, %4 : tensor<i32>, tensor<4xf32>
    }
    %1 = "stablehlo.case"(%c) ({
      %2 = func.call @other(%0#0) : (tensor<i32>) -> tensor<i32>
      stablehlo.return %2 : tensor<i32>
    }, {
      stablehlo.return %c : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    return %1, %0#1 : tensor<i32>, tensor<4xf32>
  }
  func.func private @other(%arg0: tensor<i32>) -> tensor<i32> {
    return %arg0 : tensor<i32>
  }
}
