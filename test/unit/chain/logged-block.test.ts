import { bytesToHex } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import type { LoggedBlock } from '../../../src/chain/store/logged-block.ts'
import { ACCOUNT_KEYS, signedRaw, withChain } from '../../support/chain.ts'

/** Logs one word as it is made. */
const LOGGING = Uint8Array.of(0x60, 0x20, 0x5f, 0xa0)

/** All objects reachable from a value, at any depth. */
const reachable = (value: unknown, seen = new Set<unknown>()): Set<unknown> => {
  if (seen.has(value)) return seen
  seen.add(value)
  if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value))
    for (const member of Object.values(value)) reachable(member, seen)
  return seen
}

/** Rows come as buffers, which compare otherwise. */
const plain = (kept: LoggedBlock | undefined) => ({
  ...kept,
  logs: kept?.logs.map(logs => logs.map(log => ({ ...log, data: bytesToHex(log.data) }))),
})

test('what log queries keep of a block is the same from memory and from its rows, and does not hold the block', () =>
  withChain(async chain => {
    for (const [nonce, data] of [null, LOGGING, null].entries()) {
      const fields = data === null ? { nonce, value: 1n } : { nonce, to: null, data, gasLimit: 200_000n }
      await chain.pool.service.submit(signedRaw(ACCOUNT_KEYS[0] as Uint8Array, fields))
    }
    const block = await chain.mine()
    const { number } = block.header
    const kept = await chain.blocks.logged(number)
    expect(kept?.transactionHashes).toEqual([null, block.transactions[1]?.hash, null])
    expect(kept?.logs.map(logs => logs.length)).toEqual([0, 1, 0])

    const held = reachable(kept)
    for (const transaction of block.transactions) expect(held).not.toContain(transaction)
    expect([...held].filter(value => typeof value === 'function')).toEqual([])

    chain.blocks.forget()
    expect(plain(await chain.blocks.logged(number))).toEqual(plain(kept))
  }))
