import { type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import { emptyBlock } from '../../../devtools/sim/block.ts'
import { keccak256 } from '../../../src/crypto/hash.ts'
import { type Block, blockFromParts, encodeBlock } from '../../../src/primitives/block.ts'
import { type ProposalHead, proposalDigest } from '../../../src/primitives/consensus/proposal.ts'
import type { SigningDomain, ValidatorSigner } from '../../../src/primitives/consensus/vote.ts'
import type { Header } from '../../../src/primitives/header.ts'
import { transactionsRoot } from '../../../src/primitives/roots.ts'
import { decodeTransaction, type Transaction } from '../../../src/primitives/transaction/transaction.ts'
import { proposerIndex } from '../../../src/rules/council/proposer-turns.ts'
import { signedRaw } from '../chain.ts'
import { wire } from '../network/raw-peer.ts'

/** Well-formed transactions that cost a recovery each, about 110 bytes long. */
export const manyTransactions = (count: number): readonly Transaction[] => {
  const key = keccak256(new TextEncoder().encode('byzantine'))
  const decoded = decodeTransaction(signedRaw(key, { nonce: 1 }))
  // A recovery has to be done to find out whose they are, so one signature does for all.
  return Array.from({ length: count }, () => ({ ...decoded, from: '0x' as Hex }) as unknown as Transaction)
}

const ROOTS = new WeakMap<readonly Transaction[], Hex>()

/** So many make a body of 3.2 MB. */
export const MANY = 31_000

interface HostileBlock {
  readonly number: number
  readonly parentHash?: Hex
  readonly round?: number
  readonly transactions?: readonly Transaction[]
  /** Tells blocks of one place apart. */
  readonly salt?: number
  /** false: 65 bytes that are no signature of anybody. */
  readonly isSigned?: boolean
}

/** A committee member that says what a test wants, with the key of one or without. */
export class ByzantineMember {
  readonly signer: ValidatorSigner
  readonly index: number
  readonly #domain: SigningDomain
  readonly #size: number

  constructor(
    signer: ValidatorSigner,
    { index, size, domain }: { index: number; size: number; domain: SigningDomain },
  ) {
    this.signer = signer
    this.index = index
    this.#size = size
    this.#domain = domain
  }

  /** The first round of a height in which it is its turn. */
  roundOf(number: number): number {
    for (let round = 0; ; round++)
      if (proposerIndex({ members: [], proposers: this.#size }, number, round) === this.index) return round
  }

  block({ number, parentHash = ZERO_HASH, transactions = [], salt = 0 }: HostileBlock): Block {
    const fields = { number, parentHash, timestamp: number + salt }
    const { header } = emptyBlock(fields, { proposer: this.signer.address, parentCertificate: null })
    const full: Header = { ...header, transactionsRoot: this.#rootOf(transactions) }
    return blockFromParts(full, { transactions, proofHeaders: [], evidence: [] })
  }

  /** Of a long list a root takes longer than all the rest. */
  #rootOf(transactions: readonly Transaction[]): Hex {
    const root = ROOTS.get(transactions) ?? transactionsRoot(transactions)
    ROOTS.set(transactions, root)
    return root
  }

  head(block: Block, { number, round = this.roundOf(number), isSigned = true }: HostileBlock): ProposalHead {
    const unsigned = { number, round, blockHash: block.hash, roundChanges: [], prepares: [] }
    const signature = isSigned ? this.signer.sign(proposalDigest(this.#domain, unsigned)) : new Uint8Array(65).fill(1)
    return { type: 'proposal', ...unsigned, sender: this.index, signature }
  }

  /** A proposal on the wire. */
  proposal(hostile: HostileBlock): Uint8Array {
    const block = this.block(hostile)
    return wire('proposal', { head: this.head(block, hostile), block: encodeBlock(block) })
  }
}
