import { plainText } from '@tandem/explorer/chain/plain-text.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ATTACKS } from '../../support/attacker-text.ts'

const MARKS = /\p{M}/gu
/** Attack texts, and characters that act on each other in any order. */
const hostileText = fc.oneof(
  fc.constantFrom(...ATTACKS),
  fc
    .array(
      fc.constantFrom(
        'a',
        'e',
        ' ',
        '\u0301',
        '\u0316',
        '\u0488',
        '\u202E',
        '\u200D',
        '\u034F',
        '\uD800',
        '\u1100',
        '\u1161',
        '\0',
      ),
    )
    .map(characters => characters.join('')),
)

describe('text that a contract chose', () => {
  test.each([
    ['Zo\u0308e\u0301', 'Zöé'],
    ['ภาษาไทยกู้', 'ภาษาไทยกู้'],
    ['שָׁלוֹם', 'שָׁלוֹם'.normalize('NFC')],
    ['tiếng Việt', 'tiếng Việt'],
  ])('keeps the marks that languages use: %s', (text, shown) => {
    expect(plainText(text, 100)).toBe(shown)
  })

  test('has no pile of marks, which would be drawn over what stands above and below', () => {
    expect(plainText(`a${'\u0302'.repeat(50)}b${'\u0316'.repeat(50)}`, 100)).toBe(
      `â${'\u0302'.repeat(3)}b${'\u0316'.repeat(3)}`,
    )
    expect(plainText(`a${'\u0302\u0316'.repeat(50)}`, 100)?.match(MARKS)?.length).toBeLessThanOrEqual(3)
  })

  test('begins with no mark, which would be drawn on what stands before it, and encloses nothing', () => {
    expect(plainText('\u0301\u0301abc', 100)).toBe('abc')
    expect(plainText('  \u202E\u0301abc', 100)).toBe('abc')
    expect(plainText('a\u0488b\u20E0', 100)).toBe('ab')
    expect(plainText('\u0301'.repeat(200), 100)).toBeNull()
  })

  test('is shown after some characters that cannot be, and not looked for behind any number of them', () => {
    expect(plainText(`${'\u202E'.repeat(100)}abc`, 10)).toBe('abc')
    expect(plainText(`${'\u202E'.repeat(1_000)}abc`, 10)).toBeNull()
  })

  test('hides nothing and stays within its limit, whatever it was', () => {
    fc.assert(
      fc.property(hostileText, fc.integer({ min: 1, max: 40 }), (text, limit) => {
        const shown = plainText(text, limit) ?? ''
        expect([...shown].length).toBeLessThanOrEqual(limit)
        expect(shown).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]|^\p{M}|\p{M}{4}|\p{Me}/u)
        expect(plainText(shown, limit) ?? '').toBe(shown)
      }),
    )
  })
})
