import { spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
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

/** Takes a folder to the small disk, fills the rest of it after a while, and brings the folder back when the program has ended. */
const SCRIPT = `
disk=$(mktemp -d) && mount -t tmpfs -o size=32m,mode=700 tmpfs "$disk" || exit 70
place=$1; back=$2; after=$3; shift 3
cp -a "$place/." "$disk" && mount --bind "$disk" "$place" || exit 70
(sleep "$after"; cat /dev/zero > "$place/filler" 2> /dev/null) &
"$@"; code=$?
rm -f "$place/filler"; cp -a "$place/." "$back"
umount "$place"; umount "$disk"; rmdir "$disk"
exit $code`

/** A program (with what goes before it on the command line) that finds this folder on a disk that fills up after `seconds`. */
export const onSmallDisk = (
  folder: string,
  seconds: number,
): { readonly before: readonly string[]; readonly left: string } => {
  const left = mkdtempSync(join(tmpdir(), 'tandem-disk-'))
  return { before: [...NAMESPACE, 'sh', '-c', SCRIPT, 'sh', folder, left, String(seconds)], left }
}
