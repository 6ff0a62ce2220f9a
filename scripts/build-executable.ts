import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Plugin } from 'rolldown'
import launch from '../bin/launch.json' with { type: 'json' }
import { build, bundle, ROOT } from './build.ts'
import { keepCode } from './keep-code.ts'

/*
 * `npm run build:executable -- [--cpu x64|arm64] [DIR]` writes tandem-linux-CPU: the command with its Node and its native addons in one file, which needs
 * of its system the C and C++ libraries alone. Beside it stand the addons, for a system without a folder from which programs may run. The code of
 * another CPU than this machine's has no compiled code in it, which only a start can make.
 */

const { values, positionals } = parseArgs({
  options: { cpu: { type: 'string', default: process.arch } },
  allowPositionals: true,
})
const { cpu } = values
const out = resolve(positionals[0] ?? join(ROOT, 'dist-executable'))
const work = mkdtempSync(join(tmpdir(), 'tandem-build-'))

const run = (program: string, args: readonly string[], cwd = work): void => {
  const { status, error } = spawnSync(program, args, { cwd, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed`, { cause: error })
}

/** Folder of the packages of the lock file for the CPU. */
const installed = (): string => {
  if (cpu === process.arch && process.platform === 'linux') return join(ROOT, 'node_modules')
  for (const path of ['package.json', 'package-lock.json', 'packages'])
    cpSync(join(ROOT, path), join(work, path), { recursive: true })
  run('npm', [
    'ci',
    '--omit=dev',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--os=linux',
    `--cpu=${cpu}`,
    '--libc=glibc',
  ])
  return join(work, 'node_modules')
}

/** Files of addons by the name under which code requires them, as far as there is one for the CPU. */
const ADDON_FILES: Readonly<Record<string, string>> = {
  'classic-level': `classic-level/prebuilds/linux-${cpu}/classic-level{,.armv8}.node`,
  'secp256k1/bindings': `secp256k1/prebuilds/linux-${cpu}/secp256k1.glibc.node`,
  '@chainsafe/blst': `@chainsafe/blst-linux-${cpu}-gnu/*.node`,
  '@node-rs/argon2': `@node-rs/argon2-linux-${cpu}-gnu/*.node`,
}

/** Programs of the container image, each called by its name as the first argument (src/cli/boot.ts). */
const IMAGE_PROGRAMS = Object.fromEntries(['health', 'setup'].map(name => [name, join(ROOT, `docker/${name}.ts`)]))

/** Writes an addon, named by its content, and the module that stands for its package. */
const writeAddon = async (lib: string, name: string, file: string): Promise<void> => {
  const content = readFileSync(file)
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16)
  const asset = `${basename(file).split('.')[0]}-${hash}.node`
  writeFileSync(join(lib, asset), content)
  const entry = `addon-${name.replaceAll(/[@/]/g, '_')}`
  const loaded = `require(${JSON.stringify(asset)})`
  // The exports of a package of napi-rs are those of its addon.
  if (name.startsWith('@')) return writeFileSync(join(lib, `${entry}.cjs`), `module.exports=${loaded}`)
  const gypBuild: Plugin = {
    name: 'gyp-build',
    resolveId: source =>
      source === 'node-gyp-build' ? source : source.endsWith('.node') ? { id: source, external: true } : undefined,
    load: id => (id === 'node-gyp-build' ? `module.exports=()=>${loaded}` : undefined),
  }
  await bundle(
    lib,
    { [entry]: join(ROOT, 'node_modules', name === 'classic-level' ? `${name}/index.js` : `${name}.js`) },
    { plugins: [gypBuild], external: [] },
  )
}

/** Writes the executable of the files of a folder. */
const writeExecutable = (node: string, lib: string, output: string): void => {
  const names = globSync('**/*.*', { cwd: lib }).sort()
  const config = join(work, 'executable.json')
  const settings = {
    ...{ main: 'package/lib/tandem.cjs', executable: node, output, execArgv: launch.flags },
    ...{ disableExperimentalSEAWarning: true, useCodeCache: false },
    assets: Object.fromEntries(names.map(name => [name, join(lib, name)])),
  }
  writeFileSync(config, JSON.stringify(settings))
  run(join(ROOT, `node_modules/node-linux-${process.arch}/bin/node`), [`--build-sea=${config}`])
  chmodSync(output, 0o755)
}

try {
  await build(join(work, 'package'), IMAGE_PROGRAMS)
  const lib = join(work, 'package', 'lib')
  const modules = installed()
  for (const [name, pattern] of Object.entries(ADDON_FILES)) {
    const [file] = globSync(pattern, { cwd: modules })
    if (file !== undefined) await writeAddon(lib, name, join(modules, file))
  }
  rmSync(out, { recursive: true, force: true })
  mkdirSync(join(out, 'addons'), { recursive: true })
  for (const name of globSync('*.node', { cwd: lib })) copyFileSync(join(lib, name), join(out, 'addons', name))
  const node = join(modules, `node-linux-${cpu}/bin/node`)
  const executable = join(out, `tandem-linux-${cpu}`)
  writeExecutable(node, lib, executable)
  if (cpu === process.arch) {
    await keepCode(executable, join(lib, 'start.bin'))
    writeExecutable(node, lib, executable)
  }
  // For programs that start a script by Node, as the tests do with BUILD=dist-executable.
  mkdirSync(join(out, 'bin'))
  writeFileSync(
    join(out, 'bin', 'tandem.mjs'),
    `import { join } from 'node:path'
const file = join(import.meta.dirname, '../${basename(executable)}')
process.execve(file, [file, ...process.argv.slice(2)])
`,
  )
  const hash = createHash('sha256').update(readFileSync(executable)).digest('hex')
  writeFileSync(join(out, 'SHA256SUMS'), `${hash}  ${basename(executable)}\n`)
} finally {
  rmSync(work, { recursive: true, force: true })
}
