import { nullNetwork } from '../../../src/consensus/ports.ts'
import { Ledger } from '../../support/consensus/ledger.ts'
import { ManualClock } from '../../support/consensus/manual-clock.ts'
import { committeeOf, createMember } from '../../support/consensus/member.ts'
import { MemoryFiles } from '../../support/consensus/memory-files.ts'
import { Mesh } from '../../support/consensus/mesh.ts'

/** A committee of real engines on one clock and one network; `revive` starts a member anew on what it left behind. */
export const committee = async (size: number, blockTimeMs = 1_000) => {
  const clock = new ManualClock()
  const mesh = new Mesh()
  const create = async (index: number, files: MemoryFiles, ledger: Ledger, overrides = {}) => {
    const network = mesh.port(index)
    const parts = { index, size, clock, files, ledger, network, blockTimeMs, overrides }
    return { files, ledger, ...(await createMember(parts)) }
  }
  const members = await Promise.all(
    Array.from({ length: size }, (_, index) => create(index, new MemoryFiles(), new Ledger(index * 10_000))),
  )
  const revive = async (index: number, overrides = {}) => {
    const { files, ledger } = members[index]!
    const member = await create(index, files, ledger, overrides)
    members[index] = member
    await member.engine.start()
    return member.engine
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
