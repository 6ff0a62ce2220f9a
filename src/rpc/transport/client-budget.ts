/** Bounds of what clients make a server hold: bytes, or things counted. */
export interface BudgetLimits {
  /** Of all clients together. */
  readonly total: number
  /** Of one client (`transport/client-id.ts`): one that takes all it may leaves the rest to others. */
  readonly client: number
  /** Of each meter not counted: who needs little is served however much others hold. */
  readonly free?: number
}

interface Load {
  amount: number
  meters: number
}

/** Where the amounts of all meters are kept: in all and of each client. */
export class ClientBudget {
  readonly limits: BudgetLimits
  readonly #clients = new Map<string, Load>()
  #held = 0

  constructor(limits: BudgetLimits) {
    this.limits = limits
  }

  /** What all clients hold. */
  get held(): number {
    return this.#held
  }

  heldBy(client: string): number {
    return this.#clients.get(client)?.amount ?? 0
  }

  /** Of the client that holds most. */
  get most(): number {
    let most = 0
    for (const { amount } of this.#clients.values()) most = Math.max(most, amount)
    return most
  }

  /** Of one connection, request or subscription. It must be set to 0 when that ends. */
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

  /** Whether the client's own part is what has no room for more, rather than that of all. */
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
  /** Says how much is held now, all in all; false when there is no room for so much, and nothing changes. 0 gives all back. */
  hold(amount: number): boolean
}
