import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { getAssetKeys, getRawAsset, isSea } from 'node:sea'
import { Script } from 'node:vm'
import { isMainThread, threadId } from 'node:worker_threads'
import { privateFile } from '@tandem/base/fs/private-file.ts'
import { STARTED_AFTER_MS, setHeapGrowth, underDefaultGrowth, useNurseryLimits } from '@tandem/base/worker/nursery.ts'

/*
 * First file of a built command (scripts/build.ts). It loads the chunks with the code that V8 compiled for an earlier start, taken after that start
 * ran: Node's own compile cache has what was compiled before, so every start would compile the functions again.
 * In an executable (scripts/build-executable.ts) it is the first file of every thread and process, and chunks, compiled code and addons are assets.
 */

/** Name of the first chunk, and version of the package, which the build fills in. */
declare const ENTRY: string
declare const VERSION: string

/** Asset with the compiled code. */
const KEPT = 'start.bin'

const assets: ReadonlySet<string> = new Set(isSea() ? getAssetKeys() : [])
const readAsset = (name: string): Buffer => Buffer.from(getRawAsset(name))

interface Chunk {
  readonly script: Script
  readonly exports: object
}

/** Compiled code by the name of its chunk, as one file: a line of JSON with names and sizes, then the bytes. */
const readKept = (read: () => Buffer): ReadonlyMap<string, Buffer> => {
  try {
    const bytes = read()
    const end = bytes.indexOf('\n')
    let at = end + 1
    const sizes = JSON.parse(bytes.toString('latin1', 0, end)) as readonly (readonly [string, number])[]
    const kept = new Map<string, Buffer>()
    for (const [name, size] of sizes) {
      kept.set(name, bytes.subarray(at, at + size))
      at += size
    }
    return kept
  } catch {
    return new Map()
  }
}

/** Adds the chunks of this start that were not there to those of others. A folder that cannot be written has no file, and starts are slower. */
const keep = (file: string, folder: string, chunks: ReadonlyMap<string, Chunk>): void => {
  const kept = readKept(() => readFileSync(file))
  const missing = [...chunks].filter(([name, { script }]) => script.cachedDataRejected === true || !kept.has(name))
  const codes = [
    ...new Map([...kept, ...missing.map(([name, { script }]) => [name, script.createCachedData()] as const)]),
  ]
  const sizes = JSON.stringify(codes.map(([name, code]) => [name, code.byteLength]))
  // Threads keep theirs at the same time.
  const written = `${file}.${process.pid}-${threadId}`
  try {
    mkdirSync(folder, { recursive: true })
    writeFileSync(written, Buffer.concat([Buffer.from(`${sizes}\n`), ...codes.map(([, code]) => code)]), {
      mode: 0o600,
    })
    renameSync(written, file)
  } catch {
    rmSync(written, { force: true })
  }
}

/** Loads an addon of the executable, which the system does from files alone. */
const loadAddon = (name: string): unknown => {
  const module = { exports: {} }
  const file = privateFile(name, readAsset(name), dirname(process.execPath))
  try {
    process.dlopen(module, file)
  } catch (cause) {
    throw new Error(`${file} cannot be loaded: set TMPDIR to a folder of which files may be executed`, { cause })
  }
  return module.exports
}

/** Runs the command; in an executable, the entry that the first argument names. */
const boot = (): void => {
  const [, , first = '', ...more] = process.argv
  if (more.length === 0 && (first === '--version' || first === '-V')) return void process.stdout.write(`${VERSION}\n`)
  if (isMainThread) useNurseryLimits()
  const folder = process.env['NODE_COMPILE_CACHE']
  const file = folder && !assets.has(KEPT) ? join(folder, `start-${process.version}-${ENTRY}.bin`) : undefined
  const kept = readKept(() => (assets.has(KEPT) ? readAsset(KEPT) : readFileSync(file ?? '')))
  const chunks = new Map<string, Chunk>()
  let isComplete = true

  const load = (name: string): object => {
    const known = chunks.get(name)
    if (known !== undefined) return known.exports
    const filename = join(isSea() ? '/' : __dirname, name)
    const source = isSea() ? readAsset(name).toString('latin1') : readFileSync(filename, 'latin1')
    const cachedData = kept.get(name)
    const script = new Script(`(function (exports, require, module, __filename, __dirname) {${source}\n})`, {
      filename,
      ...(cachedData && { cachedData }),
    })
    if (cachedData === undefined || script.cachedDataRejected) isComplete = false
    const module = { exports: {} }
    chunks.set(name, {
      script,
      get exports() {
        return module.exports
      },
    })
    script.runInThisContext()(module.exports, requireFrom, module, filename, dirname(filename))
    return module.exports
  }
  // The root has no packages: what is no asset is Node's own, or a file by its path.
  const requireOther = isSea() ? createRequire('/tandem.cjs') : require
  const requireFrom = (name: string): unknown => underDefaultGrowth(() => find(name))
  const find = (name: string): unknown => {
    if (name.startsWith('./') && name.endsWith('.cjs')) return load(name.slice(2))
    if (name.endsWith('.node')) return loadAddon(name)
    const addon = `addon-${name.replaceAll(/[@/]/g, '_')}.cjs`
    return assets.has(addon) ? load(addon) : requireOther(name)
  }

  underDefaultGrowth(() => load(first.endsWith('.cjs') && assets.has(first) ? first : ENTRY))
  setTimeout(() => {
    setHeapGrowth()
    if (file && folder && !isComplete) underDefaultGrowth(() => keep(file, folder, chunks))
  }, STARTED_AFTER_MS).unref()
}

boot()
