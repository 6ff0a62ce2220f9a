import { compileModule, instantiate, newMemory, type WasmModule } from '../../../../crypto/wasm/wasm.ts'
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

export type CompileMethods = { readonly compile: (request: CodeRequest) => CompiledModule | undefined }

const MEMORY = newMemory(1)
const STUBS = { memory: MEMORY, ...Object.fromEntries(IMPORTS.map(([name]) => [name, () => 0n])) }
const FRAME_AT = 1024

/** V8 compiles a function at its first call, for all threads: each is entered once here, without gas, so that it leaves at once. */
const enter = (module: WasmModule, starts: readonly number[]): void => {
  const { [RUN]: run } = instantiate<Record<typeof RUN, (frame: number, pauseAt: bigint) => number>>(module, {
    [IMPORT_MODULE]: STUBS,
  })
  const frame = new DataView(MEMORY.buffer, FRAME_AT)
  for (const start of starts) {
    frame.setUint32(FRAME.pc, start, true)
    frame.setBigInt64(FRAME.gas, -1n, true)
    run(FRAME_AT, 0n)
  }
}

serveWorker<CompileMethods>({
  compile: ({ bytes, fork, addresses }) => {
    const compiled = compileCode(bytes, fork, addresses)
    if (compiled === undefined) return undefined
    const module = compileModule(compiled.module)
    enter(module, compiled.starts)
    return { module, bytes: compiled.module.byteLength }
  },
})
