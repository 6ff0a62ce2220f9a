import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { silentLogger } from '@tandem/base/logger.ts'
import { exitWithError } from '../../src/cli/shared/output.ts'
import { SenderRecovery } from '../../src/crypto/recovery/sender-recovery.ts'
import { createExecutor } from '../../src/evm/engines/executor.ts'
import type { ExecutionMode } from '../../src/evm/executor-types.ts'
import { filesOf } from '../state-test/run-files.ts'
import type { BlockTest } from './fixture.ts'
import { type BlockTestResult, runBlockTest } from './run.ts'

/** Parsed options of `tandem blocktest`. */
export interface BlockTestFlags {
  readonly execution: ExecutionMode
  readonly bench: boolean
}

const REPEATS = 3

const lineOf = ({ gas, ms, ...result }: BlockTestResult): string => {
  const speed = gas === undefined || ms === undefined ? {} : { mgasPerSecond: Math.round(gas / ms / 100) / 10 }
  return `${JSON.stringify({ ...result, ...speed })}\n`
}

/** Runs `tandem blocktest`: exit status 0 when tests ran and all of them passed, 1 otherwise. */
export const runBlockTestFiles = async (
  paths: readonly string[],
  { execution, bench }: BlockTestFlags,
): Promise<void> => {
  // The reader of the output has closed it.
  process.stdout.once('error', () => process.exit(1))
  const recovery = new SenderRecovery({ logger: silentLogger })
  const tools = { executor: createExecutor({ mode: execution, logger: silentLogger }), recovery }
  const total = { passed: 0, failed: 0 }
  for (const file of (await Promise.all(paths.map(filesOf))).flat()) {
    let tests: Readonly<Record<string, BlockTest>>
    try {
      tests = JSON.parse(await readFile(file, 'utf8'))
    } catch (error) {
      exitWithError(new Error(`${file}: ${(error as Error).message}`))
      continue
    }
    for (const [name, test] of Object.entries(tests)) {
      const result = await runBlockTest(name, test, tools, bench ? REPEATS : 0)
      total[result.pass ? 'passed' : 'failed']++
      if (!process.stdout.write(lineOf(result))) await once(process.stdout, 'drain')
    }
  }
  await recovery.close()
  process.stderr.write(`${total.passed} passed, ${total.failed} failed\n`)
  if (total.failed > 0 || total.passed === 0) process.exitCode = 1
}
