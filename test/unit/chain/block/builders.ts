import { EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { NETWORKS } from '../../../../src/config/networks.ts'
import { AdaptiveBuildBudget } from '../../../../src/consensus/timing/build-budget.ts'
import type { BlockEnv } from '../../../../src/evm/block-env.ts'
import type {
  Engine,
  EngineMessage,
  EngineOptions,
  EngineResult,
  InterruptedError,
} from '../../../../src/evm/engine.ts'
import { createExecutor } from '../../../../src/evm/engines/executor.ts'
import type { Transaction } from '../../../../src/primitives/transaction/transaction.ts'
import { Journal } from '../../../../src/state/journal/journal.ts'
import { TxPool } from '../../../../src/txpool/pool.ts'
import { PoolService } from '../../../../src/txpool/pool-service.ts'
import { env } from '../../evm/world.ts'
import { MemoryState, memoryAccount } from '../../state/memory-state.ts'
import { Accounts, address, FLOOR, transaction } from '../../txpool/fixtures.ts'

/** Processor time and gas of a message of so much gas in a block. */
export type Program = (gas: bigint, number: number) => { readonly ms: number; readonly gas: bigint }

/** Endless loop of a kind of work: it takes all gas, at so many milliseconds a million. */
export const endless =
  (msPerMillionGas: number): Program =>
  gas => ({ ms: (Number(gas) / 1e6) * msPerMillionGas, gas })
export const work =
  (ms: number, gas: bigint): Program =>
  () => ({ ms, gas })

/** Engine whose programs move a clock: wall time and processor time, apart where the machine has other work. */
class ProgramEngine implements Engine {
  readonly name = 'programs'
  readonly programs = new Map<Hex, Program>()
  wallMs = 0
  cpuMs = 0
  /** Wall time of a millisecond of work. */
  load = 1

  run(_: Journal, { number }: BlockEnv, message: EngineMessage, { interrupt }: EngineOptions = {}): EngineResult {
    const program = this.programs.get(message.to as Hex)
    const { ms, gas } = program?.(message.gas, number) ?? { ms: 0, gas: 0n }
    for (let left = ms; left > 0; left--) {
      this.cpuMs += Math.min(1, left)
      this.wallMs += Math.min(1, left) * this.load
      if (interrupt?.shouldStop()) throw new CodedError<InterruptedError>({ code: 'EXECUTION_INTERRUPTED' })
    }
    const result = { refund: 0n, output: EMPTY_BYTES, logs: [], created: null, destroyed: [], failure: null }
    return { ...result, gasUsed: gas < message.gas ? gas : message.gas }
  }
}

interface Proposer {
  readonly pool: TxPool
  readonly service: PoolService
  readonly budget: AdaptiveBuildBudget
}

interface Sent {
  readonly at: number
  readonly label: string
}

/** Validators that build in turn, each from its own pool and within its own budget, on a clock that only their programs move. */
export class Builders {
  readonly engine = new ProgramEngine()
  readonly proposers: readonly Proposer[]
  readonly accounts = new Accounts()
  /** Transactions of each block by label, in order. */
  readonly blocks: (readonly string[])[] = []
  /** Blocks that each transaction waited, by label. */
  readonly waited = new Map<string, number[]>()
  /** Milliseconds that each build took. */
  readonly took: number[] = []
  readonly #executor = createExecutor({ mode: 'wasm', logger: silentLogger, engine: this.engine })
  readonly #state = new MemoryState()
  readonly #sent = new Map<Hex, Sent>()
  readonly #params = { ...NETWORKS.devnet, roundTimeoutMs: 2_000 }
  #accounts = 0x1000
  nowMs = 0

  constructor(count = 4) {
    const params = this.#params
    const clock = { nowMs: () => this.engine.wallMs, schedule: () => () => {} }
    const recovery = { recoverMany: () => Promise.reject(new Error('transactions are admitted with their senders')) }
    this.proposers = Array.from({ length: count }, () => {
      const pool = new TxPool({ params, accounts: this.accounts, number: 1, baseFee: FLOOR })
      const service = new PoolService({ pool, recovery, clock, logger: silentLogger })
      return { pool, service, budget: new AdaptiveBuildBudget(params.roundTimeoutMs) }
    })
  }

  get number(): number {
    return this.blocks.length + 1
  }

  /** Returns a new account with the default balance. */
  account(): Hex {
    const who = address(this.#accounts++)
    this.#state.accounts.set(who, memoryAccount({ balance: 1_000n * 10n ** 18n }))
    return who
  }

  /** True for an account whose transactions are all included. */
  isIdle(from: Hex): boolean {
    return (this.#proposerOf(this.number).pool.nextNonce(from) as number) === this.accounts.nonce(from)
  }

  contract(program: Program): Hex {
    const at = address(this.#accounts++)
    this.#state.accounts.set(at, memoryAccount({ nonce: 1, codeHash: `0x${'c0'.repeat(32)}` }))
    this.engine.programs.set(at, program)
    return at
  }

  /** Sends a transaction to every pool. `tip` in gwei above the base fee. */
  send(label: string, { from = this.account(), to, gas, tip }: { from?: Hex; to: Hex; gas: bigint; tip: bigint }): Hex {
    const nonce = this.accounts.nonce(from)
    const maxFeePerGas = FLOOR + tip * 10n ** 9n
    const tx = transaction({ from, nonce, to, gasLimit: gas, maxFeePerGas })
    for (const { pool } of this.proposers) pool.admit(tx, 'remote')
    this.#sent.set(tx.hash, { at: this.number, label })
    return from
  }

  /** Builds the next block. */
  async block(): Promise<void> {
    const { number, engine } = this
    const { service, budget } = this.#proposerOf(number)
    engine.wallMs = this.nowMs
    const params = this.#params
    const limits = {
      maxBytes: 4 * 1024 * 1024,
      nowMs: () => engine.wallMs,
      cpuMs: () => engine.cpuMs,
      deadlineMs: engine.wallMs + budget.ms,
      transactionMs: budget.transactionMs,
      transferMs: budget.ms / 5,
      maxGas: (params.maxBlockExecutionGas * BigInt(Math.ceil(budget.gasShare * 1_000))) / 1_000n,
    }
    const journal = new Journal(this.#state)
    const source = service.candidates(FLOOR)
    const { transactions } = await this.#executor.build(journal, env({ number, params }), source, limits, [])
    const tookMs = engine.wallMs - this.nowMs
    this.took.push(tookMs)
    this.#commit(transactions)
    for (const proposer of this.proposers) proposer.budget.decided(2 * tookMs)
  }

  #proposerOf(number: number): Proposer {
    return this.proposers[number % this.proposers.length] as Proposer
  }

  #commit(transactions: readonly Transaction[]): void {
    for (const { from, hash } of transactions) {
      const nonce = Number(this.accounts.nonce(from)) + 1
      this.accounts.nonces.set(from, nonce)
      this.#state.accounts.set(from, memoryAccount({ balance: 1_000n * 10n ** 18n, nonce }))
      const { at, label } = this.#sent.get(hash) as Sent
      this.waited.set(label, [...(this.waited.get(label) ?? []), this.number - at])
    }
    const { number } = this
    this.blocks.push(transactions.map(({ hash }) => (this.#sent.get(hash) as Sent).label))
    this.nowMs += 1_000
    for (const { pool } of this.proposers)
      pool.onBlock({ number, transactions, baseFee: FLOOR, nowMs: this.nowMs, touched: [] })
  }
}
