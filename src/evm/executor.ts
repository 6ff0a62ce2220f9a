import type { Logger } from '../util/logger.ts'
import type { Engine } from './engine.ts'
import type { Executor } from './execution.ts'
import { createFastExecutor } from './fast-executor.ts'

export type ExecutionMode = 'fast' | 'ethereumjs' | 'shadow'

export interface ExecutorOptions {
  readonly mode: ExecutionMode
  readonly logger: Logger
  /** Where shadow mode writes its reproduction files; `shadow` under the working directory by default. */
  readonly reproductionDir?: string
  /** For tests: takes the place of the engine that runs code in the modes fast and shadow. */
  readonly engine?: Engine
}

/** EthereumJS is large: nothing of it is loaded before the first message with code, a product figure of start-up and memory. */
const engineLoader = (given: Engine | undefined): (() => Promise<Engine>) => {
  let loading = given === undefined ? undefined : Promise.resolve(given)
  return () => {
    loading ??= import('./engines/ethereumjs.ts').then(module => module.createEthereumJsEngine())
    return loading
  }
}

export const createExecutor = ({ engine }: ExecutorOptions): Executor => createFastExecutor(engineLoader(engine))
