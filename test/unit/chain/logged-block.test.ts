import { expect, test } from 'vitest'
import { loggedBlock } from '../../../src/chain/logs/log-query.ts'
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

test('what subscribers keep of the logs of a block does not hold the block', () =>
  withChain(async chain => {
    for (const [nonce, data] of [null, LOGGING, null].entries()) {
      const fields = data === null ? { nonce, value: 1n } : { nonce, to: null, data, gasLimit: 200_000n }
      await chain.pool.service.submit(signedRaw(ACCOUNT_KEYS[0] as Uint8Array, fields))
    }
    const { header } = await chain.mine()
    const recent = chain.blocks.recent(header.number)
    if (recent === undefined) throw new Error('the block is recent')
    const kept = loggedBlock(recent.block, recent.receipts)
    expect(kept.transactionHashes).toEqual([null, recent.block.transactions[1]?.hash, null])
    expect(kept.logs.map(logs => logs.length)).toEqual([0, 1, 0])

    const held = reachable(kept)
    for (const transaction of recent.block.transactions) expect(held).not.toContain(transaction)
    expect([...held].filter(value => typeof value === 'function')).toEqual([])
  }))
