import { quorumOf } from '../../src/consensus/committee.ts'
import type { UnsignedMessage } from '../../src/consensus/core/types.ts'
import type { ConsensusMessage, SignedMessage } from '../../src/consensus/messages.ts'
import type { Block } from '../../src/primitives/block.ts'
import type { Certificate } from '../../src/primitives/certificate.ts'
import { signerIndexes } from '../../src/primitives/certificate.ts'
import type { Hex } from '../../src/util/bytes.ts'

/** Breaking one of these is what the simulation looks for. */
export class Violation extends Error {}

export const GENESIS: Hex = `0x${'00'.repeat(32)}`

export const describeMessage = (message: SignedMessage | UnsignedMessage): string => {
  const place = `${message.type}(${message.number},${message.round})`
  if (message.type === 'proposal') return `${place} ${message.block.hash}`
  if (message.type === 'roundChange')
    return `${place} ${message.prepared?.round ?? '-'} ${message.prepared?.blockHash ?? ''}`
  return `${place} ${message.blockHash}`
}

/** What everybody shares: who signed what, which blocks there are, and the checks of reference/consensus.md 2.1. */
export class World {
  readonly size: number
  readonly members: readonly Hex[]
  readonly byzantine: ReadonlySet<number>
  readonly #proposers = new Map<Hex, Hex>()
  readonly #invalid = new Set<Hex>()
  readonly #signatures = new WeakMap<Uint8Array, { readonly sender: number; readonly text: string }>()
  readonly #said = new Map<string, string>()
  readonly #commits = new Map<string, number>()
  readonly decided = new Map<number, Hex>()
  #blocks = 0

  constructor(size: number, byzantine: ReadonlySet<number>) {
    this.size = size
    this.byzantine = byzantine
    this.members = Array.from({ length: size }, (_, index): Hex => `0x${index.toString(16).padStart(40, '0')}`)
  }

  makeBlock(number: number, parentHash: Hex, proposer: number, valid = true): Block {
    const hash: Hex = `0x${(++this.#blocks).toString(16).padStart(64, '0')}`
    this.#proposers.set(hash, this.members[proposer]!)
    if (!valid) this.#invalid.add(hash)
    return {
      header: { number, parentHash },
      hash,
      transactions: [],
      proofHeaders: [],
      evidence: [],
      size: 0,
    } as unknown as Block
  }

  proposerOf = (block: Block): Hex | undefined => this.#proposers.get(block.hash)
  isValid = (hash: Hex): boolean => !this.#invalid.has(hash)

  sign(message: UnsignedMessage, sender: number): SignedMessage {
    const signature = new Uint8Array(65)
    this.#signatures.set(signature, { sender, text: describeMessage(message) })
    return { ...message, sender, signature } as SignedMessage
  }

  /** What the shell would find out with keys. */
  isSigned(message: ConsensusMessage): boolean {
    if (message.type === 'status' || message.type === 'body') return true
    if (message.type === 'decided') return this.certificateFault(message.block, message.certificate) === null
    const proof = message.type === 'proposal' ? [...message.roundChanges, ...message.prepares] : []
    const prepares = message.type === 'roundChange' ? message.prepares : []
    return [message, ...proof, ...prepares].every(signed => {
      const known = this.#signatures.get(signed.signature)
      return known?.sender === signed.sender && known.text === describeMessage(signed as SignedMessage)
    })
  }

  certificateFault(block: Block, certificate: Certificate): string | null {
    const signers = signerIndexes(certificate)
    if (signers.length < quorumOf(this.size) || signers.length !== certificate.seals.length) return 'no quorum'
    const text = `commit(${block.header.number},${certificate.round}) ${block.hash}`
    const sound = signers.every((sender, at) => {
      const known = this.#signatures.get(certificate.seals[at]!)
      return known?.sender === sender && known.text === text
    })
    return sound ? null : 'foreign seal'
  }

  /** An honest member says this to others: durable first, never two things in one place, never less than it locked. */
  checkSaid(node: number, message: ConsensusMessage, isDurable: boolean): void {
    if (message.type === 'status' || message.type === 'body' || message.type === 'decided') return
    if (message.sender !== node) return
    const place = `${node} ${message.type} ${message.number} ${message.round}`
    const text = describeMessage(message)
    const before = this.#said.get(place)
    if (before !== undefined && before !== text) throw new Violation(`member ${node} said ${before} and ${text}`)
    this.#said.set(place, text)
    if (!isDurable) throw new Violation(`member ${node} sent ${text} before it was durable`)
    const locked = `${node} ${message.number}`
    if (message.type === 'commit') this.#commits.set(locked, Math.max(this.#commits.get(locked) ?? -1, message.round))
    const lock = this.#commits.get(locked) ?? -1
    if (message.type === 'roundChange' && message.round > lock && (message.prepared?.round ?? -1) < lock) {
      throw new Violation(`member ${node} forgot its commit of round ${lock}: ${text}`)
    }
  }

  checkDecided(node: number, block: Block, certificate: Certificate): void {
    const { number } = block.header
    const known = this.decided.get(number)
    if (known !== undefined && known !== block.hash) {
      throw new Violation(`member ${node} decided ${block.hash} at ${number}, others ${known}`)
    }
    this.decided.set(number, block.hash)
    if (!this.isValid(block.hash)) throw new Violation(`member ${node} decided an invalid block at ${number}`)
    const fault = this.certificateFault(block, certificate)
    if (fault !== null) throw new Violation(`member ${node} has a certificate at ${number}: ${fault}`)
  }
}
