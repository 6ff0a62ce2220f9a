import { createRandom } from '@tandem/base/random.ts'
import { expect, test } from 'vitest'
import { MAX_PENDING_DEPTH, PendingProofs } from '../../../src/powchain/core.ts'
import { proofHeaderId } from '../../../src/primitives/proof-header.ts'
import { extendProofState } from '../../../src/rules/proof/proof-header.ts'
import { childOf, grow, OTHER_MINER, paramsWithFork } from '../../support/powchain/headers.ts'
import { SEED } from '../../support/seed.ts'

const params = paramsWithFork(20)
const FINAL = grow(params, 3)
const RACES = 5_000

/**
 * Share of the final headers of a miner who keeps back what it finds, and shows all of it when another miner's header appears. `alpha`: its
 * share of the hash rate; `gamma`: share of the races in which the proposer hears of its header first.
 */
const shareOf = (alpha: number, gamma: number): number => {
  const random = createRandom(SEED)
  let [all, own] = [0, 0]
  for (let race = 0; race < RACES; race++) {
    const withheld = []
    let state = FINAL
    while (withheld.length < MAX_PENDING_DEPTH && random.chance(alpha)) {
      const header = childOf(params, state, state.tipAnchor + 1, { coinbase: OTHER_MINER })
      withheld.push(header)
      state = extendProofState(params, state, header, proofHeaderId(header))
    }
    const honest = [childOf(params, FINAL, FINAL.tipAnchor + 2)]
    const isFirst = random.chance(gamma)
    const pending = new PendingProofs(params, { state: FINAL, headNumber: FINAL.tipAnchor + 50 })
    for (const header of isFirst ? [...withheld, ...honest] : [...honest, ...withheld]) pending.add(header, 0)
    for (const { header } of pending.branch()) {
      all++
      if (header.coinbase === OTHER_MINER) own++
    }
  }
  return own / all
}

// An honest miner with as much has 0.45.
test.each([
  [0, 0],
  [0.1, 0.08],
  [0.5, 0.35],
])(
  'withholding pays less than honest work: with 45 % of the hash rate, heard first in a share of %d of the races, %d',
  (gamma, expected) => {
    const share = shareOf(0.45, gamma)
    console.log(JSON.stringify({ gamma, share }))
    expect(share).toBeLessThan(0.45)
    expect(Math.abs(share - expected)).toBeLessThan(0.04)
  },
)
