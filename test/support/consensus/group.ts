import { nullNetwork } from '../../../src/consensus/ports.ts'
import { Ledger } from './ledger.ts'
import { ManualClock } from './manual-clock.ts'
import { committeeOf, createMember } from './member.ts'
import { MemoryFiles } from './memory-files.ts'
import { Mesh } from './mesh.ts'

/** A committee of real engines on one clock and one network; `revive` starts a member anew on what it left behind. */
export const committee = async (size: number, blockTimeMs = 1_000) => {
  const clock = new ManualClock()
  const mesh = new Mesh()
  const members = await Promise.all(
    Array.from({ length: size }, async (_, index) => {
      const files = new MemoryFiles()
      const ledger = new Ledger(index * 10_000)
      const { engine, errors } = await createMember({
        index,
        size,
        clock,
        files,
        ledger,
        network: mesh.port(index),
        blockTimeMs,
      })
      return { files, ledger, engine, errors }
    }),
  )
  const revive = async (index: number, overrides = {}) => {
    const { files, ledger } = members[index]!
    const { engine, errors } = await createMember({
      index,
      size,
      clock,
      files,
      ledger,
      network: mesh.port(index),
      blockTimeMs,
      overrides,
    })
    members[index] = { files, ledger, engine, errors }
    await engine.start()
    return engine
  }
  const stop = async () => {
    for (const { engine } of members) await engine.stop()
  }
  for (const { engine } of members) await engine.start()
  return { clock, mesh, members, revive, stop }
}

export const portsOf = (ledger: Ledger, size = 1) => ({
  execution: ledger,
  committee: { committee: () => committeeOf(size) },
  network: nullNetwork,
})

export const heights = (members: readonly { readonly ledger: Ledger }[]) =>
  members.map(({ ledger }) => ledger.blocks.length)
export const hashes = ({ ledger }: { readonly ledger: Ledger }) => ledger.blocks.map(({ block }) => block.hash)
