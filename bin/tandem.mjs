#!/usr/bin/env node
// The one file that runs on the host's own Node (18 or newer): installs what the node needs when that is
// missing, then hands over to the Node 26 of node_modules, which runs the TypeScript source as written.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const MINIMUM_MAJOR = 26
// A node's garbage is short-lived and its live heap small: V8's defaults trade a third more memory for a few percent of speed.
const HEAP_FLAGS = ['--max-semi-space-size=8', '--heap-growing-percent=50']
const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const main = join(root, 'src', 'cli', 'main.ts')

if (!isInstalled()) {
  process.stderr.write('Installing what the node needs (once) ...\n')
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const { status, error } = spawnSync(npm, ['ci', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0) {
    process.stderr.write(
      `The installation failed${error ? `: ${error.message}` : ''}. Run "npm ci" in ${root} to see why.\n`,
    )
    process.exit(1)
  }
}

const environment = {
  ...process.env,
  // Threads free what others allocated; with an arena of its own for some, the C library keeps ever more of that for nobody.
  // One for all costs no time that could be measured: what is small stays with its thread.
  MALLOC_ARENA_MAX: process.env.MALLOC_ARENA_MAX ?? '1',
  // A fixed bound above which memory goes back to the system at once: the one that moves ends at 32 MiB, and large messages leave holes.
  MALLOC_MMAP_THRESHOLD_: process.env.MALLOC_MMAP_THRESHOLD_ ?? String(128 * 1024),
  // Stripped and compiled code is kept between starts, for the worker threads too.
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(root, 'node_modules', '.cache', 'tandem'),
}
const binary = Number(process.versions.node.split('.')[0]) >= MINIMUM_MAJOR ? process.execPath : bundledNode()
if (binary === null) {
  process.stderr.write(
    `Tandem needs Node ${MINIMUM_MAJOR} or newer; this is ${process.version}, and no bundled one exists for ${process.platform}-${process.arch}.\n` +
      `Install Node ${MINIMUM_MAJOR} and run the command again.\n`,
  )
  process.exit(1)
}
const args = [...HEAP_FLAGS, main, ...process.argv.slice(2)]
// What the C library and V8 read only when a process begins is given to a new one; where the system can, it takes this one's place.
if (process.execve !== undefined && process.platform !== 'win32') process.execve(binary, [binary, ...args], environment)
// The channel closes when this process ends, also by SIGKILL: the node then ends too.
const child = spawn(binary, args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], env: environment })
child.channel?.unref()
// A terminal sends Ctrl-C to the whole group; a supervisor signals only us, so pass everything on.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)))

/** False also after an installation that was cut short, or of older source that needed fewer packages. */
function isInstalled() {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return Object.keys(dependencies).every(name => existsSync(join(root, 'node_modules', name, 'package.json')))
}

/** The Node that the lock file brings for this platform, or null. */
function bundledNode() {
  const require = createRequire(join(root, 'package.json'))
  try {
    const path = join(dirname(require.resolve(`node-${process.platform}-${process.arch}/package.json`)), 'bin', 'node')
    return existsSync(path) ? path : null
  } catch {
    return null
  }
}
