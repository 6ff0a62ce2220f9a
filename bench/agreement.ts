/**
 * CPU of agreement by itself: whole engines in one process with real signatures, log and watermark formats, no network, no disk and
 * no execution. One JSON line for each committee size, with the messages of one block in a full mesh.
 *   node bench/agreement.ts [n...]     (default: 4 7 22)
 */
import { performance } from 'node:perf_hooks'
import { signatures } from '../src/crypto/signature.ts'
import { Ledger } from '../test/support/consensus/ledger.ts'
import { ManualClock } from '../test/support/consensus/manual-clock.ts'
import { createMember } from '../test/support/consensus/member.ts'
import { MemoryFiles } from '../test/support/consensus/memory-files.ts'
import { Mesh } from '../test/support/consensus/mesh.ts'

const WARMUP_BLOCKS = 50

/** Enough blocks for two seconds or so of CPU. */
const blocksFor = (size: number): number => Math.max(60, Math.round(4_000 / size ** 1.5))

const measure = async (size: number) => {
  const clock = new ManualClock()
  const mesh = new Mesh()
  let sent = 0
  mesh.passes = () => ++sent > 0
  const members = await Promise.all(
    Array.from({ length: size }, async (_, index) => {
      const ledger = new Ledger(index * 1_000_000)
      const parts = { index, size, clock, files: new MemoryFiles(), ledger, network: mesh.port(index) }
      return { ledger, engine: (await createMember(parts)).engine }
    }),
  )
  for (const { engine } of members) await engine.start()
  await clock.advance(WARMUP_BLOCKS * 1_000)
  const blocks = blocksFor(size)
  const height = members[0]?.ledger.blocks.length ?? 0
  sent = 0
  const startedAt = performance.now()
  const cpu = process.cpuUsage()
  await clock.advance(blocks * 1_000)
  const { user, system } = process.cpuUsage(cpu)
  const elapsedMs = performance.now() - startedAt
  const made = (members[0]?.ledger.blocks.length ?? 0) - height
  const statuses = members.map(({ engine }) => engine.status())
  for (const { engine } of members) await engine.stop()
  const cpuMs = (user + system) / 1_000
  return {
    bench: 'agreement',
    n: size,
    provider: signatures().name,
    blocks: made,
    messagesPerBlock: round(sent / made),
    msCpuPerNodeAndBlock: round(cpuMs / made / size),
    msPerBlock: round(elapsedMs / made),
    roundChanges: statuses.reduce((sum, { roundChanges }) => sum + roundChanges, 0),
  }
}

const round = (value: number): number => Math.round(value * 1_000) / 1_000

const sizes = process.argv.slice(2).map(Number)
for (const size of sizes.length > 0 ? sizes : [4, 7, 22]) console.log(JSON.stringify(await measure(size)))
