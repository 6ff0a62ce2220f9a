import { createRandom } from '@tandem/base/random.ts'
import { expect, test } from 'vitest'
import type { CrashPoint } from '../../../../devtools/sim/member/crash-points.ts'
import { Disk } from '../../../../devtools/sim/member/disk.ts'
import { SimMachine } from '../../../../devtools/sim/member/sim-machine.ts'
import { EventQueue } from '../../../../devtools/sim/network/event-queue.ts'

const rest = () => new Promise<void>(resolve => setImmediate(resolve))

const setup = (seed = 1) => {
  const queue = new EventQueue()
  const passed: CrashPoint[] = []
  const host = new SimMachine(queue, point => passed.push(point))
  const disk = new Disk(createRandom(seed))
  const drain = async () => {
    await rest()
    while (queue.next()) await rest()
  }
  return { queue, passed, host, disk, files: disk.open(host), drain }
}

const A = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)

test('what was synced is there for the next process, however the power failed', async () => {
  const { queue, host, disk, files, drain } = setup()
  const file = await files.open('log')
  file.write(A, 2)
  expect(disk.holds('log', A)).toBe(false)
  let isDone = false
  void file.sync().then(() => {
    isDone = true
  })
  await rest()
  expect(isDone).toBe(false)
  await drain()
  expect(isDone).toBe(true)
  host.kill()
  disk.tear()
  const next = disk.open(new SimMachine(queue, () => {}))
  expect(await next.read('log')).toEqual(Uint8Array.of(0, 0, ...A))
  expect(await next.read('other')).toBeUndefined()
})

test('of what was not synced all, nothing or a beginning is there', async () => {
  const kept = new Set<number>()
  for (let seed = 1; seed <= 60; seed++) {
    const { queue, host, disk, files } = setup(seed)
    const file = await files.open('log')
    file.write(A, 0)
    void file.sync()
    host.kill()
    disk.tear()
    const content = (await disk.open(new SimMachine(queue, () => {})).read('log'))!
    expect(A.subarray(0, content.byteLength)).toEqual(content)
    kept.add(content.byteLength)
  }
  expect(kept).toContain(0)
  expect(kept).toContain(A.byteLength)
  expect(kept.size).toBeGreaterThan(3)
})

test('a process may die at each step, and nothing of it happens after', async () => {
  const { passed, host, files, drain } = setup()
  const file = await files.open('log')
  file.write(A, 0)
  void file.sync()
  await drain()
  expect(passed).toEqual(['before a write', 'after a write', 'after a sync'])
  let isDone = false
  void file.sync().then(() => {
    isDone = true
  })
  host.kill()
  file.write(A, 100)
  await drain()
  expect(isDone).toBe(false)
  expect(passed).toHaveLength(3)
})

test('a paused process does everything late and in order', async () => {
  const { queue, host } = setup()
  const seen: string[] = []
  host.later(10, () => seen.push(`timer at ${queue.nowMs}`))
  host.later(12, () => seen.push(`message at ${queue.nowMs}`))
  host.pause(50)
  host.later(60, () => seen.push(`later at ${queue.nowMs}`))
  host.soon(20, () => seen.push(`after 20 without a pause at ${queue.nowMs}`))
  while (queue.next()) await rest()
  expect(seen).toEqual(['timer at 50', 'message at 50', 'later at 60', 'after 20 without a pause at 70'])
})
