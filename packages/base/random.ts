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

/** Draws up to `count` of these items, which it rearranges: a few of many cost little. `random`: in [0, 1). */
export const drawn = <T>(items: T[], count: number, random: () => number): T[] => {
  const most = Math.min(count, items.length)
  for (let at = 0; at < most; at++) {
    const other = Math.min(items.length - 1, at + Math.floor(random() * (items.length - at)))
    const [here, there] = [items[at] as T, items[other] as T]
    items[at] = there
    items[other] = here
  }
  return items.slice(0, most)
}

/** Returns the items in random order. `random`: in [0, 1). */
export const shuffled = <T>(items: readonly T[], random: () => number): T[] => drawn([...items], items.length, random)
