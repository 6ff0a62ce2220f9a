import type { Engine } from '../engine.ts'
import type { Fallback } from './wasm/wasm-engine.ts'

/** EVM engine: the interpreter in WebAssembly, or the one in TypeScript, named after the rules it follows. */
export const ENGINE_NAMES = ['wasm', 'ethereumjs'] as const
export type EngineName = (typeof ENGINE_NAMES)[number]
export const DEFAULT_ENGINE: EngineName = 'wasm'

/** Returns the interpreter in TypeScript, loaded at first use. */
const lazyEthereumJs = (): Fallback => {
  let loading: Promise<Engine> | undefined
  return () => {
    loading ??= import('./interpreter/engine.ts').then(module => module.createInterpreter())
    return loading
  }
}

export const loadEngine = async (name: EngineName): Promise<Engine> => {
  const ethereumJs = lazyEthereumJs()
  if (name === 'ethereumjs') return ethereumJs()
  const { createWasmEngine } = await import('./wasm/wasm-engine.ts')
  return createWasmEngine(ethereumJs)
}
