import { waitUntil } from '@tandem/base/async/delay.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { isCoded, isDiskError } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { FAUCET_LIMITS, type FaucetPolicy } from '../config/limits/faucet.ts'
import type { FaucetNode } from './faucet-node.ts'
import type { GrantStore, SignedGrant } from './grant-store.ts'
import { type FaucetAccount, priceOfTransfer } from './transfer.ts'

/** Parts of the faucet, and the rules of its chain that the sender follows. */
export interface SenderOptions {
  readonly store: GrantStore
  readonly node: FaucetNode
  readonly account: FaucetAccount
  /** Least gas price of the chain. */
  readonly floorWei: bigint
  readonly policy: Pick<FaucetPolicy, 'followsReversals'>
  /** Called when the disk has failed: nothing more is sent by this process. */
  readonly onFatal?: (error: Error) => void
  readonly clock: Clock
  readonly logger: Logger
}

const { pollMs, rebroadcastMs, replaceMs, replacePercent, unsettled, lostRounds } = FAUCET_LIMITS

/**
 * Pays reserved grants, one after the other: signs with the next nonce, stores the bytes, then sends them, and sends the same bytes again
 * until a block includes them. Where their price has become too low, bytes with the same nonce and a higher price replace them, so that one
 * of the two is included. After a restart it goes on with what the store holds.
 */
export class FaucetSender {
  readonly #options: SenderOptions
  /** Times of sending by this process. */
  readonly #sent = new Map<Hex, { readonly firstMs: number; lastMs: number }>()
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

  /** Without unsettled grants the node gets no request. */
  async #tryRound(): Promise<void> {
    if (this.#options.store.unsettled() === 0) return
    try {
      await this.round()
      this.#failure = ''
    } catch (error) {
      if (isDiskError(error)) this.#options.onFatal?.(error as Error)
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
    await this.#fillGap(signed)
    for (const grant of signed) {
      if (grant.nonce >= used) await this.#send(await this.#atPrice(grant))
      else await this.#settle(grant)
    }
  }

  /** Missing nonces of blocks taken back go to transfers to itself, so that what is signed stays the one transfer of its grant. */
  async #fillGap([lowest]: readonly SignedGrant[]): Promise<void> {
    const { node, account, policy } = this.#options
    if (!policy.followsReversals || lowest === undefined) return
    const pending = await node.nonce(account.address, 'pending')
    const end = Math.min(lowest.nonce, pending + unsettled)
    if (pending >= end) return
    const gasPrice = await this.#price()
    for (let nonce = pending; nonce < end; nonce++)
      await this.#submit(account.transfer({ to: account.address, nonce, gasPrice }))
  }

  /** The grant with a transfer that blocks take now: its own, or one at the price of the moment when its own has waited too long. */
  async #atPrice(grant: SignedGrant): Promise<SignedGrant> {
    const { store, account, clock, logger } = this.#options
    const { address, nonce, hash } = grant
    const firstMs = this.#sent.get(hash)?.firstMs
    if (firstMs === undefined || Math.abs(clock.nowMs() - firstMs) < replaceMs) return grant
    const price = priceOfTransfer(grant.raw)
    const offered = await this.#price()
    if (offered <= price) return grant
    const least = (price * (100n + replacePercent) + 99n) / 100n
    const gasPrice = offered > least ? offered : least
    const signed = account.transfer({ to: address, nonce, gasPrice })
    store.replace(grant, signed)
    this.#forget(hash)
    logger.info(
      { nonce, hash: signed.hash, replaced: hash },
      'a transfer waited too long; it is sent at a higher price',
    )
    return { ...grant, ...signed, former: [...grant.former, hash] }
  }

  async #settle(grant: SignedGrant): Promise<void> {
    const { store, node, logger } = this.#options
    for (const hash of [grant.hash, ...grant.former]) {
      const block = await node.blockOf(hash)
      if (block === 'unavailable') return
      if (block === undefined) continue
      store.settle(grant, block, hash)
      this.#forget(grant.hash)
      logger.debug({ address: grant.address, hash, block }, 'grant paid')
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
    const { store, node, account } = this.#options
    const signed = store.signed()
    const addresses = store.reserved(Math.max(0, unsettled - signed.length))
    if (addresses.length === 0) return
    const [pending, gasPrice] = await Promise.all([node.nonce(account.address, 'pending'), this.#price()])
    // The pool of the node may have lost what was signed before.
    let nonce = Math.max(pending, (signed.at(-1)?.nonce ?? -1) + 1)
    for (const address of addresses) {
      const grant = { address, nonce, former: [], ...account.transfer({ to: address, nonce, gasPrice }) }
      store.sign(grant)
      nonce++
      await this.#send(grant)
    }
  }

  async #price(): Promise<bigint> {
    const { node, floorWei } = this.#options
    const offered = await node.gasPrice()
    return offered > floorWei ? offered : floorWei
  }

  async #send({ address, raw, hash }: SignedGrant): Promise<void> {
    const nowMs = this.#options.clock.nowMs()
    const sent = this.#sent.get(hash) ?? { firstMs: nowMs, lastMs: Number.NEGATIVE_INFINITY }
    if (Math.abs(nowMs - sent.lastMs) < rebroadcastMs) return
    // A transfer that the network may have is never forgotten.
    await this.#options.store.flush()
    await this.#submit({ raw, hash })
    sent.lastMs = nowMs
    this.#sent.set(hash, sent)
    for (const resolve of this.#waiting.get(address) ?? []) resolve(hash)
    this.#waiting.delete(address)
  }

  async #submit({ raw, hash }: Pick<SignedGrant, 'raw' | 'hash'>): Promise<void> {
    const { node, logger } = this.#options
    try {
      await node.send(raw)
    } catch (error) {
      // Known, or included a moment ago: the next round finds its receipt. Anything else is tried again.
      if (!isCoded(error) || error.code !== 'NODE_REFUSED') throw error
      const { message } = error.detail as unknown as { readonly message: string }
      if (!/already known|nonce too low/.test(message)) logger.warn({ hash, reason: message }, 'transfer refused')
    }
  }

  #forget(hash: Hex): void {
    this.#sent.delete(hash)
    this.#missing.delete(hash)
  }
}
