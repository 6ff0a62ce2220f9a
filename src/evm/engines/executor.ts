import { join } from 'node:path'
import type { Logger } from '@tandem/base/logger.ts'
import { buildBlock } from '../block/block-builder.ts'
import { executeBlock, type TransactionRunner } from '../block/block-executor.ts'
import { createEngineRunner, type EngineSource } from '../block/engine-runner.ts'
import type { Engine } from '../engine.ts'
import type { ExecutionMode, Executor } from '../executor-types.ts'
import { createShadowExecutor } from './ethereumjs/shadow-executor.ts'
import { loadEngine } from './select-engine.ts'

interface ExecutorOptions {
  readonly mode: ExecutionMode
  readonly logger: Logger
  /** Folder of shadow mode's reproduction files; `shadow` under the working directory by default. */
  readonly reproductionDir?: string
  /** For tests: replaces the engine in WebAssembly. */
  readonly engine?: Engine
}

/** An engine may be large: it is loaded with the first code only, to keep start-up time and memory low. */
const createEngineSource = (given: Engine | undefined): EngineSource => {
  let loading: Promise<Engine> | undefined
  const source: EngineSource = {
    loaded: given,
    load: () => {
      loading ??= loadEngine('wasm')
      return loading.then(engine => {
        source.loaded ??= engine
        return source.loaded
      })
    },
  }
  return source
}

/** Runner in the VM of EthereumJS, loaded with the first block. */
const createLazyVmRunner = (logger: Logger): TransactionRunner & { load(): Promise<void> } => {
  let loading: Promise<TransactionRunner> | undefined
  const get = (): Promise<TransactionRunner> => {
    loading ??= import('./ethereumjs/block-vm.ts').then(({ createVmRunner }) => createVmRunner(logger))
    return loading
  }
  return {
    load: async () => void (await get()),
    begin: async (journal, env) => (await get()).begin(journal, env),
    systemCall: (journal, env) => async call => (await get()).systemCall(journal, env)(call),
    prepare: () => undefined,
  }
}

const createPlainExecutor = (runner: TransactionRunner, warmUp: () => Promise<void>): Executor => ({
  build: (journal, env, source, budget, credits = []) => buildBlock(runner, journal, env, source, budget, credits),
  execute: (journal, env, transactions, credits = [], bounds = {}) =>
    executeBlock(runner, journal, env, transactions, credits, bounds),
  warmUp,
})

/**
 * Executes blocks: `wasm` by this node's own rules and engine, `ethereumjs` in its VM, `shadow` by both with a comparison of every block
 * (docs/design/execution.md#ethereumjs). One executor serves the whole process; blocks on separate journals may run concurrently.
 */
export const createExecutor = ({ mode, logger, reproductionDir, engine }: ExecutorOptions): Executor => {
  if (mode === 'ethereumjs') {
    const runner = createLazyVmRunner(logger)
    return createPlainExecutor(runner, runner.load)
  }
  const engines = createEngineSource(engine)
  const own = createPlainExecutor(createEngineRunner(engines, logger), async () => void (await engines.load()))
  if (mode === 'wasm') return own
  return createShadowExecutor(own, logger, reproductionDir ?? join(process.cwd(), 'shadow'))
}
