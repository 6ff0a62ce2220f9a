import { BlockStore } from '../chain/block-store.ts'
import type { ChainRules } from '../chain/chain-rules.ts'
import { RecordedChain } from '../chain/ethereum/recorded-chain.ts'
import { ethereumRules } from '../chain/ethereum/rules.ts'
import { writeGenesis } from '../chain/write-genesis.ts'
import { type GethStyle, type RecordedHeader, recordedParams } from '../config/genesis/recorded.ts'
import type { Genesis } from '../config/genesis.ts'
import { LIMITS } from '../config/limits.ts'
import type { NetworkParams } from '../config/networks.ts'
import { SenderRecovery } from '../crypto/recovery.ts'
import type { Executor } from '../evm/execution.ts'
import { type DecodedEthereumBlock, decodeEthereumChain } from '../primitives/ethereum-chain.ts'
import { WorldState } from '../state/world-state.ts'
import type { Store } from '../storage/store.ts'
import type { Hex } from '../util/bytes.ts'
import { CodedError } from '../util/errors.ts'
import type { Logger } from '../util/logger.ts'
import { withSenders } from './block-codec.ts'
import { openParts } from './open-chain.ts'

export interface OpenRecordedOptions {
  /** An empty folder. */
  readonly storePath: string
  readonly executor: Executor
  readonly logger: Logger
  readonly onFailure: (error: Error) => void
}

export interface OpenedRecord {
  readonly params: NetworkParams
  readonly rules: ChainRules
  readonly store: Store
  readonly blocks: BlockStore
  readonly world: WorldState
  readonly chain: RecordedChain
}

/** What a recorded chain must be: a genesis of geth's form, a chain that is not too long. */
export type RecordedError =
  | { readonly code: 'RECORD_NEEDS_GETH_GENESIS' }
  | { readonly code: 'RECORD_TOO_LARGE'; readonly bytes: number; readonly limit: number }

/** A record as it was handed in: its blocks, and the rules that follow from all of them and the genesis. */
export interface ChainRecord {
  readonly genesis: Genesis
  readonly depositContract: Hex
  readonly params: NetworkParams
  readonly blocks: readonly DecodedEthereumBlock[]
}

/** Throws CodedError: RecordedError, BLOCK_MALFORMED. */
export const readRecord = (genesis: Genesis, bytes: Uint8Array): ChainRecord => {
  const style = gethStyle(genesis)
  const limit = LIMITS.fixture.chainBytes
  if (bytes.byteLength > limit) throw refusal({ code: 'RECORD_TOO_LARGE', bytes: bytes.byteLength, limit })
  const blocks = decodeEthereumChain(bytes, genesis.header)
  const headers: readonly RecordedHeader[] = [genesis.header, ...blocks.map(({ header }) => header)]
  const params = recordedParams(genesis, style, headers)
  return { genesis, depositContract: style.depositContract, params, blocks }
}

/** The chain of a record in an empty store, with block 0 alone. */
export const beginRecord = async (record: ChainRecord, options: OpenRecordedOptions): Promise<OpenedRecord> => {
  const { genesis, params } = record
  const { storePath, executor, logger, onFailure } = options
  const { store, trie } = await openParts(storePath, onFailure)
  try {
    const world = await WorldState.open({ store, trie, logger, head: undefined, stateHistory: 'archive' })
    const { blocks, rules } = rulesOver(store, record)
    const block = await writeGenesis({ store, world, genesis: { ...genesis, params }, extraOf: rules.extraOf })
    const chain = new RecordedChain({ params, rules, store, blocks, world, executor, genesis: block })
    return { params, rules, store, blocks, world, chain }
  } catch (error) {
    await trie.close()
    await store.close()
    throw error
  }
}

/**
 * The same with all blocks of the record, executed one after the other. Throws CodedError: what `RecordedChain.add` throws for the
 * first block that is not what its header says.
 */
export const openRecorded = async (record: ChainRecord, options: OpenRecordedOptions): Promise<OpenedRecord> => {
  const opened = await beginRecord(record, options)
  try {
    await addAll(opened.chain, record.blocks, options.logger)
    return opened
  } catch (error) {
    await opened.world.close()
    await opened.store.close()
    throw error
  }
}

const refusal = (detail: RecordedError) => new CodedError<RecordedError>(detail)

const gethStyle = ({ style }: Genesis): GethStyle => {
  if (style.format !== 'geth') throw refusal({ code: 'RECORD_NEEDS_GETH_GENESIS' })
  return style
}

/** The store of blocks reads by the rules, which look up block hashes in it. */
const rulesOver = (store: Store, { params, depositContract }: ChainRecord) => {
  const blocks: BlockStore = new BlockStore(store, {
    extraOf: header => rules.extraOf(header),
    pricesOf: header => rules.pricesOf(header),
  })
  const rules = ethereumRules({ params, depositContract, blocks })
  return { blocks, rules }
}

const addAll = async (
  chain: RecordedChain,
  recorded: readonly DecodedEthereumBlock[],
  logger: Logger,
): Promise<void> => {
  const recovery = new SenderRecovery({ logger })
  try {
    for (const block of recorded) await chain.add(await withSenders(recovery, block))
  } finally {
    await recovery.close()
  }
  logger.info({ blocks: recorded.length, head: chain.headBlock.hash }, 'recorded chain executed')
}
