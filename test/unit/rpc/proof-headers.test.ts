import { join } from 'node:path'
import { bytesToHex, type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { putEarliestBlock } from '../../../src/chain/store/earliest-block.ts'
import { searchNonces } from '../../../src/powchain/mining/search.ts'
import { BUCKETS } from '../../../src/storage/buckets.ts'
import { numberKey } from '../../../src/storage/keys.ts'
import { Store } from '../../../src/storage/store.ts'
import { type Ask, withDevNode } from '../../support/dev-node.ts'
import { withTempDir } from '../../support/devnet.ts'
import { MINER } from '../../support/powchain/headers.ts'

type Work = readonly [Hex, Hex, Hex, Hex]

/** Mines the next header as an outside miner does; devnet's first targets take a few hashes. */
const mineHeader = async (ask: Ask): Promise<void> => {
  const [sealHash, , target] = await ask<Work>('eth_getWork', MINER)
  const search = {
    version: 1,
    sealHash,
    target: BigInt(target),
    prefix: Uint8Array.of(0),
    from: 0,
    budgetMs: Number.POSITIVE_INFINITY,
  }
  const { found } = await searchNonces(search)
  const nonce = found && bytesToHex(found.nonce)
  expect(await ask('eth_submitWork', nonce, sealHash, ZERO_HASH)).toBe(true)
}

interface Answer {
  readonly number: Hex
  readonly id: Hex
  readonly includedIn: Hex | null
}

test('headers are read by height, id and range, pending ones with no block', () =>
  withDevNode(async ask => {
    for (let at = 0; at < 3; at++) {
      await mineHeader(ask)
      if (at < 2) await ask('evm_mine')
    }
    expect(await ask('native_proofBlockNumber')).toBe('0x3')
    const headers = await ask<Answer[]>('native_getProofHeaderRange', '0x1', '0x9')
    expect(headers.map(({ number, includedIn }) => [number, includedIn])).toEqual([
      ['0x1', '0x1'],
      ['0x2', '0x2'],
      ['0x3', null],
    ])
    expect(headers[0]).toMatchObject({
      anchorNumber: '0x0',
      mixHash: '0x',
      nonce: expect.stringMatching(/^0x[0-9a-f]{16}$/),
    })
    const { hash } = await ask<{ hash: Hex }>('eth_getBlockByNumber', '0x1', false)
    expect(headers[1]).toMatchObject({ anchorNumber: '0x1', anchorHash: hash })
    for (const header of headers)
      for (const ref of [header.id, header.number]) expect(await ask('native_getProofHeader', ref)).toEqual(header)
    expect(await ask('native_getProofHeaderRange', '0x4', '0x9')).toEqual([])
    expect(await ask('native_getProofHeader', '0x4')).toBeNull()
    for (const beyond of ['0x1fffffffffffff', '0x20000000000000', '0xffffffffffffffff']) {
      expect(await ask('native_getProofHeader', beyond)).toBeNull()
      expect(await ask('native_getProofHeaderRange', beyond, beyond)).toEqual([])
    }
    const code = (...range: string[]) => ask('native_getProofHeaderRange', ...range).catch(error => error.message)
    expect(await code('0x1', '0x64')).toHaveLength(3)
    expect(await code('0x1', '0x65')).toMatch(/at most 100/)
    expect(await code('0x2', '0x1')).toMatch(/from is after to/)
    const { miner } = await ask<{ miner: Hex }>('eth_getBlockByNumber', '0x2', false)
    expect(miner).toBe(MINER)
  }))

test('headers of blocks that a node does not have, and those whose time it does not know, are missing history', () =>
  withTempDir(async dataDir => {
    await withDevNode(
      async ask => {
        for (let at = 0; at < 4; at++) {
          await mineHeader(ask)
          await ask('evm_mine')
        }
      },
      { dataDir },
    )
    const store = await Store.open(join(dataDir, 'db'))
    const batch = store.batch()
    putEarliestBlock(batch, 3)
    const id = store.getSync(BUCKETS.proofHeight, numberKey(1)) as Uint8Array
    await batch.del(BUCKETS.proofHeight, numberKey(1)).del(BUCKETS.proofHeader, id).write()
    await store.close()
    await withDevNode(
      async ask => {
        const missing = 'pruned history unavailable: this node has no blocks between genesis and 3'
        const unknown = `0x${'5a'.repeat(32)}`
        for (const ref of ['0x1', bytesToHex(id), unknown, '0x2', '0x3'])
          await expect(ask('native_getProofHeader', ref), ref).rejects.toThrow(missing)
        await expect(ask('native_getProofHeaderRange', '0x1', '0x4')).rejects.toThrow(missing)
        expect(await ask('native_getProofHeaderRange', '0x4', '0x9')).toMatchObject([
          { number: '0x4', anchorNumber: '0x3' },
        ])
        for (const none of ['0x0', '0x5']) expect(await ask('native_getProofHeader', none)).toBeNull()
      },
      { dataDir },
    )
  }))

test('a reset of the chain takes the headers with it', () =>
  withDevNode(async ask => {
    await mineHeader(ask)
    await ask('evm_mine')
    await ask('hardhat_reset')
    expect(await ask('native_proofBlockNumber')).toBe('0x0')
    expect(await ask('native_getProofHeader', '0x1')).toBeNull()
    await mineHeader(ask)
    await ask('evm_mine')
    expect(await ask('native_getProofHeader', '0x1')).toMatchObject({ includedIn: '0x1' })
  }))

test('subscribers hear of each header when a block makes it final', () =>
  withDevNode(async (ask, { urls: { ws } }) => {
    const socket = new WebSocket(ws)
    const messages: { id?: number; error?: { code: number }; params?: { result: Answer } }[] = []
    const next = (count: number) => expect.poll(() => messages.length).toBe(count)
    socket.on('message', data => messages.push(JSON.parse(String(data))))
    await new Promise(resolve => socket.once('open', resolve))
    const subscribe = (id: number, namespace: string) =>
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: `${namespace}_subscribe`, params: ['newProofHeaders'] }))
    subscribe(1, 'eth')
    subscribe(2, 'native')
    await next(2)
    expect(messages.find(({ id }) => id === 1)?.error?.code).toBe(-32601)
    await mineHeader(ask)
    await ask('evm_mine')
    await next(3)
    expect(messages[2]?.params?.result).toEqual(await ask('native_getProofHeader', '0x1'))
    socket.close()
  }))

