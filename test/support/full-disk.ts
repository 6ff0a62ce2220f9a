import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/*
 * A real file system that is really full: a small one in memory, mounted in a namespace of its own, so that nobody else sees it and it
 * is gone with its process.
 */

const NAMESPACE = ['unshare', '--user', '--map-root-user', '--mount']

/** Why it cannot be had here; undefined: it can. */
export const whyNoSmallDisk = (): string | undefined => {
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
export const onSmallDisk = (folder: string): SmallDisk => {
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
