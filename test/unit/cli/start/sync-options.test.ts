import { expect, test } from 'vitest'
import { checkpoint } from '../../../../src/cli/start/command.ts'

const HASH = `0x${'aB'.repeat(32)}`

test('a checkpoint is a number and a hash', () => {
  expect(checkpoint(`1728000:${HASH}`)).toEqual({ number: 1_728_000, hash: HASH.toLowerCase() })
  expect(checkpoint(`0:${HASH}`).number).toBe(0)
})

test('anything else is refused with what it must be', () => {
  for (const text of [
    '',
    '5',
    HASH,
    `x:${HASH}`,
    `-1:${HASH}`,
    `5:${HASH}0`,
    `5:${HASH.slice(2)}`,
    `0x5:${HASH}`,
    `1e3:${HASH}`,
  ])
    expect(() => checkpoint(text)).toThrow('a block number and its hash')
})
