import { CodedError, isCoded } from '@tandem/base/errors.ts'
import { expect, test } from 'vitest'
import { NETWORK_LIMITS } from '../../../../../src/config/limits/network.ts'
import { cachingBlockCodec, withSenders } from '../../../../../src/node/parts/consensus/block-codec.ts'
import { decodeBlock } from '../../../../../src/primitives/block.ts'
import { blockCodec, GENESIS_HASH, makeBlock } from '../../../../support/consensus/ledger.ts'

const blockAt = (number: number) => makeBlock({ number, parentHash: GENESIS_HASH, timestamp: number }, '0x01', null, 0)
const bytesAt = (number: number) => blockCodec.encode(blockAt(number))

const counting = () => {
  const codec = {
    calls: 0,
    fails: false,
    encode: blockCodec.encode,
    async decode(bytes: Uint8Array) {
      codec.calls++
      if (codec.fails) throw new Error('no room')
      return blockCodec.decode(bytes)
    },
  }
  return { codec, remembering: cachingBlockCodec(codec) }
}

test('the same bytes are decoded once, also while they are being decoded', async () => {
  const { codec, remembering } = counting()
  const [first, second] = await Promise.all([remembering.decode(bytesAt(1)), remembering.decode(bytesAt(1))])
  expect(first.hash).toBe(blockAt(1).hash)
  expect(second).toBe(first)
  expect(await remembering.decode(bytesAt(1))).toBe(first)
  expect((await remembering.decode(bytesAt(2))).hash).toBe(blockAt(2).hash)
  expect(codec.calls).toBe(2)
})

test('other bytes under the same header are another block', async () => {
  const { codec, remembering } = counting()
  const bytes = bytesAt(1)
  await remembering.decode(bytes)
  await remembering.decode(Uint8Array.from([...bytes, 0])).catch(() => {})
  expect(codec.calls).toBe(2)
})

test('what failed is tried again', async () => {
  const { codec, remembering } = counting()
  codec.fails = true
  await expect(remembering.decode(bytesAt(1))).rejects.toThrow('no room')
  codec.fails = false
  expect((await remembering.decode(bytesAt(1))).hash).toBe(blockAt(1).hash)
})

test('a few are remembered', async () => {
  const { codec, remembering } = counting()
  const count = NETWORK_LIMITS.decodedBlocks + 1
  for (let number = 1; number <= count; number++) await remembering.decode(bytesAt(number))
  await remembering.decode(bytesAt(count))
  expect(codec.calls).toBe(count)
  await remembering.decode(bytesAt(1))
  expect(codec.calls).toBe(count + 1)
})

test('a recovery that has no room says nothing of the block', async () => {
  const full = new CodedError({ code: 'RECOVERY_QUEUE_FULL', limit: 1 })
  const error = await withSenders({ recoverMany: () => Promise.reject(full) }, decodeBlock(bytesAt(1))).catch(
    (error: unknown) => error,
  )
  expect(isCoded(error) && error.code).toBe('RECOVERY_UNAVAILABLE')
  expect((error as Error).cause).toBe(full)
})
