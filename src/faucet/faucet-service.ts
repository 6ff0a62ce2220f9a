import { createHash, randomBytes } from 'node:crypto'
import { waitUntil } from '@tandem/base/async/delay.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { type CodedError, isCoded } from '@tandem/base/errors.ts'
import { FAUCET_LIMITS, type FaucetPolicy } from '../config/limits/faucet.ts'
import type { Metrics } from '../metrics/registry.ts'
import { parseRecipient } from './address-form.ts'
import { createFaucetBalance, type FaucetBalance } from './balance.ts'
import { type FaucetRefusal, refusalError } from './grant-rule.ts'
import type { Grant, GrantStore } from './grant-store.ts'
import { createFaucetLedger, type FaucetLedger } from './ledger.ts'
import { createProofOfWork, type WorkPuzzle, type WorkSolution, workBitsOf } from './proof-of-work.ts'
import { FaucetSender, type SenderOptions } from './sender.ts'

type FaucetMetrics = ReturnType<typeof createFaucetMetrics>

const createFaucetMetrics = (metrics: Metrics, store: GrantStore, balance: FaucetBalance) => {
  metrics.readGauge('faucet_balance_wei', 'Balance of the faucet when it was last read', () => Number(balance.wei))
  metrics.readGauge('faucet_low_balance_state', '1: less than two days of the outflow are left', () =>
    Number(balance.isLow),
  )
  metrics.readGauge('faucet_unsettled_transactions', 'Grants that no block includes yet', () => store.unsettled())
  return {
    grants: metrics.counter({ name: 'faucet_grants_total', help: 'Grants reserved' }),
    refusals: metrics.counter({
      name: 'faucet_refusals_total',
      help: 'Requests refused, by reason',
      labels: ['reason'],
    }),
  }
}

/** Parts of the faucet, its policy, and the metrics where they are wanted. */
export interface FaucetServiceOptions extends SenderOptions {
  readonly policy: FaucetPolicy
  readonly metrics?: Metrics
}

/** Request as it came in; nothing of it was checked. */
interface FaucetRequest {
  readonly address: unknown
  readonly work: WorkSolution | undefined
  /** Address of the client. */
  readonly client: string
}

/** Grant in a response. */
export interface GrantAnswer {
  readonly address: Hex
  /** undefined: the transfer is not sent yet. */
  readonly hash: Hex | undefined
  readonly nextMs: number
}

const { waiting, waitMs, watchMs } = FAUCET_LIMITS
const CLIENT_CHARS = 16

/** Serves requests: form, rule, balance, then the reservation; the sender pays. */
export class FaucetService {
  readonly #options: FaucetServiceOptions
  readonly #ledger: FaucetLedger
  readonly #balance: FaucetBalance
  readonly #sender: FaucetSender
  readonly #work = createProofOfWork(randomBytes(32))
  readonly #metrics: FaucetMetrics | undefined
  readonly #stopping = new AbortController()
  #watching: Promise<void> | undefined
  #waiting = 0

  constructor(options: FaucetServiceOptions) {
    this.#options = options
    const { store, policy, clock, metrics, account } = options
    this.#ledger = createFaucetLedger(store, policy, clock)
    this.#balance = createFaucetBalance({ ...options, address: account.address, granted: () => this.#ledger.granted() })
    this.#sender = new FaucetSender(options)
    this.#metrics = metrics && createFaucetMetrics(metrics, store, this.#balance)
  }

  get address(): Hex {
    return this.#options.account.address
  }

  /** Goes on with the grants of an earlier process. */
  start(): void {
    this.#sender.start()
    this.#watching ??= this.#watchBalance()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all([this.#sender.stop(), this.#watching])
    this.#options.store.close()
  }

  puzzle(): WorkPuzzle {
    return this.#work.puzzle(this.#ledger.nowMs(), this.#bits())
  }

  /** Last grant of an address. */
  grant(address: Hex): Grant | undefined {
    return this.#options.store.find(address)
  }

  /** Grants 10 tokens. Throws CodedError<FaucetRefusal>. */
  async request(request: FaucetRequest): Promise<GrantAnswer> {
    if (this.#waiting >= waiting) throw this.#count(refusalError({ code: 'FAUCET_BUSY' }))
    this.#waiting++
    try {
      return await this.#answer(request)
    } catch (error) {
      throw isCoded(error) ? this.#count(error) : error
    } finally {
      this.#waiting--
    }
  }

  async #answer({ address: input, work, client }: FaucetRequest): Promise<GrantAnswer> {
    const address = parseRecipient(input, this.address)
    if (work !== undefined) this.#work.check(address, work, this.#ledger.nowMs(), this.#bits())
    const request = { address, client: shortHash(client), hasWork: work !== undefined }
    await this.#forgetReversed(address)
    // Before the node gets a request, so that a refusal costs it nothing.
    this.#ledger.check(request)
    await this.#checkNode(address)
    // From here to the reservation nothing is awaited: no other request comes between.
    if (!this.#balance.pays(this.#options.store.unsettled() + 1)) throw refusalError({ code: 'FAUCET_EMPTY' })
    const nextMs = this.#ledger.reserve(request)
    this.#metrics?.grants.inc()
    const sent = this.#sender.sentTo(address)
    this.#sender.wake()
    return { address, hash: await this.#inTime(sent), nextMs }
  }

  /** Forgets a grant whose transfer is in no block any more, where blocks may be taken back. */
  async #forgetReversed(address: Hex): Promise<void> {
    const { store, node, policy } = this.#options
    const last = policy.followsReversals ? store.find(address) : undefined
    if (last?.state !== 'settled' || last.hash === undefined) return
    try {
      if ((await node.blockOf(last.hash)) === undefined) store.forget(address, last.hash)
    } catch (error) {
      // The node is away, which the check of the address tells.
      if (!isCoded(error)) throw error
    }
  }

  /** Reads the balance now and then, so that the alarm needs no request. */
  async #watchBalance(): Promise<void> {
    const { clock } = this.#options
    while (!this.#stopping.signal.aborted) {
      await this.#balance.refresh().catch(error => {
        // The sender tells that the node is away.
        if (!isCoded(error)) throw error
      })
      await waitUntil(clock, clock.nowMs() + watchMs, this.#stopping.signal)
    }
  }

  async #checkNode(address: Hex): Promise<void> {
    const { node } = this.#options
    try {
      const [isContract] = await Promise.all([node.isContract(address), this.#balance.refresh()])
      if (!isContract) return
    } catch (error) {
      if (!isCoded(error)) throw error
      throw refusalError({ code: 'NODE_AWAY', reason: error.message })
    }
    throw refusalError({
      code: 'ADDRESS_INVALID',
      reason: 'This is the address of a contract. Only accounts without code are paid.',
    })
  }

  async #inTime(sent: Promise<Hex>): Promise<Hex | undefined> {
    const { clock } = this.#options
    const late = Promise.withResolvers<undefined>()
    const cancel = clock.schedule(clock.nowMs() + waitMs, () => late.resolve(undefined))
    return Promise.race([sent, late.promise]).finally(cancel)
  }

  #bits(): number {
    return workBitsOf(this.#options.policy, this.#ledger.granted())
  }

  #count(error: CodedError): CodedError {
    this.#metrics?.refusals.inc({ reason: error.code.toLowerCase() })
    return error
  }
}

/** Clients are stored as hashes: the file has no list of clients. */
const shortHash = (client: string): string =>
  createHash('sha256').update(`faucet:${client}`).digest('hex').slice(0, CLIENT_CHARS)

export const isRefusal = (error: unknown): error is CodedError<FaucetRefusal> => isCoded(error)
