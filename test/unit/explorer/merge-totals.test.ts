import { createRandom } from '@tandem/base/random.ts'
import { addToTotals, emptyTotals, totalsOf } from '@tandem/explorer/store/index-totals.ts'
import { mergeTotals } from '@tandem/explorer/store/merge-totals.ts'
import { expect, test } from 'vitest'
import { RandomBlocks } from './random-blocks.ts'

test('sums of parts of a chain, merged, are those of the whole', () => {
  const seed = Number(process.env['SEED'] ?? 20_261_123)
  const random = createRandom(seed)
  for (let round = 0; round < 10; round++) {
    const blocks = new RandomBlocks({ seed: random.below(1e9), addresses: 6, tokens: 3 }).chain(40)
    const merged = emptyTotals()
    for (let at = 0; at < blocks.length; ) {
      const part = blocks.slice(at, at + 1 + random.below(12))
      at += part.length
      mergeTotals(merged, totalsOf(part))
    }
    const whole = emptyTotals()
    for (const block of blocks) addToTotals(whole, block)
    expect(merged, `SEED=${seed} round ${round}`).toEqual(whole)
    expect(whole.accounts.size).toBeGreaterThan(6)
  }
})
