import type { DecidedBlock } from '../../../src/consensus/ports.ts'
import { scanWal } from '../../../src/consensus/wal/wal-format.ts'
import type { ConsensusMessage } from '../../../src/primitives/consensus/message.ts'
import { Ledger } from '../../support/consensus/ledger.ts'
import { ManualClock } from '../../support/consensus/manual-clock.ts'
import { createMember } from '../../support/consensus/member.ts'
import { MemoryFiles } from '../../support/consensus/memory-files.ts'
import { Mesh } from '../../support/consensus/mesh.ts'

export interface RecordedMember {
  readonly index: number
  readonly size: number
  readonly files: MemoryFiles
  readonly ledger: Ledger
  /** The bytes of its log in use. */
  readonly log: Uint8Array
  /** Blocks that this member decided. */
  readonly blocks: readonly DecidedBlock[]
}

/** Runs a committee of real engines on a lossy network until power is lost everywhere, and gives what lies on their disks. */
export const record = async (
  size: number,
  seconds: number,
  passes: (message: ConsensusMessage) => boolean = () => true,
): Promise<readonly RecordedMember[]> => {
  const clock = new ManualClock()
  const mesh = new Mesh()
  mesh.passes = (_, __, message) => passes(message)
  const members = await Promise.all(
    Array.from({ length: size }, async (_, index) => {
      const files = new MemoryFiles()
      const ledger = new Ledger(index * 1_000)
      const { engine } = await createMember({ index, size, clock, files, ledger, network: mesh.port(index) })
      return { index, size, files, ledger, engine }
    }),
  )
  for (const { engine } of members) await engine.start()
  await clock.advance(seconds * 1_000)
  for (const { files } of members) files.crashNow()
  for (const { engine } of members) await engine.stop().catch(() => undefined)
  return members.map(({ engine: _, ...member }) => {
    member.files.recover()
    const content = member.files.content('wal') as Uint8Array
    const log = content.subarray(0, scanWal(content).end)
    return { ...member, log, blocks: [...member.ledger.blocks] }
  })
}

/** At height 2 commits are lost up to `decidedFrom`, and nothing is prepared in round 1: several rounds with locks and round changes. */
export const losingCommits =
  (decidedFrom: number) =>
  (message: ConsensusMessage): boolean => {
    if (message.type === 'decided' || !('sender' in message) || message.number !== 2) return true
    if (message.type === 'commit') return message.round >= decidedFrom
    return !(message.type === 'prepare' && message.round === 1)
  }
