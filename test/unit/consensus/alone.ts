import type { NetworkPort } from '../../../src/consensus/ports.ts'
import { Ledger } from '../../support/consensus/ledger.ts'
import { ManualClock } from '../../support/consensus/manual-clock.ts'
import { createMember } from '../../support/consensus/member.ts'
import { MemoryFiles } from '../../support/consensus/memory-files.ts'

interface AloneOptions {
  readonly blockTimeMs?: number
  readonly isDevelopment?: boolean
  readonly network?: NetworkPort
}

/** A committee of one, not started yet, and all it stands on. */
export const alone = async (options: AloneOptions = {}) => {
  const clock = new ManualClock()
  const files = new MemoryFiles()
  const ledger = new Ledger()
  const { engine, errors } = await createMember({ index: 0, size: 1, clock, files, ledger, ...options })
  return { clock, files, ledger, engine, errors }
}
