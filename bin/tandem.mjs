#!/usr/bin/env node
// The one file that runs on the host's own Node (18 or newer). It hands over to the Node 26 of node_modules: in a checkout, where it first
// installs what is missing, to the TypeScript source as written, in a package to the built code (scripts/build.ts).
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const MINIMUM_MAJOR = 26
/** Oldest Node that prints the texts of a package: those of the command line need no other Node, and no flags. */
const TEXT_MAJOR = 20
const LOCK_POLL_MS = 200
const root = join(dirname(fileURLToPath(import.meta.url)), '..')
// What the C library and V8 read only when a process begins; the shell launcher of a package gives the same (scripts/build.ts).
// Flags: one of the heap, since a node's garbage is short-lived and its live heap small, where V8's defaults trade a third more memory for a few percent
// of speed. One of signals, since Node.js answers SIGUSR1, which tools for logs send, with a debugger on the loopback: every user of the machine could read keys.
// One of names, since a server listens on the first address of its host alone: `--host localhost` is 127.0.0.1, where clients look, not ::1.
// Environment: threads free what others allocated; with an arena of its own for some, the C library keeps ever more of that for nobody. One for all costs
// no time that could be measured: what is small stays with its thread. And a fixed bound above which memory goes back to the system at once: the one that
// moves ends at 32 MiB, and large messages leave holes.
const launch = JSON.parse(readFileSync(join(root, 'bin', 'launch.json'), 'utf8'))
const source = join(root, 'src', 'cli', 'main.ts')
const isCheckout = existsSync(source)
const main = isCheckout ? source : join(root, 'lib', 'tandem.cjs')

const hostMajor = Number(process.versions.node.split('.')[0])
const given = process.argv.slice(2)
const printsText = given[0] === 'completion' || given.at(-1) === '--help' || given.at(-1) === '-h'

const environment = {
  ...launch.environment,
  // Stripped and compiled code is kept between starts, for the worker threads too.
  NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'tandem'),
  ...process.env,
}
if (given.length === 1 && (given[0] === '--version' || given[0] === '-V'))
  process.stdout.write(`${JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version}\n`)
else if (!isCheckout && printsText && hostMajor >= TEXT_MAJOR) {
  process.env.NODE_COMPILE_CACHE = environment.NODE_COMPILE_CACHE
  await import(pathToFileURL(main))
} else await start()

/** Starts the node in the place of this process, or as its child. */
async function start() {
  // An installation by npm that runs or was cut short has no list of its packages yet, and may already hold the last one.
  if (isCheckout && (!isInstalled() || !existsSync(join(root, 'node_modules', '.package-lock.json')))) await install()
  const binary = hostMajor >= MINIMUM_MAJOR ? process.execPath : bundledNode()
  if (binary === null) {
    process.stderr.write(
      `Tandem needs Node ${MINIMUM_MAJOR} or newer; this is ${process.version}, and no bundled one exists for ${process.platform}-${process.arch}.\n` +
        `Install Node ${MINIMUM_MAJOR} and run the command again.\n`,
    )
    process.exit(1)
  }
  // Of the heap too; with it V8 refuses the compiled code of Node's own modules, so built code sets it after its start (src/cli/boot.ts).
  const flags = isCheckout ? [...launch.flags, '--heap-growing-percent=30'] : launch.flags
  const args = [...flags, main, ...given]
  // Where the system can, the new process takes this one's place.
  if (process.execve !== undefined && process.platform !== 'win32')
    process.execve(binary, [binary, ...args], environment)
  // The channel closes when this process ends, also by SIGKILL: the node then ends too.
  const [{ spawn }, { constants }] = await Promise.all([import('node:child_process'), import('node:os')])
  const child = spawn(binary, args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], env: environment })
  child.channel?.unref()
  // A terminal sends Ctrl-C to the whole group; a supervisor signals only us, so pass everything on.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}

/** False also after an installation that was cut short, or of older source that needed fewer packages. */
function isInstalled() {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return Object.keys(dependencies).every(name => existsSync(join(root, 'node_modules', name, 'package.json')))
}

/** Installs what is missing, one process at a time: two at once would remove each other's packages. */
async function install() {
  const lock = await lockInstallation()
  if (!isInstalled()) {
    process.stderr.write('Installing what the node needs (once) ...\n')
    const { spawnSync } = await import('node:child_process')
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
  lock?.close()
}

/**
 * Waits for the turn to install. The lock is a listening socket in the kernel's own namespace, which ends with its process and leaves no
 * file behind; systems other than Linux and Windows have none.
 */
async function lockInstallation() {
  const [{ createHash }, { createServer }] = await Promise.all([import('node:crypto'), import('node:net')])
  const name = `tandem-install-${createHash('sha256').update(root).digest('hex').slice(0, 32)}`
  if (process.platform !== 'linux' && process.platform !== 'win32') return undefined
  const path = process.platform === 'linux' ? `\0${name}` : `\\\\.\\pipe\\${name}`
  for (let isTold = false; ; isTold = true) {
    const server = createServer(socket => socket.destroy())
    const isOurs = await new Promise(resolve => {
      // A system that refuses the name for another reason goes without the lock.
      server.once('error', error => resolve(error.code !== 'EADDRINUSE'))
      server.listen({ path }, () => resolve(true))
    })
    if (isOurs) return server.listening ? server.unref() : undefined
    if (!isTold) process.stderr.write('Another start is installing what the node needs; waiting for it ...\n')
    await new Promise(resolve => setTimeout(resolve, LOCK_POLL_MS))
  }
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
