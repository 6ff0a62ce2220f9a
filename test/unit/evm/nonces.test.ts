import type { Hex } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { MAX_UINT64, type Nonce } from '@tandem/base/uint64.ts'
import { expect, test } from 'vitest'
import { createExecutor } from '../../../src/evm/engines/executor.ts'
import { createAddress } from '../../../src/primitives/receipt/address.ts'
import type { Transaction } from '../../../src/primitives/transaction/transaction.ts'
import { Journal } from '../../../src/state/journal/journal.ts'
import { memoryAccount } from '../state/memory-state.ts'
import { code, env, funded, key, signed, TOKEN, withCode } from './world.ts'

/* EIP-2681: nonces up to 2^64 - 1. EthereumJS' VM must agree about every block here. */

const alice = key(1)
const bob = key(2)
const executor = createExecutor({ mode: 'shadow', logger: silentLogger })
const CONTRACT: Hex = `0x${'0b'.repeat(20)}`

const stateAt = (nonce: Nonce) => {
  const state = funded([alice])
  state.accounts.set(alice.address, memoryAccount({ nonce, balance: TOKEN }))
  return state
}
const transfer = (nonce: Nonce, more = {}): Transaction =>
  signed(alice, { nonce, to: bob.address, value: 1n, gasLimit: 21_000n, ...more })

const run = async (transactions: readonly Transaction[], state = stateAt(transactions[0]?.nonce ?? 0)) => {
  const journal = new Journal(state)
  const { receipts } = await executor.execute(journal, env(), transactions)
  return { receipts, journal }
}

test('an account counts on where numbers end', async () => {
  const nonces: readonly Nonce[] = [Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER, 2n ** 53n, 2n ** 53n + 1n]
  const { journal } = await run(nonces.map(nonce => transfer(nonce)))
  expect(journal.nonce(alice.address)).toBe(2n ** 53n + 2n)
})

test('neighbours that a double cannot tell apart are two nonces', async () => {
  await expect(run([transfer(2n ** 53n)], stateAt(2n ** 53n + 1n))).rejects.toMatchObject({
    detail: { reason: { code: 'NONCE_TOO_LOW', expected: 2n ** 53n + 1n, got: 2n ** 53n } },
  })
})

test('the last nonce but one is used, the last one never', async () => {
  const { journal, receipts } = await run([transfer(MAX_UINT64 - 1n)])
  expect(receipts[0]?.status).toBe(1)
  expect(journal.nonce(alice.address)).toBe(MAX_UINT64)
  await expect(run([transfer(MAX_UINT64)])).rejects.toMatchObject({ detail: { reason: { code: 'NONCE_MAX' } } })
})

test('a contract created with a large nonce stands at its address', async () => {
  const nonce = 2n ** 63n + 3n
  const { receipts, journal } = await run([transfer(nonce, { to: null, value: 0n, gasLimit: 100_000n })])
  const address = createAddress(alice.address, nonce)
  expect(receipts[0]?.contractAddress).toBe(address)
  expect(journal.nonce(address)).toBe(1)
})

test('a contract that has created as often as it can creates no more', async () => {
  // CREATE of nothing, its answer to slot 0; then the same into slot 1.
  const create = (slot: string) => code(0x5f, 0x5f, 0x5f, 0xf0, 0x60, slot, 0x55)
  const state = withCode(funded([alice]), CONTRACT, Buffer.concat([create('00'), create('01')]))
  Object.assign(state.accounts.get(CONTRACT) as object, { nonce: MAX_UINT64 - 1n })
  const { journal } = await run([transfer(0, { to: CONTRACT, value: 0n, gasLimit: 200_000n })], state)
  const slot = (n: number): bigint => BigInt(journal.storage(CONTRACT, `0x${n.toString(16).padStart(64, '0')}`))
  expect(slot(0)).toBe(BigInt(createAddress(CONTRACT, MAX_UINT64 - 1n)))
  expect(slot(1)).toBe(0n)
  expect(journal.nonce(CONTRACT)).toBe(MAX_UINT64)
})
