import { expect, test } from 'vitest'
import { formatTokens } from '../../../src/cli/shared/output.ts'

test('tokens are written as a reader groups them, to the last wei', () => {
  for (const digits of Array.from({ length: 40 }, (_, i) => i + 1)) {
    const whole = BigInt('1234567890'.repeat(4).slice(0, digits))
    expect(formatTokens(whole * 10n ** 18n)).toBe(whole.toLocaleString('en'))
    expect(formatTokens(whole * 10n ** 18n + 1n)).toBe(`${whole.toLocaleString('en')}.000000000000000001`)
  }
  expect([0n, 10n ** 17n, 10_000n * 10n ** 18n].map(formatTokens)).toEqual(['0', '0.1', '10,000'])
})
