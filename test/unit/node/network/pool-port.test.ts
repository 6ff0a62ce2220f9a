import { CodedError, isCoded } from '@tandem/base/errors.ts'
import { describe, expect, test } from 'vitest'
import { poolPort } from '../../../../src/node/network/node-peers.ts'

const portThatThrows = (error: Error) =>
  poolPort({
    get: () => undefined,
    select: () => {
      throw error
    },
    receive: async raws => {
      if (isCoded(error)) return raws.map(() => error)
      throw error
    },
  })

describe('the pool as peers see it', () => {
  test.each([
    ['ALREADY_KNOWN', 'known'],
    ['TRANSACTION_MALFORMED', 'invalid'],
    ['INVALID_CHAIN_ID', 'invalid'],
    ['INVALID_SENDER', 'invalid'],
    ['TIP_ABOVE_FEE_CAP', 'invalid'],
    ['OVERSIZED', 'invalid'],
    ['NONCE_MAX', 'invalid'],
    // Depends on the head, on what is waiting, or on an option.
    ['NONCE_TOO_LOW', 'refused'],
    ['INSUFFICIENT_FUNDS', 'refused'],
    ['UNDERPRICED', 'refused'],
    ['UNPROTECTED', 'refused'],
    ['TYPE_UNSUPPORTED', 'refused'],
    ['POOL_FULL', 'refused'],
  ])('%s is %s', async (code, answer) => {
    expect(await portThatThrows(new CodedError({ code })).receive([new Uint8Array(1)])).toEqual([answer])
  })

  test('a fault of this node is not charged to a transaction', async () => {
    await expect(portThatThrows(new Error('disk')).receive([new Uint8Array(1)])).rejects.toThrow('disk')
  })
})
