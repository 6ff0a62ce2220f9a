import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { constants, Script } from 'node:vm'
import { useNurseryLimits } from '@tandem/base/worker/nursery.ts'

/*
 * First file of a built command (scripts/build.ts). It loads the chunks with the code that V8 compiled for an earlier start, taken after that start
 * ran: Node's own compile cache has what was compiled before, so every start would compile the functions again.
 */

/** Name of the first chunk, which the build fills in. */
declare const ENTRY: string

/** Delay after which the functions of a start have run. */
const KEEP_AFTER_MS = 2_000

interface Chunk {
  readonly script: Script
  readonly exports: object
}

/** Compiled code by the name of its chunk, as one file: a line of JSON with names and sizes, then the bytes. */
const readKept = (file: string): ReadonlyMap<string, Buffer> => {
  try {
    const bytes = readFileSync(file)
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

/** Adds the chunks of this start to those of others. A folder that cannot be written has no file, and starts are slower. */
const keep = (file: string, folder: string, chunks: ReadonlyMap<string, Chunk>): void => {
  const own = [...chunks].map(([name, { script }]) => [name, script.createCachedData()] as const)
  const codes = [...new Map([...readKept(file), ...own])]
  const sizes = JSON.stringify(codes.map(([name, code]) => [name, code.byteLength]))
  const written = `${file}.${process.pid}`
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

/** Runs the command. */
const boot = (): void => {
  // Flags that code sets later, since V8 refuses code that was compiled under other flags.
  useNurseryLimits()
  setFlagsFromString('--expose-gc')
  const folder = process.env['NODE_COMPILE_CACHE']
  const file = folder && join(folder, `start-${process.version}-${ENTRY}.bin`)
  const kept = file ? readKept(file) : new Map<string, Buffer>()
  const chunks = new Map<string, Chunk>()
  let isComplete = true

  const load = (name: string): object => {
    const known = chunks.get(name)
    if (known !== undefined) return known.exports
    const filename = join(__dirname, name)
    const cachedData = kept.get(name)
    const script = new Script(
      `(function (exports, require, module, __filename, __dirname) {${readFileSync(filename, 'utf8')}\n})`,
      {
        filename,
        ...(cachedData && { cachedData }),
        importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
      },
    )
    if (cachedData === undefined || script.cachedDataRejected) isComplete = false
    const module = { exports: {} }
    chunks.set(name, {
      script,
      get exports() {
        return module.exports
      },
    })
    script.runInThisContext()(module.exports, requireFrom, module, filename, __dirname)
    return module.exports
  }
  const requireFrom = (name: string): unknown =>
    name.startsWith('./') && name.endsWith('.cjs') ? load(name.slice(2)) : require(name)

  load(ENTRY)
  if (file && folder) setTimeout(() => isComplete || keep(file, folder, chunks), KEEP_AFTER_MS).unref()
}

boot()
