"""Functions that written code brings along where JAX has none, as their text."""

from __future__ import annotations

HELPERS: dict[str, str] = {
    "_unpacked": '''
def _unpacked(text, dtype, shape):
    """The array whose bytes, compressed, are `text` in base 85."""
    return jnp.asarray(np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype).reshape(shape))
''',
    "_total_order": '''
def _total_order(x):
    """Integers that compare as floats do in total order: -NaN, -inf, ..., -0, +0, ..., inf, NaN."""
    signed = {8: jnp.int8, 16: jnp.int16, 32: jnp.int32, 64: jnp.int64}[jnp.finfo(x.dtype).bits]
    bits = lax.bitcast_convert_type(x, signed)
    return jnp.where(bits < 0, bits ^ jnp.iinfo(signed).max, bits)
''',
    "_sorted_by": '''
def _sorted_by(goes_before, arrays, dimension):
    """Arrays sorted along a dimension by a comparison of pairs; the sort is stable. The work grows with the square."""
    rows = [jnp.moveaxis(a, dimension, -1) for a in arrays]
    pairs = [side for r in rows for side in (r[..., :, None], r[..., None, :])]
    before = jnp.vectorize(goes_before)(*jnp.broadcast_arrays(*pairs))
    first = jnp.tri(rows[0].shape[-1], k=-1, dtype=bool).T
    ahead = before | (~jnp.swapaxes(before, -1, -2) & first)
    order = jnp.argsort(jnp.sum(ahead, axis=-2), axis=-1)
    return tuple(jnp.moveaxis(jnp.take_along_axis(r, order, axis=-1), -1, dimension) for r in rows)
''',
    "_branch": '''
def _branch(index, count):
    """The number of a branch: HLO takes the last one for every index out of range."""
    return jnp.where((index < 0) | (index >= count), count - 1, index)
''',
    "_batch_norm_inference": '''
def _batch_norm_inference(x, scale, offset, mean, variance, epsilon, feature):
    """Normalised by a mean and a variance for each feature, scaled and moved."""
    rows = lambda v: lax.broadcast_in_dim(v, x.shape, (feature,))
    return rows(scale) * (x - rows(mean)) * lax.rsqrt(rows(variance) + epsilon) + rows(offset)
''',
    "_batch_norm_training": '''
def _batch_norm_training(x, scale, offset, epsilon, feature):
    """Normalised by the batch's own mean and variance; these too."""
    others = tuple(d for d in range(x.ndim) if d != feature)
    mean, variance = jnp.mean(x, others), jnp.var(x, others)
    return _batch_norm_inference(x, scale, offset, mean, variance, epsilon, feature), mean, variance
''',
    "_batch_norm_grad": '''
def _batch_norm_grad(x, scale, mean, variance, grad, epsilon, feature):
    """The gradients with respect to the array, the scale and the offset."""
    others = tuple(d for d in range(x.ndim) if d != feature)
    rows = lambda v: lax.broadcast_in_dim(v, x.shape, (feature,))
    inverse = lax.rsqrt(variance + epsilon)
    centred = x - rows(mean)
    count = x.size // x.shape[feature]
    sums, products = jnp.sum(grad, others), jnp.sum(grad * centred, others)
    slope = grad - rows(sums / count) - centred * rows(products * inverse * inverse / count)
    return rows(scale * inverse) * slope, products * inverse, sums
''',
}
#: helpers that helpers call
NEEDS = {"_batch_norm_training": ("_batch_norm_inference",)}
#: imports of the helpers beside jax, jnp and lax
IMPORTS = {"_unpacked": ("base64", "zlib", "numpy as np")}
