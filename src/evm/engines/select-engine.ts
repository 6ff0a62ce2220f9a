import type { Engine } from '../engine.ts'
import type { HotCompiler } from './wasm/compiler/hot-compiler.ts'
import type { Fallback } from './wasm/wasm-engine.ts'

/** EVM engine: the interpreter in WebAssembly, the same with hot codes compiled, or the interpreter in TypeScript. */
export const ENGINE_NAMES = ['wasm', 'compiler', 'interpreter'] as const
export type EngineName = (typeof ENGINE_NAMES)[number]
export const DEFAULT_ENGINE: EngineName = 'wasm'

/** Returns the interpreter in TypeScript, loaded at first use. */
const lazyInterpreter = (): Fallback => {
  let loading: Promise<Engine> | undefined
  return () => {
    loading ??= import('./interpreter/engine.ts').then(module => module.createInterpreter())
    return loading
  }
}

export const loadEngine = async (name: EngineName): Promise<Engine> => {
  const interpreter = lazyInterpreter()
  if (name === 'interpreter') return interpreter()
  const { createWasmEngine } = await import('./wasm/wasm-engine.ts')
  if (name === 'wasm') return createWasmEngine(interpreter)
  const { createHotCompiler } = await import('./wasm/compiler/hot-compiler.ts')
  hotCompiler ??= createHotCompiler()
  return createWasmEngine(interpreter, hotCompiler)
}

/** Returns the engine that compiles every code before its first run, in this thread: for checks against other engines. */
export const loadImmediateEngine = async (): Promise<Engine> => {
  const { createWasmEngine } = await import('./wasm/wasm-engine.ts')
  const { createImmediateCompiler } = await import('./wasm/compiler/code-compiler.ts')
  return createWasmEngine(lazyInterpreter(), createImmediateCompiler())
}

/** One for all engines of a thread. */
let hotCompiler: HotCompiler | undefined
