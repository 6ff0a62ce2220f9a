import { assert } from '@tandem/base/assert.ts'
import { Mutex } from '@tandem/base/async/mutex.ts'
import { bytesToHex, type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import { CodedError, isCoded } from '@tandem/base/errors.ts'
import type { BlockStore } from '../../src/chain/store/block-store.ts'
import { putBlock } from '../../src/chain/store/put-block.ts'
import type { ChainRules } from '../../src/chain/store/rules-port.ts'
import type { ChainBlock, CommittedEvent } from '../../src/chain/store/types.ts'
import { evmForkAt, forkHeight, isForkSince } from '../../src/config/forks.ts'
import type { NetworkParams } from '../../src/config/networks.ts'
import type { DepositError } from '../../src/evm/block/deposits.ts'
import type { SystemCallError } from '../../src/evm/block/system-calls.ts'
import type { BlockEnv } from '../../src/evm/block-env.ts'
import type { BlockExecution, Credit, Executor, InvalidTransactionError } from '../../src/evm/executor-types.ts'
import type { Block } from '../../src/primitives/block.ts'
import type { Header } from '../../src/primitives/header.ts'
import { receiptsRoot, transactionsRoot } from '../../src/primitives/roots.ts'
import { nextBaseFee } from '../../src/rules/money/base-fee.ts'
import { blobGasUsed } from '../../src/rules/money/blob-fee.ts'
import { packChanges } from '../../src/state/update/pack-changes.ts'
import type { StateUpdate } from '../../src/state/update/state-update.ts'
import type { WorldState } from '../../src/state/world/world-state.ts'
import type { Store } from '../../src/storage/store.ts'
import { rewardPayments } from './ethereum-reward.ts'
import { requestsHash, unclesHash, withdrawalsRoot } from './ethereum-roots.ts'
import { excessBlobGasAfter } from './ethereum-rules.ts'

interface RecordedChainOptions {
  readonly params: NetworkParams
  readonly rules: ChainRules
  readonly store: Store
  readonly blocks: BlockStore
  readonly world: WorldState
  readonly executor: Executor
  /** Block 0, already stored. */
  readonly genesis: ChainBlock
}

const WEI_PER_GWEI = 10n ** 9n

/** A recorded block that cannot be executed at all. */
interface BlockInvalid {
  readonly code: 'BLOCK_INVALID'
  readonly number: number
  readonly reason: string
}

const BLOCK_FAULTS: ReadonlySet<string> = new Set<
  InvalidTransactionError['code'] | SystemCallError['code'] | DepositError['code']
>(['INVALID_TRANSACTION', 'SYSTEM_CALL_FAILED', 'DEPOSIT_MALFORMED'])

const blockInvalid = (number: number, cause: Error): CodedError<BlockInvalid> =>
  new CodedError({ code: 'BLOCK_INVALID', number, reason: cause.message }, { cause })

/**
 * Chain with Ethereum's rules and recorded blocks: each is executed and compared with its header; seals are not verified. Readers
 * use it in place of `Chain`, which belongs to this network's own consensus.
 */
export class RecordedChain {
  readonly #options: RecordedChainOptions
  readonly #turn = new Mutex()
  readonly #listeners = new Set<(event: CommittedEvent) => void>()
  #head: ChainBlock

  constructor(options: RecordedChainOptions) {
    this.#options = options
    this.#head = options.genesis
  }

  get headBlock(): ChainBlock {
    return this.#head
  }

  onCommitted(listener: (event: CommittedEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Executes and stores the next block. Throws CodedError<BlockMismatch | BlockInvalid>. */
  add(block: Block): Promise<void> {
    return this.#turn.run(async () => {
      const { params, rules, world, executor } = this.#options
      const parent = this.#head
      checkAgainstParent(block.header, parent.header, params)
      checkFields(block.header, fieldsBefore(block, parent, params))
      const chainBlock = { ...block, extra: rules.extraOf(block.header) }
      const journal = world.journal()
      const execution = await executor
        .execute(journal, this.#envOf(chainBlock), block.transactions, creditsOf(block, params))
        .catch(error => {
          throw isCoded(error) && BLOCK_FAULTS.has(error.code) ? blockInvalid(block.header.number, error) : error
        })
      const update = await world.computeUpdate(journal.changes(), parent.header.stateRoot)
      checkFields(block.header, fieldsAfter(execution, update.root))
      await this.#write(chainBlock, execution, update)
    })
  }

  #envOf(block: ChainBlock): BlockEnv {
    const { rules, world } = this.#options
    const { number } = this.#head.header
    return {
      ...rules.committedEnv(block),
      async stateRoot(changes): Promise<Hex> {
        const [root] = await world.preview(number, [packChanges(changes)])
        assert(root !== undefined, 'a root for each batch')
        return root
      },
    }
  }

  async #write(block: ChainBlock, { receipts, internal, failed }: BlockExecution, update: StateUpdate): Promise<void> {
    const { store, blocks, world } = this.#options
    const { number } = block.header
    using batch = store.batch()
    putBlock(batch, { block, receipts, internal, failed, certificate: null })
    await world.write(batch, number, update)
    await batch.write()
    await world.committed(number, update)
    blocks.remember({ block, receipts })
    this.#head = block
    for (const listener of this.#listeners) listener({ block, receipts })
  }
}

/** Returns the credits after a block's transactions: rewards until the merge, withdrawals from Shanghai on. */
const creditsOf = ({ header, ethereum }: Block, { forks }: NetworkParams): readonly Credit[] => [
  ...rewardPayments(evmForkAt(forks, header.number), header, ethereum?.uncles ?? []),
  ...(ethereum?.withdrawals ?? []).map(({ address, amountGwei }) => ({
    address,
    amountWei: amountGwei * WEI_PER_GWEI,
  })),
]

/** A member of a recorded header differs from this node's result. Values as text, `none` for an absent member. */
interface BlockMismatch {
  readonly code: 'BLOCK_MISMATCH'
  readonly number: number
  readonly field: string
  readonly recorded: string
  readonly computed: string
}

/** Members of a header by name; undefined: the header must not have the member. */
type Fields = { readonly [Name in keyof Header]?: Header[Name] | undefined }

/** Returns the members that follow from the parent and the body alone. */
const fieldsBefore = (block: Block, parent: Pick<Block, 'header' | 'hash'>, params: NetworkParams): Fields => {
  const { header, ethereum } = block
  const number = parent.header.number + 1
  const fork = evmForkAt(params.forks, number)
  const hasBlobs = isForkSince(fork, 'cancun')
  return {
    number,
    parentHash: parent.hash,
    transactionsRoot: transactionsRoot(block.transactions),
    sha3Uncles: unclesHash(ethereum?.uncles ?? []),
    baseFeePerGas: isForkSince(fork, 'london') ? nextBaseFee(parent.header, params.baseFee) : undefined,
    withdrawalsRoot: isForkSince(fork, 'shanghai') ? withdrawalsRoot(ethereum?.withdrawals ?? []) : undefined,
    blobGasUsed: hasBlobs ? blobGasUsed(block.transactions) : undefined,
    excessBlobGas: hasBlobs ? excessBlobGasAfter(params, parent.header) : undefined,
    // Only its presence can be checked, not its value.
    parentBeaconBlockRoot: hasBlobs ? (header.parentBeaconBlockRoot ?? ZERO_HASH) : undefined,
  }
}

const LEAST_GAS_LIMIT = 5_000n
const GAS_LIMIT_STEPS = 1_024n

/** Throws CodedError<BlockMismatch> for a gas limit or a time that the parent does not allow (Yellow Paper 4.4.4, EIP-1559). */
const checkAgainstParent = (header: Header, parent: Header, { forks }: NetworkParams): void => {
  const { number, gasLimit, timestamp } = header
  const refuse = (field: 'gasLimit' | 'timestamp', computed: string): never => {
    throw new CodedError<BlockMismatch>({
      code: 'BLOCK_MISMATCH',
      number,
      field,
      recorded: textOf(header[field]),
      computed,
    })
  }
  if (timestamp <= parent.timestamp) refuse('timestamp', `after ${parent.timestamp}`)
  // London doubles the limit, so that its target is the limit before.
  const isLondon = forkHeight(forks, 'london') === number
  const before = isLondon ? 2n * parent.gasLimit : parent.gasLimit
  const change = gasLimit > before ? gasLimit - before : before - gasLimit
  if (gasLimit < LEAST_GAS_LIMIT || change >= before / GAS_LIMIT_STEPS) refuse('gasLimit', `near ${before}`)
}

/** Returns the members that follow from the execution. */
const fieldsAfter = (execution: BlockExecution, stateRoot: Hex): Fields => ({
  gasUsed: execution.gasUsed,
  logsBloom: execution.logsBloom,
  receiptsRoot: receiptsRoot(execution.receipts),
  requestsHash: execution.requests && requestsHash(execution.requests),
  stateRoot,
})

/** Throws CodedError<BlockMismatch> for the first member that differs. */
const checkFields = (header: Header, fields: Fields): void => {
  for (const [field, value] of Object.entries(fields)) {
    const [recorded, computed] = [textOf(header[field as keyof Header]), textOf(value)]
    if (recorded !== computed)
      throw new CodedError<BlockMismatch>({ code: 'BLOCK_MISMATCH', number: header.number, field, recorded, computed })
  }
}

const textOf = (value: Fields[keyof Fields]): string => {
  if (value === undefined) return 'none'
  return value instanceof Uint8Array ? bytesToHex(value) : String(value)
}
