import { bytesToBigint, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { describe, expect, test } from 'vitest'
import { GAS_PER_BLOB } from '../../../../src/config/forks.ts'
import { createExecutor } from '../../../../src/evm/engines/executor.ts'
import type { Transaction } from '../../../../src/primitives/transaction/transaction.ts'
import type { UnsignedTransaction } from '../../../../src/primitives/transaction/transaction-encoding.ts'
import type { TransactionError } from '../../../../src/rules/transaction.ts'
import { Journal } from '../../../../src/state/journal/journal.ts'
import { ample, code, env, funded, GAS_PRICE, key, listSource, paramsAt, signed, TOKEN, withCode } from '../world.ts'

const alice = key(1)
const bob = key(2)
/** Our rules and EthereumJS' VM must agree about every block here. */
const executor = createExecutor({ mode: 'shadow', logger: silentLogger })

const PRICE = 3n
const cancun = { params: paramsAt('cancun'), blobs: { baseFeePerGas: PRICE, maxPerBlock: 6 } }
const osaka = { params: paramsAt('osaka'), blobs: { baseFeePerGas: PRICE, maxPerBlock: 21 } }

const hashes = (count: number): Hex[] =>
  Array.from({ length: count }, (_, i): Hex => `0x01${toWord(BigInt(i)).slice(4)}`)
const blobTx = (fields: Partial<UnsignedTransaction> = {}): Transaction =>
  signed(alice, {
    type: 3,
    nonce: 0,
    to: bob.address,
    value: 5n,
    gasLimit: 21_000n,
    maxPriorityFeePerGas: 0n,
    maxFeePerGas: GAS_PRICE,
    maxFeePerBlobGas: 10n,
    blobVersionedHashes: hashes(2),
    ...fields,
  })

const run = async (transactions: readonly Transaction[], block = env(cancun), state = funded([alice])) => {
  const journal = new Journal(state)
  const execution = await executor.execute(journal, block, transactions)
  return { execution, after: state.with(journal.changes()) }
}

describe('a blob transaction', () => {
  test('pays for its blobs at the price of the block, and what it pays is burnt', async () => {
    const { execution, after } = await run([blobTx()])
    expect(execution.receipts).toMatchObject([
      { type: 3, status: 1, gasUsed: 21_000n, blobGasUsed: 2n * GAS_PER_BLOB, blobGasPrice: PRICE },
    ])
    const [fee, blobFee] = [21_000n * env().baseFeePerGas, 2n * GAS_PER_BLOB * PRICE]
    expect(after.account(alice.address)?.balance).toBe(1_000_000n * TOKEN - 5n - fee - blobFee)
    expect(execution.fees.burnt).toBe(fee / 2n + blobFee)
  })

  test('shows code its hashes and the price', async () => {
    // Slots 0, 1, 2: BLOBHASH of 0, 1, 2; slot 3: BLOBBASEFEE.
    const look = [0, 1, 2].map(i => code(0x60, `0${i}`, 0x49, 0x60, `0${i}`, 0x55))
    const contract: Hex = `0x${'0b'.repeat(20)}`
    const state = withCode(funded([alice]), contract, Buffer.concat([...look, code(0x4a, 0x60, '03', 0x55)]))
    const { after } = await run([blobTx({ to: contract, value: 0n, gasLimit: 200_000n })], env(cancun), state)
    const slots = [0n, 1n, 2n, 3n].map(slot => BigInt(after.storage(contract, toWord(slot))))
    expect(slots).toEqual([...hashes(2).map(hash => bytesToBigint(hexToBytes(hash))), 0n, PRICE])
  })

  test('pays for its blobs also when its code fails', async () => {
    const contract: Hex = `0x${'0b'.repeat(20)}`
    const state = withCode(funded([alice]), contract, code(0xfe))
    const { execution, after } = await run([blobTx({ to: contract, value: 0n, gasLimit: 50_000n })], env(cancun), state)
    expect(execution.receipts[0]?.status).toBe(0)
    const paid = 50_000n * env().baseFeePerGas + 2n * GAS_PER_BLOB * PRICE
    expect(after.account(alice.address)?.balance).toBe(1_000_000n * TOKEN - paid)
  })

  test('beside others fills the block', async () => {
    const { execution } = await run([blobTx({ blobVersionedHashes: hashes(6) })])
    expect(execution.receipts[0]?.blobGasUsed).toBe(6n * GAS_PER_BLOB)
    const pair = [blobTx({ blobVersionedHashes: hashes(4) }), blobTx({ nonce: 1, blobVersionedHashes: hashes(3) })]
    await expect(run(pair)).rejects.toMatchObject({
      detail: { code: 'INVALID_TRANSACTION', index: 1, reason: { code: 'BLOCK_BLOBS_EXCEEDED', have: 3, limit: 2 } },
    })
    expect(
      (await run(pair, env({ ...cancun, blobs: { ...cancun.blobs, maxPerBlock: 7 } }))).execution.receipts,
    ).toHaveLength(2)
  })
})

describe('is refused', () => {
  const refusal = async (tx: Transaction, block = env(cancun), state = funded([alice])): Promise<TransactionError> => {
    const built = await executor.build(new Journal(state), block, listSource([tx]), ample)
    expect(built.transactions).toEqual([])
    // The VM must refuse it as well.
    await expect(executor.execute(new Journal(state), block, [tx])).rejects.toMatchObject({
      detail: { code: 'INVALID_TRANSACTION', index: 0 },
    })
    return built.dropped[0]?.reason as TransactionError
  }

  test.each([
    ['without blobs', { blobVersionedHashes: [] }, { code: 'NO_BLOBS' }],
    [
      'with a hash of another version',
      { blobVersionedHashes: [...hashes(1), toWord(2n ** 249n)] },
      { code: 'BLOB_VERSION_UNKNOWN', hash: toWord(2n ** 249n) },
    ],
    [
      'with a version whose first digits read as 1',
      { blobVersionedHashes: [`0x1a${'00'.repeat(31)}` as Hex] },
      { code: 'BLOB_VERSION_UNKNOWN', hash: `0x1a${'00'.repeat(31)}` },
    ],
    ['with more blobs than a block', { blobVersionedHashes: hashes(7) }, { code: 'TOO_MANY_BLOBS', have: 7, limit: 6 }],
    ['below the price', { maxFeePerBlobGas: 2n }, { code: 'BLOB_FEE_TOO_LOW', have: 2n, want: 3n }],
  ])('%s', async (_, fields, reason) => {
    expect(await refusal(blobTx(fields))).toEqual(reason)
  })

  test('when the cap for its blobs is not payable with the rest', async () => {
    const want = 21_000n * GAS_PRICE + 2n * GAS_PER_BLOB * 10n + 5n
    expect((await run([blobTx()], env(cancun), funded([alice], want))).execution.receipts).toHaveLength(1)
    expect(await refusal(blobTx(), env(cancun), funded([alice], want - 1n))).toEqual({
      code: 'INSUFFICIENT_FUNDS',
      have: want - 1n,
      want,
    })
  })

  test('with more than six blobs from Osaka on (EIP-7594)', async () => {
    expect((await run([blobTx({ blobVersionedHashes: hashes(6) })], env(osaka))).execution.receipts).toHaveLength(1)
    expect(await refusal(blobTx({ blobVersionedHashes: hashes(7) }), env(osaka))).toEqual({
      code: 'TOO_MANY_BLOBS',
      have: 7,
      limit: 6,
    })
  })

  test('in a block before Cancun, and on a chain without blobs whatever its fork', async () => {
    const unsupported = { code: 'TYPE_UNSUPPORTED', type: 3 }
    expect(await refusal(blobTx(), env({ ...cancun, params: paramsAt('shanghai') }))).toEqual(unsupported)
    for (const fork of ['cancun', 'prague', 'osaka'] as const) {
      expect(await refusal(blobTx(), env({ params: paramsAt(fork) }))).toEqual(unsupported)
    }
  })
})
