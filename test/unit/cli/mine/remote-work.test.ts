import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { bytesToHex, toWord, ZERO_HASH } from '@tandem/base/bytes.ts'
import { messageWithCause } from '@tandem/base/errors.ts'
import { expect, onTestFinished, test } from 'vitest'
import { formatRate, NodeRefusal, RemoteWork } from '../../../../src/cli/mine/run.ts'
import { PROOF_SEEDS } from '../../../../src/crypto/proof-hash.ts'

/** A node that answers every call with this. */
const nodeThat = async (answer: object): Promise<string> => {
  const server = createServer((_, response) => response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...answer })))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const [FIRST, SECOND] = PROOF_SEEDS.map(bytesToHex)
const workOf = (seed: unknown) => ({ result: [ZERO_HASH, seed, toWord(5n), '0x1'] })

test('the seed of a node’s work tells the hash function', async () => {
  for (const [seed, version] of [
    [FIRST, 1],
    [SECOND, 2],
  ]) {
    const source = new RemoteWork(await nodeThat(workOf(seed)), undefined)
    expect(source.job()).toBeUndefined()
    await source.refresh()
    expect(source.job()).toEqual({ sealHash: ZERO_HASH, version, target: 5n })
  }
})

test('a node without work is no failure; one that answers anything else is, and there is no work then', async () => {
  const idle = new RemoteWork(
    await nodeThat({ error: { code: -32000, message: 'no mining work available yet' } }),
    undefined,
  )
  await idle.refresh()
  expect(idle.job()).toBeUndefined()
  for (const [answer, reason] of [
    [{ error: { code: -32601, message: 'x' } }, /operator port/],
    [{ result: null }, /no work/],
    [workOf(1), /no work/],
    [workOf(toWord(7n)), /upgrade/],
    [{ result: 'x'.repeat(20_000) }, /too long/],
  ] as const) {
    const source = new RemoteWork(await nodeThat(answer), undefined)
    const refused = source.refresh()
    await expect(refused).rejects.toThrow(NodeRefusal)
    await expect(refused).rejects.toThrow(reason)
    expect(source.job()).toBeUndefined()
  }
})

test('a miner that names no coinbase is told so when a node has no work for it again and again', async () => {
  const url = await nodeThat({ error: { code: -32000, message: 'no mining work available yet' } })
  const [nameless, named] = [
    new RemoteWork(url, undefined),
    new RemoteWork(url, '0x5ec0de0000000000000000000000000000000001'),
  ]
  for (let at = 1; at < 10; at++) await nameless.refresh()
  await expect(nameless.refresh()).rejects.toThrow(/give --coinbase ADDRESS/)
  for (let at = 0; at < 20; at++) await named.refresh()
})

test('a solution that the node refuses, or that does not reach it, counts as refused and ends nothing', async () => {
  const source = new RemoteWork(await nodeThat({ result: false }), undefined)
  expect(await source.submitWork('0x0000000000000001', ZERO_HASH, ZERO_HASH)).toBe(false)
  const away = new RemoteWork('http://127.0.0.1:1', undefined)
  expect(await away.submitWork('0x0000000000000001', ZERO_HASH, ZERO_HASH)).toBe(false)
  expect([source.counts, away.counts]).toEqual([
    { accepted: 0, refused: 1 },
    { accepted: 0, refused: 1 },
  ])
})

test('a node that does not respond is named, with what to check', async () => {
  const refused = new RemoteWork('http://127.0.0.1:2', undefined).refresh()
  await expect(refused).rejects.toThrow('http://127.0.0.1:2 does not respond and is tried again; check --rpc')
  expect(messageWithCause(await refused.catch(error => error))).toMatch(/runs: (connect ECONNREFUSED|.*bad port)/)
})

test('hash rates are written with their unit', () => {
  expect([0, 999, 1_234, 2_500_000, 7e12, 7e15].map(formatRate)).toEqual([
    '0 H/s',
    '999 H/s',
    '1.23 kH/s',
    '2.50 MH/s',
    '7.00 TH/s',
    '7000.00 TH/s',
  ])
})
