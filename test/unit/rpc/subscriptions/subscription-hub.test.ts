import { expect, test } from 'vitest'
import { framePrefix } from '../../../../src/rpc/subscriptions/subscription-entry.ts'

test('a subscription keeps no more memory than the head of its frames has bytes', () => {
  const prefix = framePrefix('eth', '0xcafe')
  expect(`${Buffer.from(prefix)}1}}`).toBe(
    '{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"0xcafe","result":1}}',
  )
  expect(prefix.buffer.byteLength).toBe(prefix.byteLength)
})
