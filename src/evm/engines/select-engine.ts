import type { Engine } from '../engine.ts'
import type { Fallback } from './wasm/wasm-engine.ts'

/** EVM engine: the interpreter in WebAssembly, or the one in TypeScript. */
export const ENGINE_NAMES = ['wasm', 'interpreter'] as const
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
  return createWasmEngine(interpreter)
}
