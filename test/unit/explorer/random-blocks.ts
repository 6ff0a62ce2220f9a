import { type Hex, hexToBytes, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { createRandom, type Random } from '@tandem/base/random.ts'
import {
  type BlockRecord,
  type InternalRecord,
  type ProofRecord,
  TOKEN_STANDARDS,
  type TransactionRecord,
  type TransferRecord,
} from '@tandem/explorer/store/records.ts'
import type { FailedExecution } from '../../../src/primitives/receipt/failed-execution.ts'
import { INTERNAL_KINDS } from '../../../src/primitives/receipt/internal-transfer.ts'

const hexOf = (kind: string, number: number, bytes: number): Hex =>
  `0x${kind}${number.toString(16).padStart(2 * bytes - kind.length, '0')}`

export const addressOf = (number: number): Hex => hexOf('a', number, 20)
/** Contract that other contracts create. */
export const contractOf = (number: number): Hex => hexOf('f', number, 20)
export const tokenOf = (number: number): Hex => hexOf('c', number, 20)

/** A revert with a text, an error of a contract, or an end without data. */
const failedOf = (number: number, transactionIndex: number): FailedExecution => {
  const choice = (number + transactionIndex) % 3
  if (choice === 0) return { transactionIndex, error: 'out of gas', output: new Uint8Array() }
  const output =
    choice === 1 ? `0x08c379a0${'0'.repeat(62)}20${'0'.repeat(62)}02${'6e6f'.padEnd(64, '0')}` : '0x5c0dee5d'
  return { transactionIndex, error: 'execution reverted', output: hexToBytes(output as Hex) }
}

interface RandomBlocksOptions {
  readonly seed: number
  /** Told apart from the blocks of another fork by their hashes. */
  readonly fork?: number
  readonly addresses?: number
  readonly tokens?: number
  readonly transactions?: number
}

/** Blocks that follow each other, the same ones for the same seed. */
export class RandomBlocks {
  readonly #random: Random
  readonly #options: Required<RandomBlocksOptions>

  constructor(options: RandomBlocksOptions) {
    this.#options = { fork: 0, addresses: 30, tokens: 5, transactions: 8, ...options }
    this.#random = createRandom(options.seed)
  }

  /** The block behind `parent`; genesis without one. */
  next(parent: Pick<BlockRecord, 'number' | 'hash' | 'timestamp'> | undefined): BlockRecord {
    const random = this.#random
    const number = (parent?.number ?? -1) + 1
    // A few blocks make a day, and sometimes days go by.
    const timestamp = (parent?.timestamp ?? 1_700_000_000) + (random.below(20) === 0 ? 400_000 : random.below(20_000))
    const count = number === 0 ? 0 : random.below(this.#options.transactions + 1)
    const transactions = Array.from({ length: count }, (_, index) => this.#transaction(number, index))
    const transfers = transactions.flatMap(({ kind }, index) => (kind === 'token' ? this.#transfers(index) : []))
    return {
      number,
      hash: hexOf(`b${this.#options.fork}`, number, 32),
      parentHash: parent?.hash ?? hexOf('', 0, 32),
      timestamp,
      proposer: addressOf(random.below(3)),
      miner: random.below(2) === 0 ? ZERO_ADDRESS : addressOf(random.below(3)),
      gasUsed: BigInt(count) * 21_000n,
      gasLimit: 999_999_999_999n,
      baseFeePerGas: 25_000_000_000n,
      size: 600 + count * 120,
      feesWei: BigInt(count) * 525_000_000_000_000n,
      burntWei: BigInt(count) * 262_500_000_000_000n,
      mintedWei: 0n,
      proposerWei: BigInt(random.below(1_000)) * 10n ** 20n,
      minerWei: BigInt(random.below(1_000)) * 10n ** 20n,
      minerCredits:
        number % 7 === 6
          ? [0, 1, 3].map(at => ({ address: addressOf(at), amountWei: BigInt(1 + random.below(1_000)) * 10n ** 19n }))
          : [],
      cycle: Math.floor(number / 7),
      transactions,
      transfers: transfers.map((transfer, logIndex) => ({ ...transfer, logIndex })),
      internal: transactions.flatMap(({ kind, index }) => (kind === 'call' ? this.#internal(index) : [])),
      failed: transactions.flatMap(({ status, index }) => (status === 0 ? [failedOf(number, index)] : [])),
      proofs: random.below(4) === 0 ? [this.#proof(number, timestamp)] : [],
    }
  }

  /** Blocks behind `parent`, in order. */
  chain(length: number, parent?: BlockRecord): BlockRecord[] {
    const blocks: BlockRecord[] = []
    let last = parent
    for (let i = 0; i < length; i++) {
      last = this.next(last)
      blocks.push(last)
    }
    return blocks
  }

  #transaction(number: number, index: number): TransactionRecord {
    const random = this.#random
    const kind = (['transfer', 'call', 'create', 'token', 'token'] as const)[
      random.below(5)
    ] as TransactionRecord['kind']
    const failed = random.below(8) === 0
    return {
      index,
      hash: hexOf(`d${this.#options.fork}`, number * 1_000 + index, 32),
      from: this.#someone(),
      to: kind === 'create' ? null : this.#someone(),
      created: kind === 'create' && !failed ? hexOf(`e${this.#options.fork}`, number * 1_000 + index, 20) : null,
      value: BigInt(random.below(1_000_000)) * 10n ** 15n,
      gas: 100_000n,
      gasUsed: 21_000n,
      gasPrice: 25_000_000_000n,
      nonce: random.below(1_000),
      type: random.below(3),
      status: failed ? 0 : 1,
      kind,
      methodId: kind === 'transfer' ? null : '0xa9059cbb',
    }
  }

  #transfers(transactionIndex: number): Omit<TransferRecord, 'logIndex'>[] {
    const random = this.#random
    return Array.from({ length: 1 + random.below(3) }, () => {
      const token = random.below(this.#options.tokens)
      const one = random.below(5)
      // The last token logs transfers of two standards.
      const isOdd = token === this.#options.tokens - 1 && one > 2
      const standard = TOKEN_STANDARDS[(token + (isOdd ? 1 : 0)) % 3] as TransferRecord['standard']
      return {
        position: 0,
        transactionIndex,
        standard,
        token: tokenOf(token),
        from: one === 0 ? ZERO_ADDRESS : this.#someone(),
        to: one === 1 ? ZERO_ADDRESS : this.#someone(),
        // A hostile token logs more than there can be.
        amount: standard === 'ERC-721' ? 1n : random.below(10) === 0 ? 2n ** 256n - 1n : BigInt(random.below(1_000)),
        tokenId: standard === 'ERC-20' ? null : BigInt(random.below(50)),
      }
    })
  }

  #internal(transactionIndex: number): InternalRecord[] {
    const random = this.#random
    return Array.from({ length: random.below(4) }, (_, position) => {
      const kind = INTERNAL_KINDS[random.below(3)] as InternalRecord['kind']
      // A self-destruct makes room for another creation at the same address.
      const to = kind === 'create' ? contractOf(random.below(6)) : this.#someone()
      return { transactionIndex, position, kind, from: contractOf(random.below(6)), to, value: BigInt(random.below(9)) }
    })
  }

  #proof(number: number, timestamp: number): ProofRecord {
    const random = this.#random
    return {
      height: number,
      id: hexOf(`9${this.#options.fork}`, number, 32),
      miner: addressOf(random.below(4)),
      timestamp: timestamp - random.below(300),
      difficulty: 2n ** 70n + BigInt(random.below(1_000)),
      nonce: hexOf('', random.below(1_000), 8),
      algorithm: 'sha256d',
    }
  }

  #someone(): Hex {
    return addressOf(this.#random.below(this.#options.addresses))
  }
}
