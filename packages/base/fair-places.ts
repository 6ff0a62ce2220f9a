import type { BudgetLimits } from './client-budget.ts'

/** One place that an owner holds. */
export interface Place {
  /** Notes that it was used just now. */
  used(): void
  /** A busy place gives way only where its owner has no idle one. */
  setBusy(isBusy: boolean): void
  free(): void
}

interface Held {
  readonly evict: () => void
  isBusy: boolean
}

/**
 * Places that owners share. When none is left for a newcomer, the longest idle one of the owner that holds most gives way, as long as that
 * owner holds more than the newcomer would.
 */
export class FairPlaces {
  readonly limits: BudgetLimits
  /** Places of each owner, the longest unused first. */
  readonly #places = new Map<string, Set<Held>>()
  /** Owners by the number of their places; those that used one last stand last. */
  readonly #owners: Set<string>[] = []
  #held = 0
  #most = 0

  constructor(limits: BudgetLimits) {
    this.limits = limits
  }

  /** Places that all owners hold. */
  get held(): number {
    return this.#held
  }

  /** Places of the owner that holds most. */
  get most(): number {
    return this.#most
  }

  heldBy(owner: string): number {
    return this.#places.get(owner)?.size ?? 0
  }

  /**
   * Takes a place; undefined when there is none. `evict` is called when it has to give way, and is free by then. `limit`: places of this
   * owner, those of any owner when omitted.
   */
  take(owner: string, evict: () => void, limit = this.limits.client): Place | undefined {
    if (this.heldBy(owner) >= limit) return undefined
    if (this.#held >= this.limits.total && !this.#makeRoomFor(owner)) return undefined
    const held: Held = { evict, isBusy: false }
    this.#add(owner, held)
    return {
      used: () => this.#use(owner, held),
      setBusy: isBusy => {
        held.isBusy = isBusy
      },
      free: () => this.#remove(owner, held),
    }
  }

  #makeRoomFor(newcomer: string): boolean {
    const own = this.heldBy(newcomer)
    // With a difference of one, two owners would take the same place from each other again and again.
    if (this.#most < (own === 0 ? 1 : own + 2)) return false
    const [owner = newcomer] = this.#owners[this.#most] ?? []
    const held = longestIdle(this.#places.get(owner) as Set<Held>)
    this.#remove(owner, held)
    held.evict()
    return true
  }

  #use(owner: string, held: Held): void {
    const places = this.#places.get(owner)
    if (places?.delete(held) !== true) return
    places.add(held)
    const equals = this.#owners[places.size] as Set<string>
    equals.delete(owner)
    equals.add(owner)
  }

  #add(owner: string, held: Held): void {
    const places = this.#places.get(owner) ?? new Set()
    this.#places.set(owner, places)
    this.#move(owner, places.size, places.add(held).size)
    this.#held++
  }

  #remove(owner: string, held: Held): void {
    const places = this.#places.get(owner)
    if (places?.delete(held) !== true) return
    this.#move(owner, places.size + 1, places.size)
    if (places.size === 0) this.#places.delete(owner)
    this.#held--
  }

  #move(owner: string, from: number, to: number): void {
    this.#owners[from]?.delete(owner)
    if (to > 0) {
      this.#owners[to] ??= new Set()
      this.#owners[to].add(owner)
    }
    this.#most = Math.max(this.#most, to)
    while (this.#most > 0 && this.#owners[this.#most]?.size === 0) this.#most--
  }
}

const longestIdle = (places: ReadonlySet<Held>): Held => {
  for (const held of places) if (!held.isBusy) return held
  const [first] = places
  return first as Held
}
