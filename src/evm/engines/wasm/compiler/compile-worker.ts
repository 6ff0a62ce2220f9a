import { setTimeout } from 'node:timers/promises'
import { compileModule, instantiate, newMemory, type WasmModule } from '../../../../crypto/wasm/wasm.ts'
import { lowerThreadPriority } from '../../../../util/worker/priority.ts'
import { serveWorker } from '../../../../util/worker/serve-worker.ts'
import type { CodeRequest } from './code-compiler.ts'
import { compileCode, IMPORT_MODULE, RUN } from './compile.ts'
import { IMPORTS } from './instructions.ts'
import { FRAME } from './layout.ts'

/* Worker that compiles hot codes, so that neither the compiler nor V8's takes time of a thread that executes. */

interface CompiledModule {
  readonly module: WasmModule
  readonly bytes: number
}

interface CompileAnswer {
  /** undefined: nothing of the code would run. */
  readonly compiled: CompiledModule | undefined
  /** Time that the worker had for nothing else. */
  readonly ms: number
}

export type CompileMethods = { readonly compile: (request: CodeRequest) => CompileAnswer }

const MEMORY = newMemory(1)
const STUBS = { memory: MEMORY, ...Object.fromEntries(IMPORTS.map(([name]) => [name, () => 0n])) }
const FRAME_AT = 1024

/**
 * Size of WebAssembly that is entered until V8 has a function optimized, in its threads: ten times what it took in Node 26. Baseline
 * code of small blocks is several times slower than the interpreter, so a code is handed out when it is optimized.
 */
const TIERING_BYTES = 36_000_000
/** WebAssembly that V8 optimizes in a millisecond, about: what is not optimized yet is only slower for a while. */
const OPTIMIZED_PER_MS = 1_000
/** Time of optimization in times of the compilation before it, on a machine that has other work. */
const OPTIMIZATIONS = 2
const MOST_ENTRIES = 20_000

type Run = (frame: number, pauseAt: bigint) => number

/** V8 compiles a function at its first calls, for all threads: each is entered here, without gas, so that it leaves at once. */
const enter = (module: WasmModule, starts: readonly number[], bytes: number): void => {
  const { [RUN]: run } = instantiate<Record<typeof RUN, Run>>(module, { [IMPORT_MODULE]: STUBS })
  const frame = new DataView(MEMORY.buffer, FRAME_AT)
  frame.setBigInt64(FRAME.gas, -1n, true)
  const entries = Math.min(MOST_ENTRIES, Math.ceil((TIERING_BYTES * starts.length) / bytes))
  for (const start of starts) {
    for (let i = 0; i < entries; i++) {
      frame.setUint32(FRAME.pc, start, true)
      run(FRAME_AT, 0n)
    }
  }
}

lowerThreadPriority()
serveWorker<CompileMethods>({
  compile: async ({ bytes, fork, addresses }) => {
    const startedMs = performance.now()
    const elapsed = (): number => performance.now() - startedMs
    const code = compileCode(bytes, fork, addresses)
    if (code === undefined) return { compiled: undefined, ms: elapsed() }
    const module = compileModule(code.module)
    const size = code.module.byteLength
    enter(module, code.starts, size)
    await setTimeout(Math.max(size / OPTIMIZED_PER_MS, OPTIMIZATIONS * elapsed()))
    return { compiled: { module, bytes: size }, ms: elapsed() }
  },
})
