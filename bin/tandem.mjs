#!/usr/bin/env node
// The one file that runs on the host's own Node (18 or newer): installs what the node needs when that is
// missing, then hands over to the Node 26 of node_modules, which runs the TypeScript source as written.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import v8 from 'node:v8'

const MINIMUM_MAJOR = 26
// A node's garbage is short-lived and its live heap small: V8's defaults trade a third more memory for a few percent of
// speed. The first is taken only from the command line, so the npm scripts name it too.
const HEAP_FLAGS = ['--max-semi-space-size=8', '--heap-growing-percent=50']
const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const main = join(root, 'src', 'cli', 'main.ts')
const installed = () => existsSync(join(root, 'node_modules', 'fastify', 'package.json'))

if (!installed()) {
  process.stderr.write('Installing what the node needs (once) ...\n')
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const args = ['ci', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error']
  const { status, error } = spawnSync(npm, args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (status !== 0) {
    process.stderr.write(
      `The installation failed${error ? `: ${error.message}` : ''}. Run "npm ci" in ${root} to see why.\n`,
    )
    process.exit(1)
  }
}

const major = Number(process.versions.node.split('.')[0])
if (major >= MINIMUM_MAJOR) {
  for (const flag of HEAP_FLAGS) v8.setFlagsFromString(flag)
  // Stripped and compiled code is kept between starts; the variable reaches the worker threads, the call only this one.
  process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules', '.cache', 'tandem')
  nodeModule.enableCompileCache?.(process.env.NODE_COMPILE_CACHE)
  await import(main)
} else {
  const binary = localNode()
  if (binary === null) {
    process.stderr.write(
      `Tandem needs Node ${MINIMUM_MAJOR} or newer; this is ${process.version}, and no bundled one exists for ${process.platform}-${process.arch}.\n` +
        `Install Node ${MINIMUM_MAJOR} and run the command again.\n`,
    )
    process.exit(1)
  }
  const child = spawn(binary, [...HEAP_FLAGS, join(root, 'bin', 'tandem.mjs'), ...process.argv.slice(2)], {
    stdio: 'inherit',
  })
  // A terminal sends Ctrl-C to the whole group; a supervisor signals only us, so pass everything on.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)))
}

/** The Node that the lock file brings for this platform, or null. */
function localNode() {
  const require = nodeModule.createRequire(join(root, 'package.json'))
  try {
    const path = join(dirname(require.resolve(`node-${process.platform}-${process.arch}/package.json`)), 'bin', 'node')
    return existsSync(path) ? path : null
  } catch {
    return null
  }
}
