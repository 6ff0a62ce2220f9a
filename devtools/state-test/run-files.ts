import { once } from 'node:events'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { exitWithError } from '../../src/cli/shared/output.ts'
import type { ExecutionMode } from '../../src/evm/executor-types.ts'
import { runStateTestFiles } from './worker-pool.ts'

/** Parsed options of `tandem statetest`. */
export interface StateTestFlags {
  readonly execution: ExecutionMode
  readonly fork?: readonly string[]
  readonly jobs: number
}

/** Returns the files of a path: itself, or those of a folder and its subfolders. A missing file is reported when it is read. */
export const filesOf = async (path: string): Promise<readonly string[]> => {
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory() !== true) return [path]
  const names = await readdir(path, { recursive: true })
  return names
    .filter(name => name.endsWith('.json'))
    .sort()
    .map(name => join(path, name))
}

/** Runs `tandem statetest`: exit status 0 when entries ran and all of them passed, 1 otherwise. */
export const runStateTest = async (paths: readonly string[], flags: StateTestFlags): Promise<void> => {
  const files = (await Promise.all(paths.map(filesOf))).flat()
  const total = { passed: 0, failed: 0, skipped: 0 }
  let unread = 0
  // The reader of the output has closed it.
  process.stdout.once('error', () => process.exit(1))
  const reports = runStateTestFiles(files, {
    mode: flags.execution,
    // An empty variable means no filter.
    forks: flags.fork?.length ? flags.fork : undefined,
    jobs: Math.min(flags.jobs, files.length),
  })
  for await (const { file, lines, passed, failed, skipped, problem } of reports) {
    if (!process.stdout.write(lines)) await once(process.stdout, 'drain')
    total.passed += passed
    total.failed += failed
    total.skipped += skipped
    if (problem !== undefined) {
      unread++
      exitWithError(new Error(`${file}: ${problem}`))
    }
  }
  const { passed, failed, skipped } = total
  const lost = unread === 0 ? '' : `, ${unread} of ${files.length} files not read`
  process.stderr.write(`${passed} passed, ${failed} failed, ${skipped} skipped${lost}\n`)
  if (failed > 0 || passed === 0) process.exitCode = 1
}
