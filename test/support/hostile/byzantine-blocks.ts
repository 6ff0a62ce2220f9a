import { bytesEqual, EMPTY_BYTES, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { UNBOUNDED_GAS } from '../../../src/config/networks.ts'
import { keccak256Hex } from '../../../src/crypto/hash.ts'
import { addressFromPrivateKey } from '../../../src/crypto/signature.ts'
import type { BlockEnv } from '../../../src/evm/block-env.ts'
import type { EngineMessage, EngineResult } from '../../../src/evm/engine.ts'
import type { BuildBudget, TransactionSource } from '../../../src/evm/executor-types.ts'
import type { Header } from '../../../src/primitives/header.ts'
import { type Transaction, withSender } from '../../../src/primitives/transaction/transaction.ts'
import { signedBy } from '../signed-by.ts'
import { PROGRAMS, type ProgramName } from './programs.ts'

/** Kind of block that a Byzantine node proposes. */
export type ByzantineBlockKind =
  /** As much as a block may hold, and right. */
  | 'valid'
  /** The same with a state root that is not its own: nobody knows before all of it has run. */
  | 'wrong root'
  /** Sixty transactions, and a header that says so. */
  | 'beyond the bound'
  /** Sixty transactions, and a header that names less gas than the first of them uses. */
  | 'understated'

interface ByzantineBlockOptions {
  /** Whose money it spends. */
  readonly keys: readonly Hex[]
  /** One after the other, a turn each. */
  readonly kinds: readonly ByzantineBlockKind[]
  readonly programs: readonly ProgramName[]
}

const TRANSACTION_GAS = 100_000_000n
const OF_A_BLOCK = 4
const BEYOND = 60
const DAY_MS = 86_400_000
const WRONG: Hex = `0x${'11'.repeat(32)}`

/** Byzantine blocks of one node, called from its patched sources. */
export class ByzantineBlocks {
  readonly #options: ByzantineBlockOptions
  #turns = 0
  #kind: ByzantineBlockKind = 'valid'

  constructor(options: ByzantineBlockOptions) {
    this.#options = options
  }

  /** Its candidates for a block: endless transactions, each of which uses all its gas. */
  candidates(env: BlockEnv, journal: { nonce(address: Hex): number }): TransactionSource {
    const { kinds, programs, keys } = this.#options
    this.#kind = kinds[this.#turns % kinds.length] ?? 'valid'
    const program = PROGRAMS[programs[this.#turns % programs.length] ?? 'loop']
    this.#turns++
    const count = this.ignoresTheBound() ? BEYOND : OF_A_BLOCK
    const nonces = new Map<Hex, number>()
    const waiting = Array.from({ length: count }, (_, at) => {
      const key = hexToBytes(keys[at % keys.length] as Hex)
      const from = addressFromPrivateKey(key)
      const nonce = nonces.get(from) ?? journal.nonce(from)
      nonces.set(from, nonce + 1)
      return endless(key, from, { nonce, data: program, env })
    })
    return { next: () => waiting.shift(), skipSender: () => {} }
  }

  budget(budget: BuildBudget): BuildBudget {
    return { ...budget, deadlineMs: Number.MAX_SAFE_INTEGER, transactionMs: DAY_MS, maxGas: UNBOUNDED_GAS }
  }

  /** Reports the gas of this block to the test that started the node. */
  header(header: Header): Header {
    process.stderr.write(`byzantine block: ${this.#kind}, ${header.gasUsed} gas\n`)
    if (this.#kind === 'wrong root') return { ...header, stateRoot: WRONG }
    return this.#kind === 'understated' ? { ...header, gasUsed: 21_000n } : header
  }

  /** It runs out of gas. */
  resultOf({ to, data, gas }: EngineMessage): EngineResult | undefined {
    if (to !== null || !Object.values(PROGRAMS).some(program => bytesEqual(program, data))) return undefined
    const failure = { kind: 'halt', reason: 'out of gas' } as const
    return { gasUsed: gas, refund: 0n, output: EMPTY_BYTES, logs: [], created: null, destroyed: [], failure }
  }

  ignoresTheBound(): boolean {
    return this.#kind === 'beyond the bound' || this.#kind === 'understated'
  }
}

const endless = (
  key: Uint8Array,
  from: Hex,
  { nonce, data, env }: { readonly nonce: number; readonly data: Uint8Array; readonly env: BlockEnv },
): Transaction => {
  const price = env.baseFeePerGas
  const unsigned = {
    type: 0,
    chainId: env.params.chainId,
    nonce,
    gasLimit: TRANSACTION_GAS,
    maxFeePerGas: price,
    maxPriorityFeePerGas: price,
    to: null,
    value: 0n,
    data,
    accessList: [],
  } as const
  const decoded = signedBy(unsigned, key)
  return withSender(decoded, { hash: keccak256Hex(decoded.raw), from })
}

/** Environment variables that make a process a Byzantine node. */
export const byzantineEnv = (options: ByzantineBlockOptions): NodeJS.ProcessEnv => ({
  NODE_OPTIONS: `--import=${new URL('./byzantine-node.ts', import.meta.url).pathname}`,
  BYZANTINE_BLOCKS: JSON.stringify(options),
})
