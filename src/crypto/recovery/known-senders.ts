import type { SenderResult } from './batch.ts'
import type { RecoveredSender } from './recover-sender.ts'
import type { RecoveryPriority, SenderRecovery } from './sender-recovery.ts'

export type RecoverMany = Pick<SenderRecovery, 'recoverMany'>

/** Returns senders in the order of the transactions; only unknown ones are recovered. Rejects as `recoverMany` does. */
export const recoverUnknownSenders = async (
  recovery: RecoverMany,
  raws: readonly Uint8Array[],
  known: (raw: Uint8Array) => RecoveredSender | undefined,
  kind: RecoveryPriority = 'blocks',
): Promise<readonly SenderResult[]> => {
  const found = raws.map(known)
  const recovered = await recovery.recoverMany(
    raws.filter((_, index) => found[index] === undefined),
    kind,
  )
  let next = 0
  return found.map(recoveredSender => recoveredSender ?? (recovered[next++] as SenderResult))
}
