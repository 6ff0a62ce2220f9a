import { randomBytes } from 'node:crypto'
import { asBuffer } from '@tandem/base/bytes.ts'
import { expect, onTestFinished, test } from 'vitest'
import { RPC_LIMITS } from '../../../../src/config/limits/clients.ts'
import { dataResult } from '../../../../src/rpc/router/large-responses.ts'
import { RawJson, StreamedJson } from '../../../../src/rpc/router/raw-json.ts'
import { Rig } from '../../../support/rpc/rig.ts'

const PIECE_BYTES = RPC_LIMITS.chunkChars / 2 - 2
const jsonOf = (bytes: Uint8Array): string => `"0x${asBuffer(bytes).toString('hex')}"`

test('short data is one text', () => {
  for (const size of [0, 1, PIECE_BYTES]) {
    const bytes = randomBytes(size)
    expect(dataResult(bytes)).toEqual(new RawJson(jsonOf(bytes)))
  }
})

test.each([PIECE_BYTES + 1, 2 * PIECE_BYTES, 1_000_003])('%i bytes are read in pieces', async size => {
  const bytes = randomBytes(size)
  const result = dataResult(bytes)
  if (!(result instanceof StreamedJson)) return expect.unreachable('long data is a stream')
  const stream = result.open('client')
  expect([result.heldBytes, stream.heldBytes]).toEqual([size, size])
  const pieces: string[] = []
  for (let piece = await stream.next(); piece !== undefined; piece = await stream.next()) {
    expect(piece.length).toBeLessThanOrEqual(RPC_LIMITS.chunkChars)
    pieces.push(piece as string)
  }
  expect(pieces.join('')).toBe(jsonOf(bytes))
  expect(stream.heldBytes).toBe(0)
})

test('a reader that is gone holds nothing', async () => {
  const stream = (dataResult(new Uint8Array(1_000_000)) as StreamedJson).open('client')
  await stream.next()
  stream.cancel()
  expect(stream.heldBytes).toBe(0)
  expect(await stream.next()).toBeUndefined()
})

test('a call that returns megabytes, alone and in a batch', async () => {
  const rig = await Rig.start()
  onTestFinished(() => rig.stop())
  const data = `0x${randomBytes(1_000_000).toString('hex')}`
  const request = {
    jsonrpc: '2.0',
    id: 7,
    method: 'eth_call',
    params: [{ to: `0x${'11'.repeat(20)}`, data }, 'latest'],
  }
  expect(JSON.parse(await rig.post(JSON.stringify(request)))).toEqual({ jsonrpc: '2.0', id: 7, result: data })
  const [first, second] = JSON.parse(await rig.post(JSON.stringify([request, { ...request, id: 8 }])))
  expect([first.id, second.id]).toEqual([7, 8])
  expect([first.result, second.result]).toEqual([data, data])
})
