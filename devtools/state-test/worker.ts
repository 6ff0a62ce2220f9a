import { readFile, stat } from 'node:fs/promises'
import { silentLogger } from '@tandem/base/logger.ts'
import { serveWorker, workerStartData } from '@tandem/base/worker/serve-worker.ts'
import { createExecutor } from '../../src/evm/engines/executor.ts'
import type { ExecutionMode } from '../../src/evm/executor-types.ts'
import { TrieService } from '../../src/state/trie/trie-service.ts'
import { STATE_TEST_LIMITS } from '../limits.ts'
import { invalidTest, problemText } from './field-readers.ts'
import { readTests } from './fixture.ts'
import { runStateTests } from './run.ts'

/** Start parameters of a thread. */
export interface StateTestWorkerData {
  readonly mode: ExecutionMode
  /** undefined: every fork. */
  readonly forks: readonly string[] | undefined
}

/** Report of one file. */
export interface FileReport {
  readonly file: string
  /** One JSON object per line, in the order of the file, each ended by a line feed. */
  readonly lines: string
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** Reason why the file was not read, or not completely. */
  readonly problem?: string
}

/** Methods of the worker. */
export type StateTestMethods = { readonly run: (file: string) => FileReport }

const { mode, forks } = workerStartData<StateTestWorkerData>()
const executor = createExecutor({ mode, logger: silentLogger })
const trie = await TrieService.open({ worker: false })
const wanted = forks && new Set(forks)

const readText = async (file: string): Promise<string> => {
  const { size } = await stat(file)
  const limit = STATE_TEST_LIMITS.fileBytes
  if (size > limit) throw invalidTest('file', `${size} bytes: want at most ${limit}`)
  return readFile(file, 'utf8')
}

const run = async (file: string): Promise<FileReport> => {
  const lines: string[] = []
  const counts = { passed: 0, failed: 0, skipped: 0 }
  for await (const result of runStateTests({ executor, trie }, readTests(await readText(file)), wanted)) {
    counts[result.pass ? 'passed' : result.skipped ? 'skipped' : 'failed']++
    lines.push(`${JSON.stringify({ ...result, file })}\n`)
  }
  return { file, lines: lines.join(''), ...counts }
}

serveWorker<StateTestMethods>({
  run: file =>
    run(file).catch((error: unknown) => ({
      file,
      lines: '',
      passed: 0,
      failed: 0,
      skipped: 0,
      problem: problemText(error),
    })),
})
