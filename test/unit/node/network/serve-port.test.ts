import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import type { BlockStore } from '../../../../src/chain/store/block-store.ts'
import { servePort } from '../../../../src/node/network/serve-port.ts'
import { decodeBlock, encodeBlock } from '../../../../src/primitives/block.ts'
import { sealedChain } from '../../../support/consensus/sealed-chain.ts'

const CHAIN = sealedChain(20, () => [0])

/** Blocks 1 to 20 and no genesis, as rows answer them. */
const rows: Pick<BlockStore, 'encoded' | 'certificate' | 'numberOf' | 'receipts'> = {
  encoded: async number => {
    const block = CHAIN[number - 1]?.block
    return block && encodeBlock(block)
  },
  certificate: async number => CHAIN[number - 1]?.certificate,
  numberOf: async (hash: Hex) => CHAIN.find(({ block }) => block.hash === hash)?.block.header.number,
  receipts: async number => (number % 10 === 0 ? undefined : []),
}
const serve = servePort(rows)
const numbersOf = (blocks: readonly { readonly block: Uint8Array }[]) =>
  blocks.map(({ block }) => decodeBlock(block).header.number)

describe('what peers are answered', () => {
  test('blocks in order with their own certificates, as far as there are any', async () => {
    const blocks = await serve.blocks({ from: 18, count: 10 }, 1_000_000)
    expect(numbersOf(blocks)).toEqual([18, 19, 20])
    expect(blocks.map(({ certificate }) => certificate)).toEqual(CHAIN.slice(17).map(({ certificate }) => certificate))
    expect(await serve.blocks({ from: 21, count: 1 }, 1_000_000)).toEqual([])
    // Genesis has no certificate: everybody has it already.
    expect(await serve.blocks({ from: 0, count: 3 }, 1_000_000)).toEqual([])
  })

  test('as many as fit, but always one', async () => {
    const one = (await serve.blocks({ from: 5, count: 1 }, 1_000_000))[0]?.block.byteLength ?? 0
    expect(numbersOf(await serve.blocks({ from: 5, count: 10 }, 3.5 * one))).toEqual([5, 6, 7])
    expect(numbersOf(await serve.blocks({ from: 5, count: 10 }, 1))).toEqual([5])
  })

  test('receipts by the hashes of blocks, up to the first unknown one', async () => {
    const hashes = CHAIN.slice(7, 12).map(({ block }) => block.hash)
    const receipts = await serve.receipts(hashes, 1_000_000)
    expect(receipts.map(bytesToHex)).toEqual(['0xc0', '0xc0'])
    expect(await serve.receipts([`0x${'00'.repeat(32)}`], 1_000_000)).toEqual([])
  })
})
