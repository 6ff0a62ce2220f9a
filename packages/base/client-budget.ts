/** Limits of what clients may make a server hold: bytes or counts. */
export interface BudgetLimits {
  /** Limit of all clients together. */
  readonly total: number
  /** Limit of one client, so that no client can exhaust the total. */
  readonly client: number
  /** Amount of each meter that is not counted, so that small users are served however much others hold. */
  readonly free?: number
}

interface Load {
  amount: number
  meters: number
}

/** Sums of all meters, in total and per client. A budget of one kind of work may be part of the ledger of all kinds. */
export class ClientBudget {
  readonly limits: BudgetLimits
  readonly #ledger: ClientBudget | undefined
  readonly #clients = new Map<string, Load>()
  readonly #onRoom: (() => void)[] = []
  #held = 0
  #isWaking = false

  constructor(limits: BudgetLimits, ledger?: ClientBudget) {
    this.limits = limits
    this.#ledger = ledger
  }

  /** Amount held by all clients. */
  get held(): number {
    return this.#held
  }

  heldBy(client: string): number {
    return this.#clients.get(client)?.amount ?? 0
  }

  /** Amount held by the client that holds most. */
  get most(): number {
    let most = 0
    for (const { amount } of this.#clients.values()) most = Math.max(most, amount)
    return most
  }

  /** Creates the meter of one connection, request or subscription. It must be set to 0 when that ends. */
  meter(client: string): Meter {
    const { free = 0 } = this.limits
    let counted = 0
    let inLedger: Meter | undefined
    return {
      hold: amount => {
        const wanted = Math.max(0, amount - free)
        const more = wanted - counted
        if (more === 0) return true
        if (!this.hasRoom(client, more)) return false
        if (this.#ledger !== undefined) {
          inLedger ??= this.#ledger.meter(client)
          if (!inLedger.hold(wanted)) return false
        }
        this.#change(client, more, (wanted > 0 ? 1 : 0) - (counted > 0 ? 1 : 0))
        counted = wanted
        if (more < 0) this.#wake()
        return true
      },
    }
  }

  hasRoom(client: string, more: number): boolean {
    return more <= 0 || (this.#held + more <= this.limits.total && !this.isClientFull(client, more))
  }

  /** Calls `resume` after amounts were returned: work that waits for room may continue. */
  onRoom(resume: () => void): void {
    this.#onRoom.push(resume)
  }

  #wake(): void {
    if (this.#isWaking || this.#onRoom.length === 0) return
    this.#isWaking = true
    queueMicrotask(() => {
      this.#isWaking = false
      for (const resume of this.#onRoom) resume()
    })
  }

  /** Returns true when the client's own limit, rather than the total, has no room for more. */
  isClientFull(client: string, more: number): boolean {
    return this.heldBy(client) + more > this.limits.client
  }

  #change(client: string, amount: number, meters: number): void {
    this.#held += amount
    const load = this.#clients.get(client) ?? { amount: 0, meters: 0 }
    load.amount += amount
    load.meters += meters
    if (load.meters === 0) this.#clients.delete(client)
    else this.#clients.set(client, load)
  }
}

export interface Meter {
  /** Sets the amount held now; returns false, without a change, when there is no room. 0 returns all of it. */
  hold(amount: number): boolean
}
