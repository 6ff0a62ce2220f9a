import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openStateReader } from '../../../src/state/history/stored-state.ts'
import { verifyState } from '../../../src/state/world/verify-state.ts'
import { Store } from '../../../src/storage/store.ts'
import { temporaryDirectory } from '../storage/temp-store.ts'
import { address } from './memory-state.ts'
import { TestWorld } from './world.ts'

const WRITER = fileURLToPath(new URL('./processes/writer.ts', import.meta.url))

/** Runs the writer until it ends; the answer is the last block it called durable and its last line. */
const write = async (path: string, options: { killAfterMs?: number; fileBlocks?: number }) => {
  const limit = options.fileBlocks === undefined ? '' : `ulimit -f ${options.fileBlocks}; `
  // One process to kill: the shell becomes the writer.
  const child = spawn('bash', ['-c', `${limit}exec "$0" "$1" "$2"`, process.execPath, WRITER, path], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let durable = -1
  let last = ''
  const lines = createInterface({ input: child.stdout })
  lines.on('line', line => {
    last = line
    if (/^\d+$/.test(line)) durable = Number(line)
  })
  // The clock starts with the first block, so that a slow start is not all there is.
  const { killAfterMs } = options
  if (killAfterMs !== undefined) lines.once('line', () => setTimeout(() => child.kill('SIGKILL'), killAfterMs))
  await new Promise(resolve => child.on('close', resolve))
  return { durable, last }
}

/** The state is that of exactly one block at or after the last durable one, history and roots included. */
const expectWhole = async (path: string, durable: number): Promise<number> => {
  const store = await Store.open(path)
  const report = await verifyState(store)
  expect(report.problems).toEqual([])
  expect(report.number).toBeGreaterThanOrEqual(durable)
  for (let number = Math.max(0, report.number - 5); number <= report.number; number++) {
    const reader = await openStateReader(store, number)
    for (const i of [1, 50, 100]) expect((await reader.account(address(i)))?.balance).toBe(BigInt(number + 1))
    reader.release()
  }
  await store.close()
  return report.number
}

test('a process killed while it writes leaves whole blocks, and none it called durable is lost', async () => {
  const path = await temporaryDirectory()
  let reached = -1
  for (const killAfterMs of [0, 7, 23, 60, 111]) {
    const { durable } = await write(path, { killAfterMs })
    const number = await expectWhole(path, durable)
    expect(number).toBeGreaterThan(reached)
    reached = number
  }
  const world = await TestWorld.open(path, { stateHistory: 5 })
  expect(world.world.number).toBe(reached)
  await world.close()
})

test('a disk that refuses to grow fails the write and leaves whole blocks', async () => {
  const path = await temporaryDirectory()
  const { durable, last } = await write(path, { fileBlocks: 100 })
  expect(last).toBe('STORE_WRITE_FAILED')
  expect(durable).toBeGreaterThan(0)
  await expectWhole(path, durable)
})
