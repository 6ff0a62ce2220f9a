import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { describe, expect, test } from 'vitest'
import { FIXTURE_LIMITS } from '../../../../devtools/limits.ts'
import {
  beginRecordedChain,
  type OpenedRecord,
  openRecordedChain,
  readChainRecord,
} from '../../../../devtools/recorded/open-recorded.ts'
import { recoverTransaction } from '../../../../devtools/state-test/transaction-sender.ts'
import { BlockStore } from '../../../../src/chain/store/block-store.ts'
import { createExecutor } from '../../../../src/evm/engines/executor.ts'
import type { ExecutionMode } from '../../../../src/evm/executor-types.ts'
import { type Block, encodeBlock } from '../../../../src/primitives/block.ts'
import { encodeReceipt, type Receipt } from '../../../../src/primitives/receipt/receipt.ts'
import { transactionsRoot } from '../../../../src/primitives/roots.ts'
import { HEAD_HASH, recordedBytes, recordedGenesis } from '../../../support/recorded/chain.ts'

const genesis = recordedGenesis()
const record = readChainRecord(genesis, recordedBytes())
const recorded = record.blocks.map(block => ({ ...block, transactions: block.transactions.map(recoverTransaction) }))

const withRecord = async <T>(
  open: typeof openRecordedChain,
  mode: ExecutionMode,
  work: (opened: OpenedRecord) => Promise<T>,
) => {
  const dir = mkdtempSync(join(tmpdir(), 'tandem-record-'))
  const executor = createExecutor({ mode, logger: silentLogger, reproductionDir: dir })
  const onFailure = (error: Error) => {
    throw error
  }
  try {
    const opened = await open(record, { storePath: join(dir, 'db'), executor, logger: silentLogger, onFailure })
    try {
      return await work(opened)
    } finally {
      await opened.world.close()
      await opened.store.close()
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

test.each<ExecutionMode>(['wasm', 'ethereumjs', 'shadow'])('all 54 blocks are executed in mode %s', mode =>
  withRecord(openRecordedChain, mode, async ({ chain }) => {
    expect(chain.headBlock.header.number).toBe(54)
    expect(chain.headBlock.hash).toBe(HEAD_HASH)
  }),
)

/** Everything of a receipt that its encoding does not hold, and the encoding. */
const wholeReceipt = ({ logs: _, logsBloom: __, ...rest }: Receipt, receipt: Receipt) => ({
  ...rest,
  encoded: Buffer.from(encodeReceipt(receipt)).toString('hex'),
})

test('what is stored reads back as what was executed, root or status, price of blobs and all', () =>
  withRecord(openRecordedChain, 'wasm', async ({ blocks, store, rules }) => {
    const fresh = new BlockStore(store, rules)
    for (const block of recorded) {
      const { number } = block.header
      expect(encodeBlock((await fresh.block(number)) as Block)).toEqual(encodeBlock(block))
      const [read, executed] = await Promise.all([fresh.receipts(number), blocks.receipts(number)])
      expect(read?.map(receipt => wholeReceipt(receipt, receipt))).toEqual(
        executed?.map(receipt => wholeReceipt(receipt, receipt)),
      )
    }
    expect((await fresh.receipts(8))?.[0]?.root).toBeDefined()
    expect((await fresh.receipts(9))?.[0]?.status).toBe(1)
    expect((await fresh.receipts(42))?.[0]).toMatchObject({ blobGasUsed: 131_072n, blobGasPrice: 1n })
  }))

const OTHER: Hex = `0x${'77'.repeat(32)}`

/** Blocks that are not what was recorded, by the field that tells; each is made of the recorded one. */
const FALSE_BLOCKS: readonly (readonly [field: string, number: number, change: (block: Block) => Block])[] = [
  ['number', 1, inHeader(() => ({ number: 2 }))],
  ['transactionsRoot', 1, inHeader(() => ({ transactionsRoot: OTHER }))],
  ['parentHash', 2, inHeader(() => ({ parentHash: OTHER }))],
  ['transactionsRoot', 2, block => ({ ...block, transactions: block.transactions.slice(1) })],
  ['sha3Uncles', 3, withoutUncles],
  // The tip goes to another account, which the receipts' roots tell before Byzantium.
  ['receiptsRoot', 3, inHeader(() => ({ miner: `0x${'22'.repeat(20)}` }))],
  ['stateRoot', 36, inHeader(() => ({ miner: `0x${'22'.repeat(20)}` }))],
  ['stateRoot', 3, inHeader(() => ({ stateRoot: OTHER }))],
  ['receiptsRoot', 4, inHeader(() => ({ receiptsRoot: OTHER }))],
  ['gasUsed', 5, inHeader(({ gasUsed }) => ({ gasUsed: gasUsed + 1n }))],
  ['logsBloom', 5, inHeader(({ logsBloom }) => ({ logsBloom: logsBloom.map(byte => byte ^ 1) }))],
  ['baseFeePerGas', 26, inHeader(() => ({ baseFeePerGas: 1n }))],
  ['baseFeePerGas', 27, inHeader(({ baseFeePerGas: _, ...header }) => header, true)],
  ['baseFeePerGas', 28, inHeader(({ baseFeePerGas = 0n }) => ({ baseFeePerGas: baseFeePerGas + 1n }))],
  ['withdrawalsRoot', 38, inHeader(() => ({ withdrawalsRoot: OTHER }))],
  ['withdrawalsRoot', 39, withdrawingMore],
  ['parentBeaconBlockRoot', 41, inHeader(() => ({ parentBeaconBlockRoot: OTHER }))],
  ['parentBeaconBlockRoot', 42, inHeader(({ parentBeaconBlockRoot: _, ...header }) => header, true)],
  ['stateRoot', 42, inHeader(() => ({ parentBeaconBlockRoot: OTHER }))],
  ['blobGasUsed', 42, inHeader(() => ({ blobGasUsed: 0n }))],
  ['excessBlobGas', 43, inHeader(() => ({ excessBlobGas: 1n }))],
  ['requestsHash', 44, inHeader(() => ({ requestsHash: OTHER }))],
  ['requestsHash', 45, inHeader(() => ({ requestsHash: OTHER }))],
]

function inHeader(change: (header: Block['header']) => Partial<Block['header']>, whole = false) {
  return (block: Block): Block => ({
    ...block,
    header: { ...(whole ? {} : block.header), ...change(block.header) } as Block['header'],
  })
}

function withoutUncles(block: Block): Block {
  return { ...block, ...(block.ethereum && { ethereum: { ...block.ethereum, uncles: [] } }) }
}

function withdrawingMore(block: Block): Block {
  const { ethereum } = block
  const withdrawals = ethereum?.withdrawals?.map(item => ({ ...item, amountGwei: item.amountGwei + 1n }))
  return { ...block, ...(ethereum && { ethereum: { ...ethereum, withdrawals } }) }
}

describe('a block that is not what its header says', () => {
  test('is found out by the first field that differs, and leaves the chain as it was', () =>
    withRecord(beginRecordedChain, 'wasm', async ({ chain }) => {
      for (const block of recorded) {
        const { number } = block.header
        for (const [field, at, change] of FALSE_BLOCKS) {
          if (at !== number) continue
          await expect(chain.add(change(block)), `${field} of block ${number}`).rejects.toMatchObject({
            detail: { code: 'BLOCK_MISMATCH', field },
          })
          expect(chain.headBlock.header.number).toBe(number - 1)
        }
        await chain.add(block)
      }
      expect(chain.headBlock.hash).toBe(HEAD_HASH)
    }))
})

test('a block that cannot be executed is refused with its number, and why', () =>
  withRecord(beginRecordedChain, 'wasm', async ({ chain }) => {
    const [first] = recorded as [(typeof recorded)[number]]
    const transactions = first.transactions.slice(1)
    const header = { ...first.header, transactionsRoot: transactionsRoot(transactions) }
    await expect(chain.add({ ...first, header, transactions })).rejects.toMatchObject({
      detail: { code: 'BLOCK_INVALID', number: 1, reason: expect.stringContaining('NONCE_TOO_HIGH') },
    })
    expect(chain.headBlock.header.number).toBe(0)
  }))

test('a file that is too long is refused', () => {
  const limit = FIXTURE_LIMITS.chainBytes
  expect(() => readChainRecord(genesis, new Uint8Array(limit + 1))).toThrow(
    expect.objectContaining({ detail: { code: 'RECORD_TOO_LARGE', bytes: limit + 1, limit } }),
  )
})
