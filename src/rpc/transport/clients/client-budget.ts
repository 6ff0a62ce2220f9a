/** Limits of what clients may make a server hold: bytes or counts. */
interface BudgetLimits {
  /** Limit of all clients together. */
  readonly total: number
  /** Limit of one client (`transport/clients/client-id.ts`), so that no client can exhaust the total. */
  readonly client: number
  /** Amount of each meter that is not counted, so that small users are served however much others hold. */
  readonly free?: number
}

interface Load {
  amount: number
  meters: number
}

/** Sums of all meters, in total and per client. */
export class ClientBudget {
  readonly limits: BudgetLimits
  readonly #clients = new Map<string, Load>()
  #held = 0

  constructor(limits: BudgetLimits) {
    this.limits = limits
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
    const { total, client: clientLimit, free = 0 } = this.limits
    let counted = 0
    return {
      hold: amount => {
        const wanted = Math.max(0, amount - free)
        const more = wanted - counted
        if (more === 0) return true
        const held = this.#clients.get(client)?.amount ?? 0
        if (more > 0 && (this.#held + more > total || held + more > clientLimit)) return false
        this.#change(client, more, (wanted > 0 ? 1 : 0) - (counted > 0 ? 1 : 0))
        counted = wanted
        return true
      },
    }
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
