import { bytesToHex, type Hex, toQuantity, ZERO_HASH } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { searchNonces } from '../../../../src/powchain/mining/search.ts'
import { MINER } from '../../../support/powchain/headers.ts'
import { StratumClient, startStratum } from '../../../support/powchain/stratum-server.ts'

const SEED_1 = '3cef128dcf1b5465c4f30c5b92cb2dabdeb70395109856c5d0cc74540f8cbcf7'
const SEED_2 = '52e1cae7d98aa478ee08596f00f12b3703cc01f2a7c1e2432b0d5de5999a8a1d'

/** A nonce of the connection that meets the target, without its prefix, and its mix hash. */
const shareOf = async (version: number, sealHash: string, target: string, prefix: string, from = 0) => {
  const { found, next } = await searchNonces({
    version,
    sealHash: `0x${sealHash.replace(/^0x/, '')}`,
    target: BigInt(`0x${target.replace(/^0x/, '')}`),
    prefix: new Uint8Array(Buffer.from(prefix, 'hex')),
    from,
    budgetMs: Number.POSITIVE_INFINITY,
  })
  if (found === undefined) throw new Error('a search without an end finds')
  const mix = found.mixHash.byteLength === 0 ? ZERO_HASH : bytesToHex(found.mixHash)
  return { nonce: bytesToHex(found.nonce).slice(2), mix, next }
}

const paramsOf = (client: StratumClient, method: string) =>
  client.messages.findLast(message => message.method === method)?.params as readonly [string, string, string, boolean]

describe.each([
  ['of the first hash function', 20, 1, SEED_1],
  ['of the second', 0, 2, SEED_2],
] as const)('a share %s becomes a header', (_, fork, version, seed) => {
  test('by EthereumStratum/1.0.0', async () => {
    const { port, pool, server } = await startStratum(fork)
    const client = new StratumClient(port)
    const subscribed = await client.ask('mining.subscribe', ['miner/1', 'EthereumStratum/1.0.0'])
    expect(subscribed).toEqual({
      id: 1,
      result: [['mining.notify', expect.stringMatching(/^[0-9a-f]{16}$/), 'EthereumStratum/1.0.0'], '0000'],
      error: null,
    })
    expect(await client.ask('mining.extranonce.subscribe')).toEqual({ id: 2, result: true, error: null })
    expect(await client.ask('mining.authorize', [`${MINER}.rig1`, 'x'])).toEqual({ id: 3, result: true, error: null })
    await client.notified()
    expect(client.messages.map(({ method }) => method).filter(Boolean)).toEqual([
      'mining.set_difficulty',
      'mining.set_target',
      'mining.notify',
    ])
    const [job, jobSeed, sealHash, clean] = paramsOf(client, 'mining.notify')
    expect([jobSeed, clean]).toEqual([seed, true])
    const [target] = paramsOf(client, 'mining.set_target')
    const [difficulty] = paramsOf(client, 'mining.set_difficulty') as unknown as readonly [number]
    expect(difficulty * 4_295_032_833).toBeCloseTo(Number(2n ** 256n / (BigInt(`0x${target}`) + 1n)), 3)
    const { nonce } = await shareOf(version, sealHash, target, '0000')
    expect(await client.ask('mining.submit', [`${MINER}.rig1`, job, nonce.slice(4)])).toEqual({
      id: 4,
      result: true,
      error: null,
    })
    await expect.poll(() => pool.size).toBe(1)
    expect(pool.best()?.header).toMatchObject({ coinbase: MINER, extraNonce: Uint8Array.of(1, 2, 3, 4, 0x53, 0, 0) })
    expect(server.accounts.account(`${MINER}.rig1`, 0)?.counts.accepted).toBe(1)
  })

  test('by Stratum v1', async () => {
    const { port, pool } = await startStratum(fork)
    const client = new StratumClient(port)
    expect((await client.ask('mining.subscribe', ['cpuminer/2'])).result).toEqual([
      [
        ['mining.set_difficulty', expect.any(String)],
        ['mining.notify', expect.any(String)],
      ],
      '0000',
      2,
    ])
    expect((await client.ask('mining.authorize', [MINER, 'x'])).result).toBe(true)
    await client.notified()
    const [job, sealHash, clean, jobSeed] = paramsOf(client, 'mining.notify') as readonly unknown[] as readonly string[]
    expect([clean, jobSeed]).toEqual([true, seed])
    const { nonce } = await shareOf(version, sealHash as string, paramsOf(client, 'mining.set_target')[0], '0000')
    const submit = [MINER, job, nonce.slice(4, 8), '00000000', nonce.slice(8)]
    expect((await client.ask('mining.submit', submit)).result).toBe(true)
    expect((await client.ask('mining.submit', submit)).error).toEqual([
      expect.toBeOneOf([21, 22]),
      expect.any(String),
      null,
    ])
    await expect.poll(() => pool.size).toBe(1)
  })

  test('by getwork over TCP', async () => {
    const { port, pool, server } = await startStratum(fork)
    const client = new StratumClient(port)
    expect(await client.ask('eth_submitLogin', [MINER], { worker: 'rig2' })).toEqual({
      id: 1,
      jsonrpc: '2.0',
      result: true,
    })
    const pushed = await client.next(({ id }) => id === 0)
    const work = (await client.ask('eth_getWork')).result as readonly [Hex, Hex, Hex, Hex]
    expect(pushed).toEqual({ id: 0, jsonrpc: '2.0', result: work })
    expect(work.slice(1)).toEqual([`0x${seed}`, expect.stringMatching(/^0x[0-9a-f]{64}$/), '0x4'])
    expect((await client.ask('eth_submitHashrate', ['0x10', ZERO_HASH])).result).toBe(true)
    const { nonce, mix } = await shareOf(version, work[0], work[2], '00')
    // Miners that count write it without leading zeros.
    expect((await client.ask('eth_submitWork', [toQuantity(BigInt(`0x${nonce}`)), work[0], mix])).result).toBe(true)
    await expect.poll(() => pool.size).toBe(1)
    expect(server.accounts.account(`${MINER}.rig2`, 0)?.counts.accepted).toBe(1)
    expect((await client.ask('eth_submitWork', [`0x${nonce}`, work[0], mix])).error).toMatchObject({
      code: expect.toBeOneOf([21, 22]),
    })
  })
})

