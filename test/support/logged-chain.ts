import { type Hex, toWord } from '@tandem/base/bytes.ts'
import { emptyBlock } from '../../devtools/sim/block.ts'
import { putBlock } from '../../src/chain/store/put-block.ts'
import type { ChainBlock } from '../../src/chain/store/types.ts'
import { keccak256Hex } from '../../src/crypto/hash.ts'
import { bloomFromLogs } from '../../src/primitives/receipt/bloom.ts'
import type { Log } from '../../src/primitives/receipt/log.ts'
import type { Receipt } from '../../src/primitives/receipt/receipt.ts'
import type { Transaction } from '../../src/primitives/transaction/transaction.ts'
import type { Batch } from '../../src/storage/batch.ts'

/** Adds a block to the batch whose transactions log what is given: of its transactions only hashes, senders and a few bytes are there. */
export const putLoggedBlock = (batch: Batch, number: number, logs: readonly (readonly Log[])[], version = 0): void => {
  const transactions = logs.map((_, index) => {
    const hash = keccak256Hex(Buffer.from(`${number} ${index} ${version}`))
    const raw = new Uint8Array(100).fill(index)
    return { hash, from: `0x${'5e'.repeat(20)}`, raw } as unknown as Transaction
  })
  const receipts = logs.map(
    (list, index) =>
      ({ type: 0, status: 1, cumulativeGasUsed: BigInt(21_000 * (index + 1)), logs: list }) as unknown as Receipt,
  )
  const { header, hash, ...parts } = emptyBlock(
    { number, parentHash: toWord(BigInt(version)), timestamp: number, logsBloom: bloomFromLogs(logs.flat()) },
    { proposer: `0x${'11'.repeat(20)}` as Hex, parentCertificate: null },
  )
  const block = { ...parts, header, hash, transactions, extra: undefined } as unknown as ChainBlock
  putBlock(batch, { block, receipts, certificate: null })
}
