import { bytesEqual, concatBytes, type Hex, hexToBytes, ZERO_ADDRESS, ZERO_HASH } from '@tandem/base/bytes.ts'
import type { ChainParams } from '../../../src/config/networks.ts'
import { keccak256Hex } from '../../../src/crypto/hash.ts'
import { nativeSealHash, sha256dHash } from '../../../src/crypto/proof-hash.ts'
import type { Block } from '../../../src/primitives/block.ts'
import type { ExtraData } from '../../../src/primitives/consensus/extra-data.ts'
import {
  decodeProofHeader,
  type ProofHeader,
  proofHeaderId,
  proofSealHash,
} from '../../../src/primitives/proof-header.ts'
import { proofTarget, type TargetReference } from '../../../src/rules/proof/proof-target.ts'
import { SIM_CHAIN_ID, stubMixHash } from '../proof/sim-work.ts'

interface ProofAuditOptions {
  readonly params: ChainParams
  readonly genesisHash: Hex
  readonly cycleBlocks: number
}

/**
 * Second opinion on the proof headers, payees and cycle seeds of the decided blocks: follows the rules of docs/design/proof-chain.md from
 * the first block on, with no state in between.
 */
export class ProofAudit {
  readonly #options: ProofAuditOptions
  readonly #headers: ProofHeader[] = []
  readonly #ids: Hex[] = []
  /** By block number. */
  readonly #hashes: Hex[]
  readonly #tips: Hex[] = [ZERO_HASH]
  readonly #seeds: Hex[]

  constructor(options: ProofAuditOptions) {
    this.#options = options
    this.#hashes = [options.genesisHash]
    this.#seeds = [seedFrom(options.genesisHash, ZERO_HASH, 0)]
  }

  /** Number of final proof headers. */
  get included(): number {
    return this.#ids.length
  }

  /** Checks a decided block and the seed of its cycle on the node that decided it; null when both follow the rules. */
  fault({ header, hash, proofHeaders }: Block, { proofTip }: ExtraData, seed: Hex): string | null {
    const { number, miner } = header
    // Another member decided it before; a fork is the business of other checks.
    if (number !== this.#hashes.length) return this.#seedFault(number, seed)
    if (miner !== (this.#headers.at(-1)?.coinbase ?? ZERO_ADDRESS)) return 'it names another miner than that of the tip'
    if (proofHeaders.length > 2) return 'it has more than two proof headers'
    for (const bytes of proofHeaders) {
      const included = decodeProofHeader(bytes)
      const fault = this.#headerFault(included, number)
      if (fault !== null) return `proof header ${included.height}: ${fault}`
      this.#headers.push(included)
      this.#ids.push(proofHeaderId(included))
    }
    const tip = this.#ids.at(-1) ?? ZERO_HASH
    if (proofTip !== tip) return 'its proof tip is not that of its headers'
    this.#hashes.push(hash)
    this.#tips.push(tip)
    return this.#seedFault(number, seed)
  }

  #headerFault(header: ProofHeader, including: number): string | null {
    const { proofChain, forks } = this.#options.params
    const { parentId, height, version, anchorNumber, anchorHash, target, coinbase } = header
    const parent = this.#headers.at(-1)
    if (this.#ids.includes(proofHeaderId(header))) return 'it was included before'
    if (parentId !== (this.#ids.at(-1) ?? ZERO_HASH) || height !== this.#ids.length + 1)
      return 'it follows no final tip'
    const fork = forks[0]?.height ?? Number.POSITIVE_INFINITY
    if (version !== (height >= fork ? 2 : 1)) return `its version is ${version}`
    if (coinbase === ZERO_ADDRESS) return 'it pays nobody'
    if (anchorNumber <= (parent?.anchorNumber ?? -1)) return 'its anchor is not above that of its parent'
    if (anchorNumber >= including || anchorHash !== this.#hashes[anchorNumber]) return 'its anchor is not committed'
    if (including - anchorNumber > proofChain.maxAnchorAgeBlocks) return 'its anchor is too old'
    const last = { height: parent?.height ?? 0, anchorNumber: parent?.anchorNumber ?? 0 }
    const want = proofTarget(proofChain, version === 2 ? 2 : 1, this.#reference(fork, height), last, anchorNumber)
    if (target !== want) return 'its target is not the expected one'
    return workFault(header)
  }

  /** Genesis of the proof chain; for the second version the last header of the first one, at the easiest target. */
  #reference(fork: number, height: number): TargetReference {
    const { maxTargetBefore, maxTargetAfter } = this.#options.params.proofChain
    if (height < fork) return { height: 0, anchorNumber: 0, target: maxTargetBefore }
    const last = this.#headers[fork - 2]
    return { height: last?.height ?? 0, anchorNumber: last?.anchorNumber ?? 0, target: maxTargetAfter }
  }

  /** The seed of cycle c is made of that of c - 1 and the proof tip after the last block of c - 2. */
  #seedFault(number: number, seed: Hex): string | null {
    const { cycleBlocks } = this.#options
    const cycle = Math.floor((number - 1) / cycleBlocks)
    while (this.#seeds.length <= cycle) {
      const next = this.#seeds.length
      this.#seeds.push(seedFrom(this.#seeds[next - 1] as Hex, this.#tips[(next - 1) * cycleBlocks] as Hex, next))
    }
    return seed === this.#seeds[cycle] ? null : `the seed of cycle ${cycle} is wrong`
  }
}

const workFault = (header: ProofHeader): string | null => {
  const { version, nonce, mixHash, target } = header
  const sealHash = proofSealHash(SIM_CHAIN_ID, header)
  const isMixed =
    version === 1 ? mixHash.byteLength === 0 : bytesEqual(mixHash, stubMixHash(hexToBytes(sealHash), nonce))
  if (!isMixed) return 'its mix hash is wrong'
  const hash = version === 1 ? sha256dHash(sealHash, nonce) : nativeSealHash(sealHash, nonce, mixHash)
  return hash <= target ? null : 'its work is too little'
}

const seedFrom = (before: Hex, tip: Hex, cycle: number): Hex => {
  const word = hexToBytes(`0x${cycle.toString(16).padStart(16, '0')}`)
  return keccak256Hex(concatBytes(hexToBytes(before), hexToBytes(tip), word))
}
