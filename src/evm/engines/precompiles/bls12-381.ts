import { EVMError, type ExecResult, MCLBLS } from '@ethereumjs/evm'
import { type G1, type G2, g1From, g2From, loadMcl, type Mcl } from '../../../crypto/bls12-381.ts'
import type { SlicedWork } from '../../../util/async/sliced-work.ts'
import { bytesToBigint, concatBytes, EMPTY_BYTES } from '../../../util/bytes.ts'
import { ethereumJsPrecompile } from './ethereumjs-precompile.ts'
import { failedResult, type Precompile, runPaced, yieldIfDue } from './precompile.ts'
import { inputWithBls } from './precompile-input.ts'

/*
 * EIP-2537 by mcl, as wrapped by EthereumJS. Sums over many points are computed in parts: EthereumJS' own function checks the form
 * and the price, and the computation follows here.
 */

const G1_BYTES = 128
const G2_BYTES = 256
const SCALAR_BYTES = 32
const PAIR_BYTES = G1_BYTES + G2_BYTES

type Kind = 'msmG1' | 'msmG2' | 'pairingCheck'

const createBls = (mcl: Mcl) => {
  const bls = new MCLBLS(mcl)
  bls.init()
  return bls
}
let loaded: { readonly mcl: Mcl; readonly bls: MCLBLS } | undefined
const load = async () => {
  if (loaded === undefined) {
    const mcl = await loadMcl()
    loaded ??= { mcl, bls: createBls(mcl) }
  }
  return loaded
}

/** One point, or one map: a millisecond at most. */
const atOnce =
  (number: number): Precompile =>
  async input => {
    await yieldIfDue(input)
    const { bls } = await load()
    return ethereumJsPrecompile(input.common, number)(inputWithBls(input, bls))
  }

/** Sums points times scalars in parts. */
function* sum(
  data: Uint8Array,
  size: number,
  points: number,
  part: (data: Uint8Array) => Uint8Array,
  add: (both: Uint8Array) => Uint8Array,
): SlicedWork<Uint8Array> {
  const step = (size + SCALAR_BYTES) * points
  let total = new Uint8Array(size)
  for (let at = 0; at < data.byteLength; at += step) {
    total = Uint8Array.from(add(concatBytes(total, part(data.subarray(at, at + step)))))
    yield
  }
  return total
}

const field = (bytes: Uint8Array, index: number): bigint => bytesToBigint(bytes.subarray(index * 64, index * 64 + 64))

const ONE = new Uint8Array(SCALAR_BYTES)
ONE[SCALAR_BYTES - 1] = 1

/** Reads a point by multiplying it by one in EthereumJS' reader, which checks coordinates, curve and subgroup. */
const readG1 = (mcl: Mcl, bls: MCLBLS, bytes: Uint8Array): G1 => {
  const point = bls.msmG1(concatBytes(bytes, ONE))
  return isZero(point) ? new mcl.G1() : g1From(mcl, field(point, 0), field(point, 1))
}
const readG2 = (mcl: Mcl, bls: MCLBLS, bytes: Uint8Array): G2 => {
  const point = bls.msmG2(concatBytes(bytes, ONE))
  if (isZero(point)) return new mcl.G2()
  return g2From(mcl, [field(point, 0), field(point, 1)], [field(point, 2), field(point, 3)])
}
const isZero = (bytes: Uint8Array): boolean => bytes.every(byte => byte === 0)

function* pairing(mcl: Mcl, bls: MCLBLS, data: Uint8Array): SlicedWork<Uint8Array> {
  let product = new mcl.GT()
  product.setInt(1)
  for (let at = 0; at < data.byteLength; at += PAIR_BYTES) {
    const left = readG1(mcl, bls, data.subarray(at, at + G1_BYTES))
    const right = readG2(mcl, bls, data.subarray(at + G1_BYTES, at + PAIR_BYTES))
    yield
    if (!left.isZero() && !right.isZero()) product = mcl.mul(product, mcl.millerLoop(left, right))
    yield
  }
  const output = new Uint8Array(SCALAR_BYTES)
  output[SCALAR_BYTES - 1] = mcl.finalExp(product).isOne() ? 1 : 0
  return output
}

const WORK: Readonly<Record<Kind, (mcl: Mcl, bls: MCLBLS, data: Uint8Array) => SlicedWork<Uint8Array>>> = {
  msmG1: (_, bls, data) =>
    sum(
      data,
      G1_BYTES,
      8,
      part => bls.msmG1(part),
      both => bls.addG1(both),
    ),
  msmG2: (_, bls, data) =>
    sum(
      data,
      G2_BYTES,
      4,
      part => bls.msmG2(part),
      both => bls.addG2(both),
    ),
  pairingCheck: pairing,
}

/** Handles errors of a computation as EthereumJS does. */
function* attempt(priced: ExecResult, gasLimit: bigint, slicedWork: SlicedWork<Uint8Array>): SlicedWork<ExecResult> {
  try {
    return { ...priced, returnValue: yield* slicedWork }
  } catch (error) {
    return failedResult(gasLimit, error instanceof EVMError ? error.error : EVMError.errorMessages.REVERT)
  }
}

const inParts =
  (number: number, kind: Kind): Precompile =>
  async input => {
    await yieldIfDue(input)
    const { mcl, bls } = await load()
    let accepted: Uint8Array | undefined
    const accept = (data: Uint8Array): Uint8Array => {
      accepted = data
      return EMPTY_BYTES
    }
    const priced = await ethereumJsPrecompile(input.common, number)(inputWithBls(input, { [kind]: accept }))
    if (accepted === undefined) return priced
    return runPaced(input, attempt(priced, input.gasLimit, WORK[kind](mcl, bls, accepted)))
  }

/** By address. */
export const BLS_PRECOMPILES: readonly (readonly [number, Precompile])[] = [
  [0x0b, atOnce(0x0b)],
  [0x0c, inParts(0x0c, 'msmG1')],
  [0x0d, atOnce(0x0d)],
  [0x0e, inParts(0x0e, 'msmG2')],
  [0x0f, inParts(0x0f, 'pairingCheck')],
  [0x10, atOnce(0x10)],
  [0x11, atOnce(0x11)],
]
