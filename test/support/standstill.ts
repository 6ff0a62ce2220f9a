import type { NodeOfMany } from './committee.ts'
import { eventually } from './node-process.ts'

/** Log lines of a round timer that has run out without a decision. */
const LOST_ROUND = /^(round change|no decision yet, waiting|no quorum reachable, waiting)/
/** Blocks that were being decided when the quorum went. */
const LATE_BLOCKS = 3

/**
 * Waits until each of these nodes has lost a round at the height it has open, by its own timer and not by the clock of the test; returns the
 * highest number. Throws when blocks go on.
 */
export const standstill = async (nodes: readonly NodeOfMany[]): Promise<number> =>
  Math.max(...(await Promise.all(nodes.map(lostRound))))

const lostRound = async (node: NodeOfMany): Promise<number> => {
  const mark = node.log.length
  let number = await node.number()
  let late = 0
  return eventually(
    `${node.name} stands still`,
    async () => {
      const now = await node.number()
      if (now !== number && ++late > LATE_BLOCKS) throw new Error(`${node.name} goes on: block ${number}, then ${now}`)
      number = now
      return hasLostRound(node.log.slice(mark), number + 1) ? number : undefined
    },
    { everyMs: 50 },
  )
}

const hasLostRound = (log: string, number: number): boolean =>
  log
    .split('\n')
    .filter(line => line.startsWith('{') && line.endsWith('}'))
    .map(line => JSON.parse(line) as { readonly msg: string; readonly number?: number })
    .some(entry => entry.number === number && LOST_ROUND.test(entry.msg))
