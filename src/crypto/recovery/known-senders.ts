import type { SenderResult } from './batch.ts'
import type { Sender } from './recover-sender.ts'
import type { RecoveryKind, SenderRecovery } from './sender-recovery.ts'

export type RecoverMany = Pick<SenderRecovery, 'recoverMany'>

/** Senders in the order of the transactions; only those that are not known are recovered. Rejects as `recoverMany` does. */
export const recoverUnknown = async (
  recovery: RecoverMany,
  raws: readonly Uint8Array[],
  known: (raw: Uint8Array) => Sender | undefined,
  kind: RecoveryKind = 'blocks',
): Promise<readonly SenderResult[]> => {
  const found = raws.map(known)
  const recovered = await recovery.recoverMany(
    raws.filter((_, index) => found[index] === undefined),
    kind,
  )
  let next = 0
  return found.map(sender => sender ?? (recovered[next++] as SenderResult))
}
