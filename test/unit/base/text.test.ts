import { parseJsonObject, withoutTrailing } from '@tandem/base/text.ts'
import { expect, test } from 'vitest'

test.each([
  ['', '0', ''],
  ['000', '0', ''],
  ['0100', '0', '01'],
  ['abc', '0', 'abc'],
  ['name\0\0', '\0', 'name'],
])('%j without trailing %j is %j', (text, character, expected) => {
  expect(withoutTrailing(text, character)).toBe(expected)
})

test('looks at each character once', () => {
  const text = `${'0'.repeat(1_000_000)}1`
  for (let i = 0; i < 1_000; i++) expect(withoutTrailing(text, '0')).toBe(text)
})

test.each(['', '{', 'null', '7', '"a"', '[]', '[{}]'])('no JSON object: %s', text => {
  expect(parseJsonObject(text)).toBeUndefined()
})

test('the fields of a JSON object', () => {
  expect(parseJsonObject(' {"a":[1],"b":null}')).toEqual({ a: [1], b: null })
})
