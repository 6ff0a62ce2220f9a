import { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Committee, type NodeOfMany } from '../support/committee.ts'
import { onSmallDisk, whyNoSmallDisk } from '../support/full-disk.ts'
import { eventually } from '../support/node-process.ts'

const BLOCK_SECONDS = 0.25

let committee: Committee
let victim: NodeOfMany
beforeAll(async () => {
  committee = await Committee.open(4, BLOCK_SECONDS, { tapped: true, args: ['--execution', 'wasm'] })
  await committee.start()
  victim = committee.nodes[3] as NodeOfMany
  await victim.reach(5)
})
afterAll(() => committee.close())

const walOf = ({ dataDir }: NodeOfMany): string => join(dataDir, 'consensus', 'wal')
const usedBytesOf = (file: string): number => readFileSync(file).findLastIndex(byte => byte !== 0) + 1

/** It starts, votes again and says what it is to say, and nobody has contradicted himself. */
const votesAgain = async (text: RegExp): Promise<void> => {
  const { testimony, evidence } = committee.tap
  const said = testimony.counts.get(victim.validator) ?? 0
  await victim.start(committee.others(victim))
  await eventually('its votes', async () => (testimony.counts.get(victim.validator) ?? 0) > said + 5 || undefined)
  expect(victim.log).toMatch(text)
  const head = await victim.number()
  const hashes = await Promise.all(committee.nodes.map(node => node.reach(head)))
  expect(new Set(hashes).size).toBe(1)
  expect(testimony.contradictions).toEqual([])
  expect(evidence).toBe(0)
}

describe('a log that is not as it was left', () => {
  test('torn: what the watermark says was signed is not signed again', async () => {
    await victim.kill()
    truncateSync(walOf(victim), usedBytesOf(walOf(victim)) - 40)
    await votesAgain(/^(?!.*"level":"error")|silentUpTo/s)
  })

  test('damaged: it follows until it is safe, says so, and votes again', async () => {
    await victim.kill()
    const log = readFileSync(walOf(victim))
    log[Math.floor(usedBytesOf(walOf(victim)) / 3)]! ^= 0xff
    writeFileSync(walOf(victim), log)
    await votesAgain(/the consensus log is missing or damaged: following only.*voting again/s)
  })

  test('gone: the same', async () => {
    await victim.kill()
    rmSync(walOf(victim))
    await votesAgain(/the consensus log is missing or damaged: following only.*voting again/s)
  })
})

const why = whyNoSmallDisk()
describe(`a full disk${why === undefined ? '' : ` (skipped: ${why})`}`, () => {
  test.skipIf(why !== undefined)(
    'ends the validator with the reason; the others go on; with room again it votes',
    async () => {
      await victim.kill()
      const { before, left, fill, remove } = onSmallDisk(victim.dataDir)
      try {
        await victim.start(committee.others(victim), [], { before })
        fill()
        expect(await victim.exited).toBe(1)
        expect(victim.log).toMatch(
          /Writing to .* failed: .*[Nn]o space left on device.*Free disk space.*nothing \w+ is lost/,
        )
        rmSync(victim.dataDir, { recursive: true })
        cpSync(left, victim.dataDir, { recursive: true })
      } finally {
        remove()
      }
      const [other] = committee.nodes as [NodeOfMany]
      await other.reach((await other.number()) + 4)
      await votesAgain(/./)
    },
  )
})
