/** Rule of difficulty in continuous form: one header per `spacing` seconds wanted, half-life and valve in seconds. */
interface ResponseRules {
  readonly spacing: number
  readonly halfLife: number
}

/** Width of a cell of time, seconds. */
const CELL = 8
/** Probability below which a cell is left out, and that at which nearly all runs have ended. */
const LEAST = 1e-8
const NEARLY_ALL = 0.99
/** Difficulties closer than this share count as equal. */
const LEVEL_STEP = 0.002
const VALVE_START = 10
const VALVE_STEP = 2

/** Probabilities of the seconds to the next header in cells, where one without the valve takes `mean` seconds. */
const gaps = (mean: number, { spacing }: ResponseRules): readonly number[] => {
  const cells: number[] = []
  const add = (at: number, part: number): void => {
    const cell = Math.floor(at / CELL)
    const upper = at / CELL - cell
    cells[cell] = (cells[cell] ?? 0) + part * (1 - upper)
    cells[cell + 1] = (cells[cell + 1] ?? 0) + part * upper
  }
  let [at, left, scale] = [0, 1, Math.max(mean, 1)]
  // Pieces of constant chance, each with its mean time; a piece ends where the valve eases the target.
  for (let easesAt = (VALVE_START + VALVE_STEP) * spacing; left > LEAST; ) {
    const length = Math.min(CELL, easesAt - at)
    const stays = Math.exp(-length / scale)
    const meanHere = scale - (length * stays) / (1 - stays)
    add(at + meanHere, left * (1 - stays))
    left *= stays
    at += length
    if (at < easesAt) continue
    easesAt += VALVE_STEP * spacing
    scale /= 2
  }
  return Array.from(cells, part => part ?? 0)
}

/**
 * Distribution of the seconds from a step of the hash rate by `factor` until the first header whose difficulty is within `tolerance` of
 * the one that fits, for a difficulty that fitted exactly before; returns the time at which a given part of all runs has ended.
 *
 * No random numbers: height and time of a header determine its difficulty, so the density of the time of header n + 1 follows from that of
 * header n.
 */
export const responseTimes = (rules: ResponseRules, factor: number, tolerance: number): ((part: number) => number) => {
  const { spacing, halfLife } = rules
  const ended: number[] = []
  let [sum, from] = [0, 0]
  let density: number[] = [1]
  const known = new Map<number, readonly number[]>()
  const gapsAt = (level: number): readonly number[] => {
    const step = Math.round(Math.log(level) / LEVEL_STEP)
    const found = known.get(step) ?? gaps(spacing * Math.exp(step * LEVEL_STEP), rules)
    known.set(step, found)
    return found
  }
  for (let n = 0; sum < NEARLY_ALL; n++) {
    const next: number[] = []
    let start = -1
    for (const [offset, part] of density.entries()) {
      if (part < LEAST) continue
      const cell = from + offset
      const level = 2 ** ((n * spacing - cell * CELL) / halfLife) / factor
      const isThere = Math.abs(level - 1) < tolerance
      if (start < 0) start = cell
      if (isThere) sum += part
      const [times, first] = isThere ? [ended, cell] : [next, cell - start]
      const chances = gapsAt(level)
      for (let gap = 0; gap < chances.length; gap++)
        times[first + gap] = (times[first + gap] ?? 0) + part * (chances[gap] as number)
    }
    density = Array.from(next, part => part ?? 0)
    from = start
  }
  return part => {
    let before = 0
    for (const [cell, here = 0] of ended.entries()) {
      if (before + here >= part) return (cell + (part - before) / here) * CELL
      before += here
    }
    return Number.POSITIVE_INFINITY
  }
}
