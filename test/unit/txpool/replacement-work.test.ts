import { expect, test } from 'vitest'
import type { Transaction } from '../../../src/primitives/transaction/transaction.ts'
import { Accounts, address, createPool, GWEI, TOKEN, transaction } from './fixtures.ts'

const from = address(1)

/** Transactions whose prices are counted when they are read: a walk over a sender's transactions reads them all. */
const countedSender = (count: number) => {
  let reads = 0
  const priced = (nonce: number, price: bigint): Transaction =>
    Object.defineProperty(transaction({ from, nonce, maxFeePerGas: price }), 'maxFeePerGas', {
      get: () => {
        reads++
        return price
      },
    })
  const { pool } = createPool({ accounts: new Accounts(1_000_000n * TOKEN) })
  for (let nonce = 0; nonce < count; nonce++) pool.admit(priced(nonce, 30n * GWEI), 'remote')
  const replace = (nonce: number, price: bigint) => {
    reads = 0
    const result = pool.admit(priced(nonce, price), 'remote')
    return { ...result, reads }
  }
  return { pool, replace }
}

test.each([0, 1_000, 1_999])(
  'a replacement at %i of 2,000 costs no walk over the transactions of its sender',
  nonce => {
    const { pool, replace } = countedSender(2_000)
    const first = replace(nonce, 40n * GWEI)
    expect(first.status).toBe('pending')
    // It is executable for the first time, and no other is announced again.
    expect(first.executable.map(({ hash }) => hash)).toEqual([pool.content().pending.get(from)?.[nonce]?.hash])
    expect(first.reads).toBeLessThan(50)
    expect(replace(nonce, 50n * GWEI).reads).toBeLessThan(50)
    expect(pool.counts()).toEqual({ pending: 2_000, queued: 0 })
    expect(pool.slots()).toEqual({ ready: 2_000, queued: 0 })
  },
)
