import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Committee, type NodeOfMany } from '../support/committee.ts'
import { eventually } from '../support/node-process.ts'

/*
 * A real file system that is really full: a small one in memory, mounted in a namespace of its own, so that nobody else sees it and it
 * is gone with its process.
 */

const NAMESPACE = ['unshare', '--user', '--map-root-user', '--mount']

/** Why it cannot be had here; undefined: it can. */
const whyNoSmallDisk = (): string | undefined => {
  const { status, error, stderr } = spawnSync(
    NAMESPACE[0] as string,
    [...NAMESPACE.slice(1), 'sh', '-c', 'mount -t tmpfs -o size=64k tmpfs "$0"', tmpdir()],
    { encoding: 'utf8' },
  )
  if (status === 0) return undefined
  return `no file system may be mounted in a namespace here: ${error?.message ?? stderr.trim().split('\n').at(-1)}`
}

/** Takes a folder to the small disk, fills the rest of it when told, and brings the folder back when the program has ended. */
const SCRIPT = `
disk=$(mktemp -d) && mount -t tmpfs -o size=32m,mode=700 tmpfs "$disk" || exit 70
place=$1; back=$2; fill=$3; shift 3
cp -a "$place/." "$disk" && mount --bind "$disk" "$place" || exit 70
(until [ -e "$fill" ]; do sleep 0.05; done; cat /dev/zero > "$place/filler" 2> /dev/null) &
filling=$!
"$@"; code=$?
kill $filling 2> /dev/null
rm -f "$place/filler"; cp -a "$place/." "$back"
umount "$place"; umount "$disk"; rmdir "$disk"
exit $code`

interface SmallDisk {
  /** Command line before the program that finds the folder on the small disk. */
  readonly before: readonly string[]
  /** The folder as the program left it. */
  readonly left: string
  /** Fills the rest of the disk. */
  fill(): void
  /** Removes what is left. */
  remove(): void
}

/** A small disk for one program and one folder; nothing depends on how long either takes. */
const onSmallDisk = (folder: string): SmallDisk => {
  const dir = mkdtempSync(join(tmpdir(), 'tandem-disk-'))
  const left = join(dir, 'left')
  const fill = join(dir, 'fill')
  mkdirSync(left)
  return {
    before: [...NAMESPACE, 'sh', '-c', SCRIPT, 'sh', folder, left, fill],
    left,
    fill: () => writeFileSync(fill, ''),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  }
}

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
