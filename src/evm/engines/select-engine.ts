import type { Engine } from '../engine.ts'
import type { ExecutionMode } from '../executor-types.ts'
import type { Fallback } from './wasm/wasm-engine.ts'

/** Engine for messages: the interpreter in WebAssembly, or the EVM of EthereumJS. */
export type EngineName = Exclude<ExecutionMode, 'shadow'>

/** Returns the engine that calls and traces use, and in mode shadow blocks too. */
export const engineNameOf = (mode: ExecutionMode): EngineName => (mode === 'shadow' ? 'wasm' : mode)

/** Returns the interpreter in TypeScript, loaded at first use. */
const lazyInterpreter = (): Fallback => {
  let loading: Promise<Engine> | undefined
  return () => {
    loading ??= import('./interpreter/engine.ts').then(module => module.createInterpreter())
    return loading
  }
}

/** Returns the interpreter in TypeScript, which reports steps. */
export const loadTracingEngine = async (name: EngineName): Promise<Engine> =>
  name === 'ethereumjs' ? loadEngine(name) : lazyInterpreter()()

export const loadEngine = async (name: EngineName): Promise<Engine> => {
  if (name === 'ethereumjs') {
    const { createEthereumJsEngine } = await import('./ethereumjs/engine.ts')
    return createEthereumJsEngine()
  }
  const { createWasmEngine } = await import('./wasm/wasm-engine.ts')
  return createWasmEngine(lazyInterpreter())
}
