import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { concatBytes, hexToBytes } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import type { SenderRecovery } from '../../src/crypto/recovery/sender-recovery.ts'
import type { Executor } from '../../src/evm/executor-types.ts'
import { withSenders } from '../../src/node/parts/consensus/block-codec.ts'
import { type DecodedEthereumBlock, decodeChainFile } from '../recorded/chain-file.ts'
import { parseGethGenesis } from '../recorded/geth-genesis.ts'
import { beginRecordedChain, readChainRecord } from '../recorded/open-recorded.ts'
import { exceptionNames, refusalText } from './exceptions.ts'
import { type BlockTest, genesisTextOf } from './fixture.ts'

/** Parts that all tests share. */
interface BlockTestTools {
  readonly executor: Executor
  readonly recovery: SenderRecovery
}

export interface BlockTestResult {
  readonly name: string
  readonly network: string
  readonly pass: boolean
  /** null when it passed. */
  readonly reason: string | null
  /** Figures of the last block, where it was measured: its gas, and milliseconds with root and write. */
  readonly gas?: number
  readonly ms?: number
}

class Failure extends Error {}

/** Decodes a block; undefined: its bytes are none. */
const decode = (bytes: Uint8Array): DecodedEthereumBlock | undefined => {
  try {
    return decodeChainFile(bytes, { difficulty: 0n })[0]
  } catch {
    return undefined
  }
}

/** Executes the blocks of a test on a chain of its own, in a folder that is removed. Throws Failure. */
const runChain = async (test: BlockTest, { executor, recovery }: BlockTestTools) => {
  const text = genesisTextOf(test)
  if (text === undefined) throw new Failure(`the network ${test.network} is not known`)
  const genesis = parseGethGenesis(text)
  const raws = test.blocks.map(({ rlp }) => hexToBytes(rlp))
  const readable = raws.filter(raw => decode(raw) !== undefined)
  const record = readChainRecord(genesis, concatBytes(...readable))
  const folder = mkdtempSync(join(tmpdir(), 'tandem-blocktest-'))
  const onFailure = (error: Error): never => {
    throw error
  }
  const { chain, world, store } = await beginRecordedChain(record, {
    storePath: folder,
    executor,
    logger: silentLogger,
    onFailure,
  })
  let last = { gas: 0, ms: 0 }
  try {
    const { hash } = chain.headBlock
    if (hash !== test.genesisBlockHeader.hash)
      throw new Failure(`genesis ${hash}, expected ${test.genesisBlockHeader.hash}`)
    for (const [at, raw] of raws.entries()) {
      const expected = test.blocks[at]?.expectException
      try {
        const [decoded] = decodeChainFile(raw, chain.headBlock.header)
        if (decoded === undefined) throw new Failure('an empty block')
        const block = await withSenders(recovery, decoded)
        const beganMs = performance.now()
        await chain.add(block)
        last = { gas: Number(block.header.gasUsed), ms: performance.now() - beganMs }
      } catch (error) {
        if (expected === undefined) throw new Failure(`block ${at + 1}: ${refusalText(error)}`)
        const names = exceptionNames(error)
        const wanted = expected.split('|').map(name => name.slice(name.indexOf('.') + 1))
        if (!wanted.some(name => names.includes(name)))
          throw new Failure(`block ${at + 1} refused by ${refusalText(error)}, expected ${expected}`)
        continue
      }
      if (expected !== undefined) throw new Failure(`block ${at + 1} accepted, expected ${expected}`)
    }
    if (chain.headBlock.hash !== test.lastblockhash)
      throw new Failure(`head ${chain.headBlock.hash}, expected ${test.lastblockhash}`)
    return last
  } finally {
    await world.close()
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs a test; `repeats`: measures its last block, as the fastest of so many. */
export const runBlockTest = async (
  name: string,
  test: BlockTest,
  tools: BlockTestTools,
  repeats = 0,
): Promise<BlockTestResult> => {
  const { network } = test
  try {
    let best = await runChain(test, tools)
    for (let i = 1; i < repeats; i++) {
      const next = await runChain(test, tools)
      if (next.ms < best.ms) best = next
    }
    return { name, network, pass: true, reason: null, ...(repeats > 0 && best) }
  } catch (error) {
    return { name, network, pass: false, reason: refusalText(error) }
  }
}
