import { FAUCET_LIMITS } from '../../config/limits/faucet.ts'
import { waitUntil } from '../../util/async/delay.ts'
import type { Hex } from '../../util/bytes.ts'
import type { Clock } from '../../util/clock.ts'
import { isCoded } from '../../util/errors.ts'
import type { Logger } from '../../util/logger.ts'
import type { GrantStore, SignedGrant } from '../store/grant-store.ts'
import type { FaucetNode } from './faucet-node.ts'
import type { FaucetAccount } from './transfer.ts'

interface SenderOptions {
  readonly store: GrantStore
  readonly node: FaucetNode
  readonly account: FaucetAccount
  /** Least gas price of the chain. */
  readonly floorWei: bigint
  readonly clock: Clock
  readonly logger: Logger
}

const { pollMs, rebroadcastMs, unsettled, lostRounds } = FAUCET_LIMITS

/**
 * Pays reserved grants, one after the other: signs with the next nonce, stores the bytes, then sends them, and sends the same bytes again
 * until a block includes them. After a restart it goes on with what the store holds.
 */
export class FaucetSender {
  readonly #options: SenderOptions
  /** Times of sending by this process. */
  readonly #sentMs = new Map<Hex, number>()
  /** Rounds in which a transfer had a used nonce and no receipt. */
  readonly #missing = new Map<Hex, number>()
  readonly #waiting = new Map<Hex, ((hash: Hex) => void)[]>()
  readonly #stopping = new AbortController()
  #wake = new AbortController()
  #running: Promise<void> | undefined
  #failure = ''

  constructor(options: SenderOptions) {
    this.#options = options
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** A grant was reserved. */
  wake(): void {
    this.#wake.abort()
  }

  /** Resolves with the hash of the next transfer to an address that is sent. */
  sentTo(address: Hex): Promise<Hex> {
    return new Promise(resolve => this.#waiting.set(address, [...(this.#waiting.get(address) ?? []), resolve]))
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#wake.abort()
    await this.#running
  }

  /** One round: settles and sends again what is signed, then signs and sends what is reserved. Throws the node's errors. */
  async round(): Promise<void> {
    await this.#follow()
    await this.#pay()
  }

  async #run(): Promise<void> {
    const { clock } = this.#options
    while (!this.#stopping.signal.aborted) {
      this.#wake = new AbortController()
      await this.#tryRound()
      if (this.#stopping.signal.aborted) return
      await waitUntil(clock, clock.nowMs() + pollMs, this.#wake.signal)
    }
  }

  /** Without unsettled grants the node is not asked. */
  async #tryRound(): Promise<void> {
    if (this.#options.store.unsettled() === 0) return
    try {
      await this.round()
      this.#failure = ''
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      // Logged once, however long the node is away.
      if (reason !== this.#failure) this.#options.logger.warn({ reason }, 'transfers wait: the node does not take them')
      this.#failure = reason
    }
  }

  async #follow(): Promise<void> {
    const { store, node, account } = this.#options
    const signed = store.signed()
    if (signed.length === 0) return
    // Read before the receipts: a transfer without one then, whose nonce is used, is not the one that used it.
    const used = await node.nonce(account.address, 'latest')
    for (const grant of signed) {
      if (grant.nonce >= used) await this.#send(grant)
      else await this.#settle(grant)
    }
  }

  async #settle(grant: SignedGrant): Promise<void> {
    const { store, node, logger } = this.#options
    const block = await node.blockOf(grant.hash)
    if (block !== undefined) {
      store.settle(grant, block)
      this.#forget(grant.hash)
      logger.debug({ address: grant.address, hash: grant.hash, block }, 'grant paid')
      return
    }
    const rounds = (this.#missing.get(grant.hash) ?? 0) + 1
    this.#missing.set(grant.hash, rounds)
    if (rounds < lostRounds) return
    logger.warn(
      { nonce: grant.nonce },
      "another transaction of the faucet's key took this nonce; the grant is signed again",
    )
    store.release(grant)
    this.#forget(grant.hash)
  }

  async #pay(): Promise<void> {
    const { store, node, account, floorWei } = this.#options
    const signed = store.signed()
    const addresses = store.reserved(Math.max(0, unsettled - signed.length))
    if (addresses.length === 0) return
    const [pending, offered] = await Promise.all([node.nonce(account.address, 'pending'), node.gasPrice()])
    const gasPrice = offered > floorWei ? offered : floorWei
    // The pool of the node may have lost what was signed before.
    let nonce = Math.max(pending, (signed.at(-1)?.nonce ?? -1) + 1)
    for (const address of addresses) {
      const grant = { address, nonce, ...account.transfer({ to: address, nonce, gasPrice }) }
      store.sign(grant)
      nonce++
      await this.#send(grant)
    }
  }

  async #send({ address, raw, hash }: SignedGrant): Promise<void> {
    const { node, clock, logger } = this.#options
    const nowMs = clock.nowMs()
    const sentMs = this.#sentMs.get(hash)
    if (sentMs !== undefined && Math.abs(nowMs - sentMs) < rebroadcastMs) return
    try {
      await node.send(raw)
    } catch (error) {
      // Known, or included a moment ago: the next round finds its receipt. Anything else is tried again.
      if (!isCoded(error) || error.code !== 'NODE_REFUSED') throw error
      const { message } = error.detail as unknown as { readonly message: string }
      if (!/already known|nonce too low/.test(message)) logger.warn({ hash, reason: message }, 'transfer refused')
    }
    this.#sentMs.set(hash, nowMs)
    for (const resolve of this.#waiting.get(address) ?? []) resolve(hash)
    this.#waiting.delete(address)
  }

  #forget(hash: Hex): void {
    this.#sentMs.delete(hash)
    this.#missing.delete(hash)
  }
}
