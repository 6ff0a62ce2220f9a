import { assert } from '@tandem/base/assert.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError, isCoded } from '@tandem/base/errors.ts'
import type { BlockCodec } from '../../primitives/block.ts'
import type { SignedMessage } from '../../primitives/consensus/message.ts'
import type { SigningDomain, ValidatorSigner } from '../../primitives/consensus/vote.ts'
import type { Committee } from '../committee.ts'
import type { WalRecord } from '../core/types.ts'
import type { CommitteePort, ExecutionPort, Head } from '../ports.ts'
import { messageDigest } from './sign-message.ts'
import type { Wal } from './wal.ts'
import type { WalCondition } from './wal-format.ts'
import { decodeRecords, entriesAfter, recordHeight } from './wal-records.ts'
import { comparePositions, type SignPosition, type Watermark, type WatermarkCondition } from './watermark.ts'

/** The log decided blocks that the database does not have, with a gap between; a lone validator cannot fetch them from peers. */
type WalRecoveryError = { readonly code: 'DATABASE_BEHIND_LOG'; readonly head: number; readonly decided: number }

/** Reason why a node must not vote yet; null when its log and watermark are complete (docs/design/consensus.md#quarantine). */
export type QuarantineReason = 'LOG_MISSING' | 'LOG_CORRUPT' | 'WATERMARK_CORRUPT' | 'LOG_BEHIND_WATERMARK'

interface SigningState {
  readonly log: WalCondition
  readonly watermark: WatermarkCondition
  /** Last position in the watermark, and the last one in the log. */
  readonly signed: SignPosition | null
  readonly logged: SignPosition | null
  readonly head: number
}

/** A directory without log and watermark is a new node at genesis; any other loss in the log might let it contradict earlier votes. */
const quarantineReason = ({ log, watermark, signed, logged, head }: SigningState): QuarantineReason | null => {
  if (log === 'corrupt') return 'LOG_CORRUPT'
  if (watermark === 'corrupt') return 'WATERMARK_CORRUPT'
  if (log === 'missing') return head === 0 && watermark === 'missing' ? null : 'LOG_MISSING'
  // Heights up to the head are decided, so earlier votes there do not matter.
  if (signed === null || signed.number <= head) return null
  return logged === null || comparePositions(logged, signed) < 0 ? 'LOG_BEHIND_WATERMARK' : null
}

/** Returns the own messages of a log, oldest first. */
export const ownMessagesFromRecords = (
  records: readonly WalRecord[],
  indexAt: (number: number) => number,
): readonly SignedMessage[] =>
  records.flatMap((record): readonly SignedMessage[] => {
    if (record.type === 'signed') return [record.vote]
    if (record.type === 'proposal' && record.proposal.sender === indexAt(record.proposal.number))
      return [record.proposal]
    return []
  })

export const signPositionFromMessage = (message: Pick<SignedMessage, 'number' | 'round' | 'type'>): SignPosition => ({
  number: message.number,
  round: message.round,
  step: message.type,
})

/** Commits the decisions that did not reach the database before the stop; returns the new head. Throws DATABASE_BEHIND_LOG. */
const commitDecided = async (records: readonly WalRecord[], execution: ExecutionPort): Promise<Head> => {
  for (const record of records) {
    if (record.type !== 'decided') continue
    const head = execution.head().number
    const { number } = record.block.header
    if (number <= head) continue
    if (number > head + 1)
      throw new CodedError<WalRecoveryError>({ code: 'DATABASE_BEHIND_LOG', head, decided: number })
    await execution.commit(record.block, record.certificate)
    await execution.flush()
    assert(execution.head().number === number, 'a committed block is the head')
  }
  return execution.head()
}

export const walRecordsOfHeight = (records: readonly WalRecord[], number: number): readonly WalRecord[] =>
  records.filter(record => recordHeight(record) === number)

/** Returns the index of an address in a committee; -1 when it is not a member. */
export const committeeIndex = (committee: Committee | undefined, address: Hex | undefined): number =>
  address === undefined ? -1 : (committee?.members.indexOf(address) ?? -1)

/** State recovered at start, with the database brought up to the log. */
export interface RecoveredState {
  readonly head: Head
  /** Records of heights above the head. */
  readonly records: readonly WalRecord[]
  /** Own messages among them, and of lower heights as far as the log reaches. */
  readonly own: readonly SignedMessage[]
  readonly quarantine: QuarantineReason | null
  /** True when this signer never signed; the chain shows whether its key did. */
  readonly isNew: boolean
}

interface RecoveryOptions {
  readonly ports: {
    readonly execution: ExecutionPort
    readonly committee: CommitteePort
    readonly blocks: BlockCodec
  }
  readonly wal: Wal
  readonly watermark: Watermark
  readonly signer: ValidatorSigner | null
  readonly params: SigningDomain
}

/** Reads the log, commits its decisions, and raises the watermark to the last signature in the log. Throws DATABASE_BEHIND_LOG. */
export const recoverState = async (options: RecoveryOptions): Promise<RecoveredState> => {
  const { ports, wal, watermark, signer, params } = options
  const read = await readRecords(wal, ports)
  const head = await commitDecided(read.records, ports.execution)
  const signed = watermark.last
  const own = ownMessagesFromRecords(read.records, number =>
    committeeIndex(ports.committee.committee(number), signer?.address),
  )
  const last = own.reduce<SignedMessage | null>(
    (highest, message) =>
      highest === null || comparePositions(signPositionFromMessage(message), signPositionFromMessage(highest)) > 0
        ? message
        : highest,
    null,
  )
  if (last !== null && (signed === null || comparePositions(signPositionFromMessage(last), signed) > 0)) {
    watermark.advance({
      ...signPositionFromMessage(last),
      digest: messageDigest(params, last),
      signature: last.signature,
    })
  }
  const quarantine = quarantineReason({
    log: read.condition,
    watermark: watermark.condition,
    signed,
    logged: last === null ? null : signPositionFromMessage(last),
    head: head.number,
  })
  const isNew = quarantine === null && watermark.last === null
  return {
    head,
    records: quarantine === null ? walRecordsOfHeight(read.records, head.number + 1) : [],
    own,
    quarantine,
    isNew,
  }
}

const readRecords = async (
  wal: Wal,
  ports: RecoveryOptions['ports'],
): Promise<{ readonly condition: WalCondition; readonly records: readonly WalRecord[] }> => {
  try {
    const entries = entriesAfter(wal.takeEntries(), ports.execution.head().number)
    return { condition: wal.condition, records: await decodeRecords(entries, ports.blocks) }
  } catch (error) {
    if (!isCoded(error) || !isDamage(error.code)) throw error
    return { condition: 'corrupt', records: [] }
  }
}

/** True for errors caused by the bytes; a failed recovery thread, for example, says nothing about the log. */
const isDamage = (code: string): boolean => code.endsWith('_MALFORMED') || code === 'INVALID_SENDER'
