import { waitUntil } from '@tandem/base/async/delay.ts'
import type { Clock } from '@tandem/base/clock.ts'
import type { Block } from '../../primitives/block.ts'
import { readExtraData } from '../../primitives/consensus/extra-data.ts'
import type { SigningDomain } from '../../primitives/consensus/vote.ts'
import { maxTimestamp } from '../../rules/header.ts'
import { certificateFault, type RecoverAddress } from '../certificate.ts'
import type { CommitteePort, Head, ProposalVerdict, ValidateContext } from '../ports.ts'
import type { ConsensusEngineOptions } from './types.ts'

const invalidProposal = (proven: boolean, reason: string): ProposalVerdict => ({ valid: false, proven, reason })

/** Returns the fault of a proposed block that consensus itself checks before execution; null when there is none. */
const consensusFault = (
  block: Block,
  { number }: ValidateContext,
  head: Head,
  committees: CommitteePort,
  domain: SigningDomain,
  recover: RecoverAddress,
): ProposalVerdict | null => {
  const extra = readExtraData(block.header)
  if (extra === undefined) return invalidProposal(true, 'extra data cannot be read')
  const { parentCertificate } = extra
  if (number === 1) return parentCertificate === null ? null : invalidProposal(true, 'a certificate of genesis')
  if (parentCertificate === null) return invalidProposal(true, 'no parent certificate')
  const committee = committees.committee(number - 1)
  if (committee === undefined) return invalidProposal(false, 'committee of the parent unknown')
  const parent = { number: number - 1, blockHash: head.hash }
  const fault = certificateFault(parentCertificate, parent, committee, domain, recover)
  return fault === null ? null : invalidProposal(true, `parent certificate: ${fault}`)
}

/** Validates a proposed block: the rules of consensus first, then the wait for its timestamp, then its execution. */
export const validateProposal = async (
  block: Block,
  context: ValidateContext,
  head: Head,
  { ports, params, clock, logger }: ConsensusEngineOptions,
  recover: RecoverAddress,
  cancelled: AbortSignal,
): Promise<ProposalVerdict> => {
  const fault = consensusFault(block, context, head, ports.committee, params, recover)
  if (fault !== null) return fault
  if (!(await awaitTimestamp(block.header.timestamp, clock, cancelled)))
    return invalidProposal(false, 'timestamp in the future')
  try {
    return await ports.execution.validate(block, context, cancelled)
  } catch (error) {
    if (cancelled.aborted) return invalidProposal(false, 'cancelled')
    logger.error({ err: error, number: context.number }, 'proposal could not be validated')
    return invalidProposal(false, 'validation failed')
  }
}

/** Returns true when the timestamp is too far ahead of this node's clock to wait for. */
const isTooFarInFuture = (timestamp: number, nowMs: number): boolean => timestamp > maxTimestamp(nowMs)

/**
 * Waits for the timestamp of a block whose proposer's clock is slightly ahead; a block further ahead gets no vote, though it
 * is not permanently invalid (docs/design/consensus.md#pacing). Returns true to continue; a cancellation ends the wait.
 */
const awaitTimestamp = async (timestamp: number, clock: Clock, cancelled: AbortSignal): Promise<boolean> => {
  if (isTooFarInFuture(timestamp, clock.nowMs())) return false
  await waitUntil(clock, timestamp * 1000, cancelled)
  return !cancelled.aborted
}
