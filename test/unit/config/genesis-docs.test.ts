import { readFileSync } from 'node:fs'
import { CodedError } from '@tandem/base/errors.ts'
import { describe, expect, test } from 'vitest'
import { isActive } from '../../../src/config/forks.ts'
import { type GenesisError, parseGenesis } from '../../../src/config/genesis/genesis.ts'

const page = readFileSync(new URL('../../../docs/genesis.md', import.meta.url), 'utf8')
const example = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)?.[1] ?? '') as Record<string, unknown>

/** Members that the parser knows in an object of the file: its error about another one lists them. */
const knownAt = (change: object): readonly string[] => {
  try {
    parseGenesis(JSON.stringify({ ...example, ...change }))
  } catch (error) {
    if (error instanceof CodedError && error.code === 'GENESIS_INVALID')
      return /known here: (.*)$/.exec((error.detail as GenesisError).problem)?.[1]?.split(', ') ?? []
    throw error
  }
  return []
}

describe('docs/genesis.md', () => {
  test('has an example that a node reads', () => {
    const { params, council } = parseGenesis(JSON.stringify(example))
    expect([params.chainId, params.blockTimeMs, params.committeeSize, council.length]).toEqual([4242, 2_000, 7, 1])
    expect(isActive(params.forks, 'prague', 99_999)).toBe(false)
    expect(isActive(params.forks, 'prague', 100_000)).toBe(true)
  })

  const other = { aMemberNobodyKnows: 1 }
  test.each([
    ['the file', other],
    ['a council member', { council: [other] }],
    ['an account', { alloc: { '0x5555555555555555555555555555555555555555': other } }],
    ['params', { params: other }],
    ['params.baseFee', { params: { baseFee: other } }],
    ['params.feeShares', { params: { feeShares: other } }],
    ['params.rewards', { params: { rewards: other } }],
    ['params.council', { params: { council: other } }],
    ['params.proofChain', { params: { proofChain: other } }],
  ])('names every member of %s', (_, change) => {
    const known = knownAt(change)
    expect(known.length).toBeGreaterThan(2)
    expect(known.filter(name => !page.includes(`\`${name}\``))).toEqual([])
  })
})