test('two miners with one address get different seal hashes and nonces', async () => {
  const { port } = await startStratum(20)
  const [first, second] = [new StratumClient(port), new StratumClient(port)]
  const prefixes: unknown[] = []
  for (const client of [first, second]) {
    const { result } = await client.ask('mining.subscribe', ['miner/1', 'EthereumStratum/1.0.0'])
    prefixes.push((result as readonly unknown[])[1])
    await client.ask('mining.authorize', [MINER])
    await client.notified()
  }
  expect(new Set(prefixes).size).toBe(2)
  expect(paramsOf(first, 'mining.notify')[2]).not.toBe(paramsOf(second, 'mining.notify')[2])
})

test('a new tip cleans the jobs, and shares of the old ones are stale; a newer anchor does not', async () => {
  const { port, advance, otherHeader } = await startStratum(20)
  const client = new StratumClient(port)
  await client.ask('mining.subscribe', ['miner/1', 'EthereumStratum/1.0.0'])
  await client.ask('mining.authorize', [MINER])
  await client.notified()
  const [old] = paramsOf(client, 'mining.notify')
  let from = client.messages.length
  advance(1)
  const anchored = await client.notified(from)
  expect(anchored.params?.[3], 'the same tip').toBe(false)
  expect((await client.ask('mining.submit', [MINER, old, '000000000001'])).error).toMatchObject([
    23,
    expect.any(String),
    null,
  ])
  from = client.messages.length
  otherHeader()
  const clean = await client.notified(from)
  expect(clean.params?.[3]).toBe(true)
  expect((await client.ask('mining.submit', [MINER, old, '000000000002'])).error).toMatchObject([
    21,
    expect.any(String),
    null,
  ])
  expect((await client.ask('mining.submit', [MINER, 'ffff', '000000000002'])).error).toMatchObject([
    20,
    expect.any(String),
    null,
  ])
})

