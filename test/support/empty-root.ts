import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Files that the system's loader takes for a program. */
const librariesOf = (program: string): readonly string[] => {
  const { stdout } = spawnSync('ldd', [program], { encoding: 'utf8' })
  return [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path)
}

/** Makes a root in which a program has its libraries, a folder for temporary files and the null device, and nothing else. Only root can. */
export const makeRoot = (root: string, program: string): void => {
  const add = (from: string, to: string): void => {
    mkdirSync(dirname(join(root, to)), { recursive: true })
    copyFileSync(from, join(root, to))
  }
  add(program, '/tandem')
  for (const path of librariesOf(program)) add(path, path)
  for (const folder of ['dev', 'tmp']) mkdirSync(join(root, folder))
  chmodSync(root, 0o755)
  chmodSync(join(root, 'tmp'), 0o1777)
  const { status, stderr } = spawnSync('mknod', ['-m', '666', join(root, 'dev/null'), 'c', '1', '3'], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
}

/** User without rights, of the image too. */
const NOBODY = '10001:10001'

/** Program and arguments that run the program of a root as a user without rights, to whom its root is read-only but for /tmp. */
export const inRoot = (root: string, args: readonly string[]): [program: string, args: string[]] => [
  'chroot',
  [`--userspec=${NOBODY}`, root, '/tandem', ...args],
]
