import { join } from 'node:path'
import { expect, test } from 'vitest'
import { verifyChain } from '../../../../src/chain/verify-chain.ts'
import { Store } from '../../../../src/storage/store.ts'
import { type Ask, withDevNode } from '../../../support/dev-node.ts'

const ALICE = `0x${'a1'.repeat(20)}`
const BOB = `0x${'b0'.repeat(20)}`

/** Sends the same transaction again, in a block of its own; returns its hash. A client reads `known` meanwhile. */
const sendAgain = async (ask: Ask, known?: string): Promise<string> => {
  await ask('hardhat_setNonce', ALICE, '0x0')
  if (known !== undefined) await ask('eth_getTransactionReceipt', known)
  const fees = { maxFeePerGas: '0x174876e800', maxPriorityFeePerGas: '0x1' }
  return ask<string>('eth_sendTransaction', {
    from: ALICE,
    to: BOB,
    value: '0x1',
    gas: '0x5208',
    nonce: '0x0',
    ...fees,
  })
}

const blockOf = async (ask: Ask, hash: string): Promise<number | undefined> => {
  const receipt = await ask<{ blockNumber: string } | null>('eth_getTransactionReceipt', hash)
  return receipt === null ? undefined : Number(receipt.blockNumber)
}

const problemsIn = async (dataDir: string): Promise<readonly string[]> => {
  const store = await Store.open(join(dataDir, 'db'), { createIfMissing: false })
  try {
    return (await verifyChain(store, { from: 0 })).problems
  } finally {
    await store.close()
  }
}

/** A transaction in blocks 1, 2 and 3, with a snapshot before each of the last two. */
const repeat = async (ask: Ask): Promise<{ hash: string; snapshots: readonly unknown[] }> => {
  await ask('anvil_autoImpersonateAccount', true)
  await ask('anvil_setBalance', ALICE, '0xde0b6b3a7640000')
  const hash = await sendAgain(ask)
  const snapshots: unknown[] = []
  for (const number of [2, 3]) {
    snapshots.push(await ask('evm_snapshot'))
    expect(await sendAgain(ask, hash)).toBe(hash)
    expect(await blockOf(ask, hash)).toBe(number)
  }
  return { hash, snapshots }
}

test('a transaction that is in several blocks is found in the newest, and the chain is whole', () =>
  withDevNode(async (ask, { dataDir, stop }) => {
    await repeat(ask)
    await stop()
    expect(await problemsIn(dataDir)).toEqual([])
  }))

test('a revert leaves a transaction in the earlier blocks that have it', () =>
  withDevNode(async (ask, { dataDir, stop }) => {
    const { hash, snapshots } = await repeat(ask)
    expect(await ask('evm_revert', snapshots[1])).toBe(true)
    expect(await blockOf(ask, hash)).toBe(2)
    expect(await ask('evm_revert', snapshots[0])).toBe(true)
    expect(await blockOf(ask, hash)).toBe(1)
    await stop()
    expect(await problemsIn(dataDir)).toEqual([])
  }))

test('so does one revert of several blocks that have it, and a reset leaves it in none', () =>
  withDevNode(async (ask, { dataDir, stop }) => {
    const { hash, snapshots } = await repeat(ask)
    expect(await ask('evm_revert', snapshots[0])).toBe(true)
    expect(await blockOf(ask, hash)).toBe(1)
    await sendAgain(ask)
    await ask('hardhat_reset')
    expect(await blockOf(ask, hash)).toBeUndefined()
    await stop()
    expect(await problemsIn(dataDir)).toEqual([])
  }))
