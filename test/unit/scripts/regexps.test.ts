import { expect, test } from 'vitest'
import { problemsOf } from '../../../scripts/regexps.ts'

const MAY_BACKTRACK = /may backtrack/
const AT_RUN_TIME = /at run time/

test.each([
  [
    'the head of a request',
    String.raw`/^([!#$%&'*+\-.^_\`|~0-9A-Za-z]+):[ \t]*([\x20-\x7e\x80-\xff\t]*)$/`,
    MAY_BACKTRACK,
  ],
  ['an end without a beginning', '/0+$/', MAY_BACKTRACK],
  ['a beginning that is searched', String.raw`/\s*,/`, MAY_BACKTRACK],
  ['repeats inside repeats', '/^(a+)+$/', MAY_BACKTRACK],
  ['alternatives that are the same', '/^(a|a)*$/', MAY_BACKTRACK],
  ['neighbours that take the same', '/^.*?,.*?;$/', MAY_BACKTRACK],
  ['letters alike in either case', '/^[a-z]*[A-Z]*$/i', MAY_BACKTRACK],
  ['a made one', 'new RegExp(text)', AT_RUN_TIME],
  ['a made one without new', 'RegExp(text)', AT_RUN_TIME],
  ['a renamed one', '[globalThis.RegExp]', AT_RUN_TIME],
  ['a search for text', "text.search('a')", AT_RUN_TIME],
  ['a match of a template', 'text.match(`a`)', AT_RUN_TIME],
])('refuses %s', (_, expression, expected) => {
  expect(problemsOf(`type A = string\n\nexport const f = (text: A): unknown => ${expression}`)).toEqual([
    expect.stringMatching(expected),
  ])
  expect(problemsOf(`type A = string\n\nexport const f = (text: A): unknown => ${expression}`)[0]).toMatch(/^3: /)
})

test.each([
  ['hex of a length', '/^0x[0-9a-f]{64}$/'],
  ['hex of any length', '/^0x([0-9a-fA-F]{2})*$/'],
  ['parts that exclude each other', String.raw`/^\d+(\.\d+)?$/`],
  ['a line', '/^.*$/m'],
  ['a few ways', '/^(?:a|ab)c$/'],
  ['a single class', '/[a-z]/g'],
  ['a slash that divides', 'text.length / 2 / 1'],
  ['a comment', '1 // /0+$/'],
  ['a string', "'/0+$/'"],
  ['a search by a literal', 'text.search(/[a-z]/)'],
])('passes %s', (_, expression) => {
  expect(problemsOf(`export const f = (text: string): unknown => ${expression}`)).toEqual([])
})
