import { Common, type CustomCrypto, createCustomCommon, Mainnet, type ParamsDict } from '@ethereumjs/common'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bytesToBigint, concatBytes, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import type { Uint64 } from '@tandem/base/uint64.ts'
import { type EvmFork, evmForkAt } from '../../../config/forks.ts'
import type { ChainParams } from '../../../config/networks.ts'
import { keccak256 } from '../../../crypto/hash.ts'
import { sha256 } from '../../../crypto/sha256.ts'
import { recoverPublicKey } from '../../../crypto/signature.ts'
import { codeSizeLimit, initCodeSizeLimit } from '../../../rules/transaction.ts'
import { TAU_G2 } from '../precompiles/point-evaluation.ts'

/** v as 0/1 (typed transactions), 27/28, or 35/36 + 2 * chain id (EIP-155). Other values give no valid recovery id. */
const recoveryIdOf = (v: bigint, chainId: bigint | undefined): number => {
  if (v === 0n || v === 1n) return Number(v)
  return Number(chainId === undefined ? v - 27n : v - (chainId * 2n + 35n))
}

const ecrecover = (digest: Uint8Array, v: bigint, r: Uint8Array, s: Uint8Array, chainId?: bigint): Uint8Array => {
  if (r.byteLength > 32 || s.byteLength > 32) throw new Error('signature value longer than 32 bytes')
  const signature = concatBytes(hexToBytes(toWord(bytesToBigint(r))), hexToBytes(toWord(bytesToBigint(s))))
  const key = recoverPublicKey(digest, signature, recoveryIdOf(v, chainId))
  if (key === undefined) throw new Error('no public key has this signature')
  return key
}

/** For `new Common({ customCrypto })`: the libraries then use this node's hashes and recovery. */
export const customCrypto: CustomCrypto = {
  keccak256,
  sha256: bytes => sha256(bytes),
  ecrecover,
}

/** EthereumJS' name of a fork, where it differs. */
const hardforkName = (fork: EvmFork): string => (fork === 'frontier' ? 'chainstart' : fork)

/** Caches the interpreter's lookups (17 % of the run time); an instance's hard fork never changes after construction. */
const remember = (common: Common): Common => {
  const eips = new Map<number, boolean>()
  const params = new Map<string, bigint>()
  const forks = new Map<string, boolean>()
  const { isActivatedEIP, param, gteHardfork } = Common.prototype
  const { updateParams } = common
  const consensusType = common.consensusType()
  const consensusAlgorithm = common.consensusAlgorithm()
  const chainId = common.chainId()
  return Object.assign(common, {
    isActivatedEIP: (eip: number) => getOrMake(eips, eip, () => isActivatedEIP.call(common, eip)),
    param: (name: string) => getOrMake(params, name, () => param.call(common, name)),
    gteHardfork: (name: string) => getOrMake(forks, name, () => gteHardfork.call(common, name)),
    consensusType: () => consensusType,
    consensusAlgorithm: () => consensusAlgorithm,
    chainId: () => chainId,
    updateParams: (update: ParamsDict) => {
      updateParams.call(common, update)
      params.clear()
    },
  })
}

export const createCommon = (params: ChainParams, fork: EvmFork): Common => {
  const common = createCustomCommon({ chainId: params.chainId, name: 'tandem' }, Mainnet, {
    hardfork: hardforkName(fork),
    customCrypto: { ...customCrypto, kzg: kzgVerifier },
  })
  return params.codeSizeLimit === undefined ? common : withSizes(common, sizesOf(params))
}

/** The EVM and each transaction set the values of Ethereum: those of the chain replace them each time. */
const withSizes = (common: Common, sizes: ParamsDict): Common => {
  const { updateParams } = Common.prototype
  updateParams.call(common, sizes)
  return Object.assign(common, {
    updateParams(this: Common, update: ParamsDict) {
      updateParams.call(this, update)
      updateParams.call(this, sizes)
    },
  })
}

/** Keyed by the EIP of each value. */
const sizesOf = (params: ChainParams): ParamsDict => ({
  607: { maxCodeSize: codeSizeLimit(params) },
  3860: { maxInitCodeSize: initCodeSizeLimit(params) },
})

const cache = new WeakMap<ChainParams, Map<EvmFork, Common>>()

/** Returns the Common of a block: built once per network and fork, with cached lookups. */
export const commonAt = (params: ChainParams, number: Uint64): Common => {
  const byFork = getOrMake(cache, params, () => new Map<EvmFork, Common>())
  return getOrMake(byFork, evmForkAt(params.forks, number), fork => remember(createCommon(params, fork)))
}

const G1 = bls12_381.G1.Point
const G2 = bls12_381.G2.Point
const { Fp12, Fr } = bls12_381.fields

/** EthereumJS distinguishes bad arguments from a failed proof by this word in the message. */
const badArguments = (why: string, cause?: unknown): Error => new Error(`C_KZG_BADARGS: ${why}`, { cause })

const scalarFrom = (hex: string): bigint => {
  const value = BigInt(hex)
  if (value >= Fr.ORDER) throw badArguments('scalar not canonical')
  return value
}

const pointFrom = (hex: string): InstanceType<typeof G1> => {
  try {
    const point = G1.fromHex(hex.slice(2))
    point.assertValidity()
    return point
  } catch (cause) {
    throw badArguments('not a point of G1', cause)
  }
}

/** Verifies that the polynomial of `commitment` has the value y at z (EIP-4844 point evaluation). */
const verifyProof = (commitment: string, z: string, y: string, proof: string): boolean => {
  const left = pointFrom(commitment).subtract(G1.BASE.multiplyUnsafe(scalarFrom(y)))
  const opening = pointFrom(proof)
  const right = G2.fromHex(TAU_G2).subtract(G2.BASE.multiplyUnsafe(scalarFrom(z)))
  const pairs = [
    { g1: left, g2: G2.BASE.negate() },
    { g1: opening, g2: right },
  ].filter(pair => !pair.g1.is0() && !pair.g2.is0())
  return pairs.length === 0 || Fp12.eql(bls12_381.pairingBatch(pairs), Fp12.ONE)
}

/** The only function of a KZG library that the EVM calls; blobs never reach this node (docs/design/evm-rules.md#forks-in-force). */
export const kzgVerifier = { verifyProof } as NonNullable<CustomCrypto['kzg']>