test('subscribers to work get it at once and whenever it changes, for the address they name', () =>
  withDevNode(async (ask, { urls: { ws } }) => {
    const socket = new WebSocket(ws)
    const messages: { id?: number; error?: { code: number; message: string }; params?: { result: Work } }[] = []
    socket.on('message', data => messages.push(JSON.parse(String(data))))
    await new Promise(resolve => socket.once('open', resolve))
    const subscribe = (id: number, namespace: string, ...params: readonly unknown[]) =>
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: `${namespace}_subscribe`, params }))
    const works = () => messages.flatMap(({ params }) => (params ? [params.result] : []))
    subscribe(1, 'eth', 'newWork', MINER)
    subscribe(2, 'native', 'newWork', 'nobody')
    subscribe(3, 'native', 'newWork', MINER)
    await expect.poll(() => works().length).toBe(1)
    expect(messages.find(({ id }) => id === 1)?.error?.code).toBe(-32601)
    expect(messages.find(({ id }) => id === 2)?.error?.code).toBe(-32602)
    expect(works()[0]).toEqual(await ask('native_getWork', MINER))
    await mineHeader(ask)
    await ask('evm_mine')
    await expect.poll(() => works().length).toBe(2)
    expect(works()[1]).toEqual(await ask('native_getWork', MINER))
    socket.close()
  }))

test('work whose anchor is taken back is replaced at once', () =>
  withDevNode(async (ask, { urls: { http } }) => {
    const snapshot = await ask('evm_snapshot')
    await ask('evm_mine')
    const [before] = await ask<Work>('native_getWork', MINER)
    // Earlier than the poll ends by itself.
    const signal = AbortSignal.timeout(10_000)
    const waiting = fetch(`${http}/work?coinbase=${MINER}&longpollid=${before}`, { signal })
    await ask('evm_revert', snapshot)
    const [reverted] = (await (await waiting).json()) as Work
    expect(reverted).not.toBe(before)
    await ask('evm_increaseTime', 5)
    await ask('evm_mine')
    expect((await ask<Work>('native_getWork', MINER))[0]).not.toBe(before)
  }))

test('a long poll is answered at once with other work, or when the work changes', () =>
  withDevNode(async (ask, { urls: { ws } }) => {
    const http = `http://${new URL(ws).host}`
    const poll = async (query: string) => (await fetch(`${http}/work?${query}`)).json() as Promise<Work>
    const first = await poll(`coinbase=${MINER}`)
    expect(first).toEqual(await ask('native_getWork', MINER))
    expect(await poll(`coinbase=${MINER}&longpollid=${ZERO_HASH}`)).toEqual(first)
    let isOver = false
    const waiting = poll(`coinbase=${MINER}&longpollid=${first[0]}`).finally(() => {
      isOver = true
    })
    await mineHeader(ask)
    expect(isOver).toBe(false)
    await ask('evm_mine')
    expect(await waiting).toEqual(await ask('native_getWork', MINER))
    expect((await fetch(`${http}/work?coinbase=me`)).status).toBe(400)
  }))
