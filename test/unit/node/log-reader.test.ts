import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { withTempDir } from '../../support/devnet.ts'

const PROGRAM = join(import.meta.dirname, 'processes', 'logs.ts')

/** Runs the program with a pipe as its standard error; `read` returns what it wrote there since the last call. */
const withLogs = (
  format: string,
  use: (child: ReturnType<typeof spawn>, read: () => string, close: () => void) => Promise<void>,
): Promise<void> =>
  withTempDir(async dir => {
    const path = join(dir, 'pipe')
    execFileSync('mkfifo', [path])
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const writer = openSync(path, 'w')
    const child = spawn(process.execPath, [PROGRAM, format], { stdio: ['pipe', 'pipe', writer] })
    closeSync(writer)
    const buffer = Buffer.alloc(64 * 1024)
    const read = (): string => {
      let text = ''
      try {
        for (let got = -1; got !== 0; text += buffer.toString('latin1', 0, got)) got = readSync(reader, buffer)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      }
      return text
    }
    onTestFinished(() => void child.kill('SIGKILL'))
    await use(child, read, () => closeSync(reader))
  })

test.runIf(process.platform === 'linux').each(['json', 'pretty'])(
  'a reader of %s lines that stops does not stop the process; it hears of lost lines when it goes on',
  format =>
    withLogs(format, async (child, read) => {
      await once(child.stdout as Readable, 'data')
      let text = ''
      await expect.poll(() => (text += read())).toContain('log lines lost')
      expect(text).toMatch(format === 'json' ? /"number":0,/ : /line number=0 /)
      ;(child.stdin as Writable).end('on')
      await once(child, 'exit')
      expect(read()).toContain('another line')
    }),
)

test.runIf(process.platform === 'linux').each(['json', 'pretty'])(
  'a process ends although nobody reads its %s lines',
  format =>
    withLogs(format, async child => {
      await once(child.stdout as Readable, 'data')
      ;(child.stdin as Writable).end()
      expect(await once(child, 'exit')).toEqual([0, null])
    }),
)

test.runIf(process.platform === 'linux')('a process goes on when the reader is gone', () =>
  withLogs('json', async (child, _read, close) => {
    close()
    await once(child.stdout as Readable, 'data')
    ;(child.stdin as Writable).end('on')
    expect(await once(child, 'exit')).toEqual([0, null])
  }),
)
