import { join } from 'node:path'
import type { Logger } from '@tandem/base/logger.ts'
import { buildBlock } from './block/block-builder.ts'
import { executeBlock, type TransactionRunner } from './block/block-runner.ts'
import { createFastRunner, type EngineSource } from './block/fast-runner.ts'
import type { Engine } from './engine.ts'
import { createShadowExecutor } from './engines/ethereumjs/shadow-executor.ts'
import { DEFAULT_ENGINE, type EngineName, loadEngine } from './engines/select-engine.ts'
import type { ExecutionMode, Executor } from './executor-types.ts'

interface ExecutorOptions {
  readonly mode: ExecutionMode
  /** EVM engine in the modes fast and shadow. */
  readonly evm?: EngineName
  readonly logger: Logger
  /** Folder of shadow mode's reproduction files; `shadow` under the working directory by default. */
  readonly reproductionDir?: string
  /** For tests: replaces the EVM engine in the modes fast and shadow. */
  readonly engine?: Engine
}

/** An engine may be large: it is loaded with the first code only, to keep start-up time and memory low. */
const createEngineSource = (given: Engine | undefined, name: EngineName): EngineSource => {
  let loading: Promise<Engine> | undefined
  const source: EngineSource = {
    loaded: given,
    load: () => {
      loading ??= loadEngine(name)
      return loading.then(engine => {
        source.loaded ??= engine
        return source.loaded
      })
    },
  }
  return source
}

/** Runner in the VM of EthereumJS, loaded with the first block. */
const createLazyVmRunner = (logger: Logger): TransactionRunner => {
  let loading: Promise<TransactionRunner> | undefined
  const load = (): Promise<TransactionRunner> => {
    loading ??= import('./engines/ethereumjs/block-vm.ts').then(({ createVmRunner }) => createVmRunner(logger))
    return loading
  }
  return {
    begin: async (journal, env) => (await load()).begin(journal, env),
    systemCall: (journal, env) => {
      const running = load().then(runner => runner.systemCall(journal, env))
      return async call => (await running)(call)
    },
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
 * Executes blocks: `fast` by this node's own rules, `ethereumjs` through its VM, `shadow` by both with a comparison of every block
 * (docs/design/execution.md#oracle). One executor serves the whole process; blocks on separate journals may run concurrently.
 */
export const createExecutor = ({ mode, evm, logger, reproductionDir, engine }: ExecutorOptions): Executor => {
  const engines = createEngineSource(engine, evm ?? DEFAULT_ENGINE)
  const warmUp = async (): Promise<void> => {
    await engines.load()
  }
  if (mode === 'ethereumjs') return createPlainExecutor(createLazyVmRunner(logger), warmUp)
  const fast = createPlainExecutor(createFastRunner(engines, logger), warmUp)
  if (mode === 'fast') return fast
  return createShadowExecutor(fast, { logger, directory: reproductionDir ?? join(process.cwd(), 'shadow') })
}
