import { toWord } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { NETWORKS } from '../../../../src/config/networks.ts'
import { proofTarget, proofVersionAt, proofWork } from '../../../../src/rules/proof/proof-target.ts'

const rules = { ...NETWORKS.mainnet.proofChain, maxTargetBefore: 2n ** 252n - 1n }
const reference = { height: 0, anchorNumber: 0, target: 2n ** 240n - 1n }

/** Target after `anchors` main blocks and `headers` proof headers since the reference. */
const targetAfter = (anchors: number, headers: number, anchorNumber = anchors + 1): bigint =>
  proofTarget(rules, 1, reference, { height: headers, anchorNumber: anchors }, anchorNumber)

const word = (prefix: string, fill: string, suffix = ''): string => {
  const digits = prefix + fill + suffix
  return `0x${digits.padStart(64, '0')}`
}

describe('target of the next proof header', () => {
  test.each([
    [60, 1, toWord(2n ** 240n - 1n)],
    [3_600, 60, toWord(2n ** 240n - 1n)],
    [0, 1, word('fd117f', 'ff'.repeat(27))],
    [59, 1, word('fff37f', 'ff'.repeat(27))],
    [61, 1, word('01000cff', 'ff'.repeat(26), 'fe')],
    [3_660, 1, word('01', 'ff'.repeat(29), 'fe')],
    [0, 60, word('7f', 'ff'.repeat(29))],
    [216_000, 10, toWord(2n ** 252n - 1n)],
  ])('known answer: %i main blocks for %i headers', (anchors, headers, expected) => {
    expect(toWord(targetAfter(anchors, headers))).toBe(expected)
  })

  test('the idle valve opens at 720 main blocks without a header and doubles every 120', () => {
    const base = targetAfter(60, 1)
    expect(targetAfter(60, 1, 60 + 600)).toBe(base)
    expect(targetAfter(60, 1, 60 + 719)).toBe(base)
    expect(targetAfter(60, 1, 60 + 720)).toBe(base * 2n)
    expect(targetAfter(60, 1, 60 + 840)).toBe(base * 4n)
    expect(targetAfter(60, 1, 60 + 1_000_000)).toBe(rules.maxTargetBefore)
  })

  test('never falls with a later anchor of the parent and stays within 1 and the limit', () => {
    let last = 0n
    for (let anchors = 0; anchors < 20_000; anchors += 7) {
      const target = targetAfter(anchors, 100)
      expect(target >= last).toBe(true)
      last = target
    }
    expect(targetAfter(0, 1_000_000)).toBe(1n)
    expect(targetAfter(1_000_000_000, 1)).toBe(rules.maxTargetBefore)
  })
})

describe('version by height', () => {
  test.each([
    [NETWORKS.mainnet, 1_740_000],
    [NETWORKS.testnet, 327_400],
    [NETWORKS.devnet, 20],
  ])('$name forks at proof height %s', (params, fork) => {
    expect(proofVersionAt(params, fork - 1)).toBe(1)
    expect(proofVersionAt(params, fork)).toBe(2)
    expect(proofVersionAt(params, fork + 1)).toBe(2)
  })

  test('an unscheduled fork leaves version 1 for ever; one at zero leaves none', () => {
    const forks = (height: number | null) => ({ forks: [{ name: 'nativeHash' as const, height }] })
    expect(proofVersionAt(forks(null), Number.MAX_SAFE_INTEGER)).toBe(1)
    expect(proofVersionAt(forks(0), 0)).toBe(2)
  })
})

test('work is the expected number of hashes; a nativeHash counts for 2^15', () => {
  expect(proofWork(1, 2n ** 256n - 1n)).toBe(1n)
  expect(proofWork(1, 2n ** 236n - 1n)).toBe(2n ** 20n)
  expect(proofWork(2, 2n ** 248n - 1n)).toBe(2n ** 23n)
})
