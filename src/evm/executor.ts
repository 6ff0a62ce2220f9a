import type { Logger } from '../util/logger.ts'
import type { Executor } from './execution.ts'

export type ExecutionMode = 'fast' | 'ethereumjs' | 'shadow'

export interface ExecutorOptions {
  readonly mode: ExecutionMode
  readonly logger: Logger
  /** Where shadow mode writes its reproduction files; the working directory's `shadow` by default. */
  readonly reproductionDir?: string
}

export declare const createExecutor: (options: ExecutorOptions) => Executor
