import { copyBytes, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import type { CallMessage } from '../../../../../src/evm/calls/message/call-args.ts'
import { transferableRequest } from '../../../../../src/evm/calls/worker/worker-protocol.ts'

const ADDRESS: Hex = `0x${'0a'.repeat(20)}`
const message = (): CallMessage => ({ from: ADDRESS, to: ADDRESS, value: 1n, data: hexToBytes('0x0102') })
const overrides = () => ({
  [ADDRESS]: { code: hexToBytes('0x60016002'), balance: 1n, stateDiff: { [toWord(1n)]: toWord(2n) } },
})

/** All byte arrays somewhere inside. */
const arraysIn = (value: unknown): Uint8Array[] => {
  if (value instanceof Uint8Array) return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(arraysIn) : []
}
const hasOwn = (bytes: Uint8Array): boolean => bytes.byteLength === bytes.buffer.byteLength

test.each([
  ['a call', { number: 1, message: message() }],
  ['a call with overrides', { number: 1, message: message(), overrides: overrides() }],
  [
    'a simulation',
    {
      number: 1,
      validation: false,
      traceTransfers: false,
      gas: 1n,
      base: { number: 1, hash: toWord(1n), gasLimit: 1n, gasUsed: 1n, baseFeePerGas: 1n },
      blocks: [
        {
          env: {
            number: 2,
            timestamp: 2,
            gasLimit: 1n,
            miner: ADDRESS,
            proposerReward: ADDRESS,
            foundation: ADDRESS,
            prevRandao: toWord(1n),
          },
          baseFeePerGas: undefined,
          state: overrides(),
          calls: [message()],
        },
      ],
    },
  ],
])('%s takes no memory but its own to another thread', (_, request) => {
  const sent = transferableRequest(request)
  expect(sent).toEqual(request)
  expect(arraysIn(request).some(hasOwn)).toBe(false)
  expect(arraysIn(sent).every(hasOwn)).toBe(true)
  expect(arraysIn(sent)).toHaveLength(arraysIn(request).length)
})

test('bytes that are alone in their memory are not copied', () => {
  const bytes = Uint8Array.of(1, 2)
  expect(copyBytes(bytes)).toBe(bytes)
  const view = bytes.subarray(1)
  expect(copyBytes(view)).toEqual(view)
  expect(copyBytes(view).buffer.byteLength).toBe(1)
  // A Buffer's own slice is a view.
  expect(copyBytes(Buffer.from('0102', 'hex')).buffer.byteLength).toBe(2)
})
