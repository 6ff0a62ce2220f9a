/** Small deterministic generator (mulberry32) for simulations: one seed, one run. */
export interface Random {
  /** In [0, 1). */
  next(): number
  /** Integer in [0, bound). */
  below(bound: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
}

export const createRandom = (seed: number): Random => {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (bound: number) => Math.floor(next() * bound)
  return {
    next,
    below,
    chance: probability => next() < probability,
    pick: items => items[below(items.length)]!,
  }
}
