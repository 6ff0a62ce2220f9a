import { EVMError, type ExecResult, MCLBLS } from '@ethereumjs/evm'
import type { SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { blsPoints } from '../../../crypto/bls12-381/choose-points.ts'
import { type G1, type G2, g1Bytes, g1From, g2Bytes, g2From, loadMcl, type Mcl } from '../../../crypto/bls12-381/mcl.ts'
import type { BlsPoints } from '../../../crypto/bls12-381/points.ts'
import { ENCODED_G1_BYTES, ENCODED_G2_BYTES, encodePoint, pointFrom } from './bls-encoding.ts'
import { ethereumJsPrecompile } from './ethereumjs-precompile.ts'
import { failedResult, outOfGasResult, type Precompile, runPaced, yieldIfDue } from './precompile.ts'
import { inputWithBls } from './precompile-input.ts'

/*
 * EIP-2537. Sums, and the checks of points for the others, are native code where it loads, mcl otherwise; multiples, pairings and maps are
 * mcl's. Work over many points is done in parts: EthereumJS' own function checks the form and the price, and the computation follows here.
 */

const SCALAR_BYTES = 32
const PAIR_BYTES = ENCODED_G1_BYTES + ENCODED_G2_BYTES
const { BLS_12_381_INVALID_INPUT_LENGTH, BLS_12_381_POINT_NOT_ON_CURVE, REVERT } = EVMError.errorMessages

const notOnCurve = (): EVMError => new EVMError(BLS_12_381_POINT_NOT_ON_CURVE)
const codeOf = (error: unknown): EVMError['error'] => (error instanceof EVMError ? error.error : REVERT)

/** Sum of two points, which need not be in the subgroup. */
const sum =
  (
    price: string,
    size: number,
    add: (points: BlsPoints, a: Uint8Array, b: Uint8Array) => Uint8Array | undefined,
  ): Precompile =>
  input => {
    const { data, gasLimit, common } = input
    const gas = common.param(price)
    if (gas > gasLimit) return outOfGasResult(gasLimit)
    if (data.byteLength !== 2 * size) return failedResult(gasLimit, BLS_12_381_INVALID_INPUT_LENGTH)
    const compute = (points: BlsPoints): ExecResult => {
      try {
        const total = add(points, pointFrom(data.subarray(0, size)), pointFrom(data.subarray(size)))
        if (total === undefined) throw notOnCurve()
        return { executionGasUsed: gas, returnValue: encodePoint(total) }
      } catch (error) {
        return failedResult(gasLimit, codeOf(error))
      }
    }
    const points = blsPoints()
    const pause = yieldIfDue(input)
    if (pause === undefined && !(points instanceof Promise)) return compute(points)
    return Promise.all([points, pause]).then(([loaded]) => compute(loaded))
  }

interface Loaded {
  readonly mcl: Mcl
  readonly points: BlsPoints
}
let loaded: Loaded | undefined
const load = async (): Promise<Loaded> => {
  if (loaded === undefined) {
    const [mcl, points] = await Promise.all([loadMcl(), blsPoints()])
    loaded ??= { mcl, points }
  }
  return loaded
}

/** Map of a field element: a millisecond at most. */
const map =
  (number: number): Precompile =>
  async input => {
    await yieldIfDue(input)
    const { mcl } = await load()
    return ethereumJsPrecompile(input.common, number)(inputWithBls(input, new MCLBLS(mcl)))
  }

/** Reads a point; throws where it is not in the subgroup. */
const readG1 = ({ mcl, points }: Loaded, bytes: Uint8Array): G1 => {
  const point = pointFrom(bytes)
  if (!points.isInG1(point)) throw notOnCurve()
  return g1From(mcl, point)
}
const readG2 = ({ mcl, points }: Loaded, bytes: Uint8Array): G2 => {
  const point = pointFrom(bytes)
  if (!points.isInG2(point)) throw notOnCurve()
  return g2From(mcl, point)
}

/** Sum of points times scalars, so many points at once. */
const multiples = <Point extends G1 | G2>(
  size: number,
  atOnce: number,
  read: (loaded: Loaded, bytes: Uint8Array) => Point,
  write: (point: Point) => Uint8Array,
) =>
  function* (loaded: Loaded, data: Uint8Array): SlicedWork<Uint8Array> {
    const { mcl } = loaded
    const step = size + SCALAR_BYTES
    let total: Point | undefined
    for (let at = 0; at < data.byteLength; ) {
      const points: Point[] = []
      const scalars: InstanceType<Mcl['Fr']>[] = []
      for (; at < data.byteLength && points.length < atOnce; at += step) {
        points.push(read(loaded, data.subarray(at, at + size)))
        const scalar = new mcl.Fr()
        scalar.setBigEndianMod(data.subarray(at + size, at + step))
        scalars.push(scalar)
      }
      const part = mcl.mulVec(points, scalars)
      total = total === undefined ? part : mcl.add(total, part)
      yield
    }
    return total === undefined ? new Uint8Array(size) : encodePoint(write(total))
  }

function* pairing(loaded: Loaded, data: Uint8Array): SlicedWork<Uint8Array> {
  const { mcl } = loaded
  let product = new mcl.GT()
  product.setInt(1)
  for (let at = 0; at < data.byteLength; at += PAIR_BYTES) {
    const left = readG1(loaded, data.subarray(at, at + ENCODED_G1_BYTES))
    const right = readG2(loaded, data.subarray(at + ENCODED_G1_BYTES, at + PAIR_BYTES))
    yield
    if (!left.isZero() && !right.isZero()) product = mcl.mul(product, mcl.millerLoop(left, right))
    yield
  }
  const output = new Uint8Array(SCALAR_BYTES)
  output[SCALAR_BYTES - 1] = mcl.finalExp(product).isOne() ? 1 : 0
  return output
}

const WORK = {
  msmG1: multiples(ENCODED_G1_BYTES, 8, readG1, g1Bytes),
  msmG2: multiples(ENCODED_G2_BYTES, 4, readG2, g2Bytes),
  pairingCheck: pairing,
}

/** Handles errors of a computation as EthereumJS does. */
function* attempt(priced: ExecResult, gasLimit: bigint, slicedWork: SlicedWork<Uint8Array>): SlicedWork<ExecResult> {
  try {
    return { ...priced, returnValue: yield* slicedWork }
  } catch (error) {
    return failedResult(gasLimit, codeOf(error))
  }
}

const inParts =
  (number: number, kind: keyof typeof WORK): Precompile =>
  async input => {
    await yieldIfDue(input)
    const libraries = await load()
    let accepted: Uint8Array | undefined
    const accept = (data: Uint8Array): Uint8Array => {
      accepted = data
      return EMPTY_BYTES
    }
    const priced = await ethereumJsPrecompile(input.common, number)(inputWithBls(input, { [kind]: accept }))
    if (accepted === undefined) return priced
    return runPaced(input, attempt(priced, input.gasLimit, WORK[kind](libraries, accepted)))
  }

/** By address. */
export const BLS_PRECOMPILES: readonly (readonly [number, Precompile])[] = [
  [0x0b, sum('bls12381G1AddGas', ENCODED_G1_BYTES, (points, a, b) => points.addG1(a, b))],
  [0x0c, inParts(0x0c, 'msmG1')],
  [0x0d, sum('bls12381G2AddGas', ENCODED_G2_BYTES, (points, a, b) => points.addG2(a, b))],
  [0x0e, inParts(0x0e, 'msmG2')],
  [0x0f, inParts(0x0f, 'pairingCheck')],
  [0x10, map(0x10)],
  [0x11, map(0x11)],
]