test('blocks taken back end the jobs anchored at them, and a header found before is found again', async () => {
  const { port, pool, replaceHead, revert } = await startStratum(20)
  const client = new StratumClient(port)
  await client.ask('mining.subscribe', ['miner/1', 'EthereumStratum/1.0.0'])
  await client.ask('mining.authorize', [MINER])
  await client.notified()
  const [first, , before] = paramsOf(client, 'mining.notify')
  let from = client.messages.length
  replaceHead(ZERO_HASH)
  await client.notified(from)
  const [, , sealHash, clean] = paramsOf(client, 'mining.notify')
  expect([clean, sealHash === before]).toEqual([true, false])
  expect((await client.ask('mining.submit', [MINER, first, '000000000001'])).error).toEqual([
    21,
    expect.any(String),
    null,
  ])
  const [target] = paramsOf(client, 'mining.set_target')
  const { nonce } = await shareOf(1, sealHash, target, '0000')
  const submit = () => client.ask('mining.submit', [MINER, paramsOf(client, 'mining.notify')[0], nonce.slice(4)])
  expect((await submit()).result).toBe(true)
  await expect.poll(() => pool.size).toBe(1)
  from = client.messages.length
  revert()
  await client.notified(from)
  expect(pool.size).toBe(0)
  expect((await submit()).result).toBe(true)
  await expect.poll(() => pool.size).toBe(1)
})

test('after the fork a job of the first hash function is stale, and the seed of jobs is the second', async () => {
  const { port, otherHeader } = await startStratum(5)
  const client = new StratumClient(port)
  await client.ask('mining.subscribe', ['miner/1', 'EthereumStratum/1.0.0'])
  await client.ask('mining.authorize', [MINER])
  const { params } = await client.notified()
  expect(params?.[1]).toBe(SEED_1)
  const from = client.messages.length
  otherHeader()
  expect((await client.notified(from)).params?.[1]).toBe(SEED_2)
  expect((await client.ask('mining.submit', [MINER, params?.[0], '000000000002'])).error).toMatchObject([
    21,
    expect.any(String),
    null,
  ])
})

test('each refusal has its code and says what to do', async () => {
  const { port } = await startStratum(20, 20)
  const client = new StratumClient(port)
  const codeOf = async (method: string, params: readonly unknown[]) =>
    (await client.ask(method, params)).error as readonly [number, string, null]
  expect(await codeOf('mining.submit', [MINER, '1', '000000000001'])).toMatchObject([25, expect.any(String), null])
  expect(await codeOf('mining.authorize', [MINER])).toMatchObject([25, expect.any(String), null])
  await client.ask('mining.subscribe', ['miner/1', 'EthereumStratum/1.0.0'])
  expect(await codeOf('mining.submit', [MINER, '1', '000000000001'])).toMatchObject([24, expect.any(String), null])
  for (const user of [
    '',
    'me',
    `0x${'00'.repeat(20)}`,
    '0xAb5801a7D398351b8bE11C439e05C5B3259aeC9b'.replace('A', 'a'),
    {},
    null,
  ])
    expect(await codeOf('mining.authorize', [user]), String(JSON.stringify(user))).toMatchObject([
      24,
      expect.any(String),
      null,
    ])
  expect((await client.ask('mining.authorize', [`${MINER}.a`])).result).toBe(true)
  expect(await codeOf('mining.authorize', [`0x${'44'.repeat(20)}`])).toMatchObject([
    24,
    expect.stringMatching(/one address/),
    null,
  ])
  expect(await codeOf('mining.nonsense', [])).toMatchObject([20, 'unknown method', null])
  await client.notified()
  const [job] = paramsOf(client, 'mining.notify')
  expect(await codeOf('mining.submit', [`${MINER}.b`, job, '000000000001'])).toMatchObject([
    24,
    expect.any(String),
    null,
  ])
  expect(await codeOf('mining.submit', [{ toString: 1 }, job, '000000000001'])).toMatchObject([
    23,
    expect.any(String),
    null,
  ])
  for (const nonce of ['', '00', '0000000000001', 'zz0000000001', 7, null, {}])
    expect(await codeOf('mining.submit', [`${MINER}.a`, job, nonce])).toMatchObject([
      20,
      expect.stringMatching(/malformed/),
      null,
    ])
  expect(await codeOf('mining.submit', [`${MINER}.a`, job, '000000000003'])).toMatchObject([
    23,
    expect.any(String),
    null,
  ])
  expect(await codeOf('mining.submit', [`${MINER}.a`, job, '000000000003'])).toMatchObject([
    22,
    expect.any(String),
    null,
  ])
})
