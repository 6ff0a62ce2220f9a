import type { Engine } from '../engine.ts'
import type { ExecutionMode } from '../executor-types.ts'

/** Engine for messages: the interpreter in WebAssembly, or the EVM of EthereumJS. */
export type EngineName = Exclude<ExecutionMode, 'shadow'>

/** Returns the engine that calls and traces use, and in mode shadow blocks too. */
export const engineNameOf = (mode: ExecutionMode): EngineName => (mode === 'shadow' ? 'wasm' : mode)

const loadEthereumJs = async (): Promise<Engine> => (await import('./ethereumjs/engine.ts')).createEthereumJsEngine()

/** The engine in WebAssembly hands messages that fill its memory with more than 100 M gas to the other one. */
export const loadEngine = async (name: EngineName): Promise<Engine> => {
  if (name === 'ethereumjs') return loadEthereumJs()
  const { createWasmEngine } = await import('./wasm/wasm-engine.ts')
  let loading: Promise<Engine> | undefined
  return createWasmEngine(() => {
    loading ??= loadEthereumJs()
    return loading
  })
}
