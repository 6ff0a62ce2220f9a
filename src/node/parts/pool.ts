import { join } from 'node:path'
import type { Clock } from '@tandem/base/clock.ts'
import { defined } from '@tandem/base/defined.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { ChainPoolPort } from '../../chain/chain.ts'
import { recoveryWithImpersonation, type SenderRecoveryPort } from '../../chain/dev/impersonation.ts'
import { POOL_LIMITS } from '../../config/limits/pool.ts'
import type { NetworkParams } from '../../config/networks.ts'
import { keccak256Hex } from '../../crypto/hash.ts'
import { type RecoverMany, recoverUnknownSenders } from '../../crypto/recovery/known-senders.ts'
import { SenderRecovery } from '../../crypto/recovery/sender-recovery.ts'
import type { Metrics } from '../../metrics/registry.ts'
import type { Header } from '../../primitives/header.ts'
import { isDelegation } from '../../primitives/transaction/delegation.ts'
import { DevelopmentRules } from '../../rules/development.ts'
import { nextBaseFee } from '../../rules/money/base-fee.ts'
import { EMPTY_CODE_HASH } from '../../state/account.ts'
import type { StateReader } from '../../state/state-reader.ts'
import { createJournalFile } from '../../txpool/journal-file.ts'
import { createPoolMetrics, type PoolMetrics } from '../../txpool/metrics.ts'
import type { AccountReader, PoolBlock } from '../../txpool/pool/types.ts'
import { TxPool } from '../../txpool/pool.ts'
import { PoolService } from '../../txpool/pool-service.ts'
import { TransactionJournal } from '../../txpool/transaction-journal.ts'

interface PoolPartsOptions {
  readonly params: NetworkParams
  readonly head: Header
  readonly state: StateReader
  /** Folder of the journal; undefined: pooled transactions end with the process. */
  readonly dataDir: string | undefined
  readonly allowUnprotected: boolean
  readonly metrics?: Metrics
  /** Returns the base fee of the child of a header, wei; by the rules where omitted. */
  readonly baseFeeAfter?: (header: Header) => bigint
  readonly clock: Clock
  readonly logger: Logger
}

export type PoolParts = ReturnType<typeof createPoolParts>

/** Age of a block that is no longer followed by others within reach. */
const RECENT_MS = 60_000

/** Creates the pool with its journal and recovery threads, and the interface of it that the chain uses. */
export const createPoolParts = (options: PoolPartsOptions) => {
  const { params, head, state, allowUnprotected, metrics, clock, logger } = options
  const { baseFeeAfter = (header: Header) => nextBaseFee(header, params.baseFee) } = options
  const pool = new TxPool({
    params,
    accounts: accountReader(state),
    number: head.number + 1,
    baseFee: baseFeeAfter(head),
    allowUnprotected,
  })
  const signed = new SenderRecovery({ logger })
  const development = DevelopmentRules.of(params)
  const senderRecoveryPort: SenderRecoveryPort = development ? recoveryWithImpersonation(signed, development) : signed
  const poolMetrics = metrics && createPoolMetrics(metrics, pool)
  const journal = createJournal(pool, options, poolMetrics)
  const service = new PoolService({
    pool,
    recovery: senderRecoveryPort,
    clock,
    logger,
    ...defined({ journal, metrics: poolMetrics }),
  })
  let version = 0
  const follow = (header: Header, block: Partial<PoolBlock>): void => {
    version++
    service.onBlock({
      number: header.number,
      transactions: [],
      baseFee: baseFeeAfter(header),
      nowMs: clock.nowMs(),
      ...block,
    })
    if (clock.nowMs() - header.timestamp * 1_000 < RECENT_MS) void service.retryWaiting()
  }
  service.onPending(() => version++)
  return {
    service,
    recovery: senderRecoveryPort,
    /** Sender recovery for new blocks: their transactions are mostly pooled and need no second recovery. */
    blockRecovery: {
      recoverMany: (raws: Parameters<RecoverMany['recoverMany']>[0]) =>
        recoverUnknownSenders(senderRecoveryPort, raws, raw => service.get(keccak256Hex(raw))),
    },
    /** Grows whenever the executable transactions may have changed. A transaction that was dropped leaves the pending block too. */
    version: () => version + pool.drops.discarded,
    /** Starts the recovery threads now, rather than with the first transaction. */
    warmUp: () => signed.start(),
    /** The head was replaced on a development chain, or its state edited: every account is read again. */
    reset: (header: Header) => follow(header, { replaced: true }),
    /** Pool as the chain uses it. */
    side: chainSide(pool, service, follow),
  }
}

/** Returns undefined for a pool without a folder. */
const createJournal = (
  pool: TxPool,
  { dataDir, logger }: PoolPartsOptions,
  metrics: PoolMetrics | undefined,
): TransactionJournal | undefined =>
  dataDir === undefined
    ? undefined
    : new TransactionJournal({
        storage: createJournalFile(join(dataDir, 'transactions.journal')),
        live: () => Array.from(pool.localTransactions(), ({ raw }) => raw),
        limitBytes: POOL_LIMITS.journalBytes,
        logger,
        ...(metrics && { onWritten: written => metrics.journalWritten(written) }),
      })

/** Pool as the chain uses it; `follow` takes the pool to the block after a header. */
const chainSide = (
  pool: TxPool,
  service: PoolService,
  follow: (header: Header, block: Partial<PoolBlock>) => void,
): ChainPoolPort => ({
  select: baseFee => service.candidates(baseFee),
  hasExecutable: () => service.hasCandidate(),
  isEmpty: () => pool.senders === 0,
  reject: hash => pool.discard(hash),
  onBlock: ({ block: { header, transactions } }, touched) => follow(header, { transactions, touched }),
})

const accountReader = (state: StateReader): AccountReader => ({
  nonce: address => state.account(address)?.nonce ?? 0,
  balance: address => state.account(address)?.balance ?? 0n,
  code(address) {
    if ((state.account(address)?.codeHash ?? EMPTY_CODE_HASH) === EMPTY_CODE_HASH) return 'none'
    return isDelegation(state.code(address)) ? 'delegation' : 'contract'
  },
})
