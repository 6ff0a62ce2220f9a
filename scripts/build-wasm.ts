/**
 * Compiles the AssemblyScript modules to the committed `.wasm` beside them. `--check` compares instead of writing and fails on a difference.
 * The compiler is pinned, so the same source gives the same bytes.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import asc from 'assemblyscript/asc'
import { NAME_FILES } from './wasm-names.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

const EVM = 'src/evm/engines/wasm/assembly/evm.ts'
/** Stands for the same source with the hooks of tracers (assembly/steps.ts). */
const EVM_STEPS = 'src/evm/engines/wasm/assembly/evm-steps.ts'

/** Entry files; the output stands beside its entry with the ending `.wasm`. */
export const MODULES: readonly string[] = [
  'src/crypto/assembly/blake2.ts',
  'src/crypto/assembly/bn254.ts',
  'src/crypto/assembly/hash.ts',
  'src/crypto/assembly/proof-seal.ts',
  'src/crypto/assembly/modexp.ts',
  EVM,
  EVM_STEPS,
  'src/state/trie/assembly/trie.ts',
]

// No runtime: the modules manage their memory themselves and import nothing.
const FLAGS = [
  '-O3',
  '--converge',
  '--noAssert',
  '--runtime',
  'stub',
  '--use',
  'abort=',
  '--enable',
  'simd',
  '--enable',
  'bulk-memory',
]

export const wasmPath = (entry: string): string => `${ROOT}${entry.replace(/\.ts$/, '.wasm')}`

/** The compiled bytes of a module; throws with the compiler's own words. */
export const compile = async (entry: string): Promise<Uint8Array> => {
  let output: Uint8Array | undefined
  const isSteps = entry === EVM_STEPS
  const options = ['--baseDir', ROOT, '--outFile', 'out.wasm', '--use', `STEPS=${Number(isSteps)}`, ...FLAGS]
  const { error, stderr } = await asc.main([isSteps ? EVM : entry, ...options], {
    readFile: async path => NAME_FILES[path] ?? (await readFile(`${ROOT}${path}`, 'utf8').catch(() => null)),
    writeFile: (_name: string, contents: Uint8Array | string) => {
      if (typeof contents !== 'string') output = contents
    },
  })
  if (error || output === undefined) throw new Error(`${entry}: ${error?.message ?? 'no output'}\n${stderr.toString()}`)
  return output
}

const main = async (): Promise<void> => {
  const check = process.argv.includes('--check')
  for (const entry of MODULES) {
    const bytes = Buffer.from(await compile(entry))
    if (!check) await writeFile(wasmPath(entry), bytes)
    else if (!bytes.equals(await readFile(wasmPath(entry))))
      throw new Error(`${entry} gives other bytes than its module`)
    console.log(`${entry}: ${bytes.byteLength} bytes`)
  }
}

if (import.meta.main) await main()
