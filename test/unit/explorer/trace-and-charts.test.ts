import { toWord } from '@tandem/base/bytes.ts'
import { chart } from '@tandem/explorer/pages/parts/chart.ts'
import { callsOf } from '@tandem/explorer/pages/trace.ts'
import { expect, test } from 'vitest'

const ticksOf = (values: readonly number[]): readonly string[] => {
  const points = values.map((value, at) => ({ label: `p${at}`, value }))
  const text = String(chart({ summary: 'values', kind: 'bars', points, format: String }))
  return [...text.matchAll(/text-anchor="end">([^<]*)</g)].map(([, tick]) => tick as string)
}

test('an axis of counts has whole numbers alone', () => {
  expect(ticksOf([6])).toEqual(['0', '2', '4', '6', '8'])
  expect(ticksOf([0, 0])).toEqual(['0', '1', '2', '3', '4'])
  for (let most = 1; most < 3_000; most += 7) {
    const ticks = ticksOf([most, 0]).map(Number)
    expect(ticks.every(Number.isInteger), String(most)).toBe(true)
    expect(ticks.at(-1)).toBeGreaterThanOrEqual(most)
    expect(ticks.at(-1)).toBeLessThanOrEqual(Math.max(4, 2 * most))
  }
  expect(ticksOf([27.5])).toEqual(['0', '7.5', '15', '22.5', '30'])
})

test('calls name common functions; code of a creation is no call of a function', async () => {
  const address = `0x${'11'.repeat(20)}`
  const frame = { from: address, to: address, value: '0x0', gasUsed: '0x1' }
  const result = {
    ...{ ...frame, type: 'CALL', input: `0xa9059cbb${toWord(1n).slice(2)}${toWord(2n).slice(2)}` },
    calls: [
      { ...frame, type: 'CREATE2', input: '0xa9059cbb00' },
      { ...frame, type: 'CALL', input: '0x0badc0de' },
      { ...frame, type: 'CALL', input: '0x' },
    ],
  }
  const refuse = (): Promise<never> => Promise.reject(new Error('not asked here'))
  const rpc = async (): Promise<string> => JSON.stringify({ jsonrpc: '2.0', id: 1, result })
  const node = { gasPriceWei: refuse, council: refuse, committee: refuse, rpc }
  const found = await callsOf({ node }, toWord(1n))
  expect(found?.calls.map(({ method }) => method)).toEqual(['transfer', null, '0x0badc0de', null])
})
