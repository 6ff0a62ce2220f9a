import type { Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { BuildRequest } from '../../consensus/ports.ts'
import type { InterruptedError } from '../../evm/engine.ts'
import type { Certificate } from '../../primitives/consensus/certificate.ts'
import type { StateError } from '../../state/errors.ts'
import type { ChainBlock } from '../store/types.ts'
import type { BlockWork, CandidateSource } from './block-work.ts'
import type { RunningWork } from './running-work.ts'

interface WarmUp {
  readonly work: BlockWork
  readonly running: RunningWork
  readonly clock: Clock
  readonly logger: Logger
}

const EMPTY_POOL: Pick<CandidateSource, 'select'> = {
  select: () => ({ next: () => undefined, skipSender() {} }),
}

/** Errors of work that was cancelled, or whose head moved. */
const ENDED: ReadonlySet<string> = new Set<InterruptedError['code'] | StateError['code']>([
  'EXECUTION_INTERRUPTED',
  'STATE_MOVED',
])

/** Returns true for the error of work that was cancelled, or whose head moved. */
export const isEndOfWork = (error: unknown): boolean => isCoded(error) && ENDED.has(error.code)

/** Builds an empty block on a head and validates it, and keeps neither. */
export const warmUpBlocks = async (
  { work, running, clock, logger }: WarmUp,
  { block: parent, certificate }: { readonly block: ChainBlock; readonly certificate: Certificate | null },
  proposer: Hex,
): Promise<void> => {
  const { number, timestamp } = parent.header
  const request: BuildRequest = {
    number: number + 1,
    round: 0,
    parentHash: parent.hash,
    timestamp: Math.max(timestamp + 1, Math.floor(clock.nowMs() / 1_000)),
    proposer,
    parentCertificate: certificate,
    budgetMs: 0,
    transactionMs: 0,
    gasShare: 1,
  }
  try {
    const { block } = await running.run(signal => work.build(parent, request, signal, EMPTY_POOL))
    await running.run(signal => work.validate(parent, block, Number.POSITIVE_INFINITY, signal))
  } catch (error) {
    // With one of these, a block was decided meanwhile: the code is warm.
    if (!isEndOfWork(error)) logger.warn({ err: error, number: request.number }, 'block for warming up not built')
  }
}
