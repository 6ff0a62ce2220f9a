import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CodedError } from '@tandem/base/errors.ts'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { RECOVERY_LIMITS } from '../../../../src/config/limits/execution.ts'
import { type RecoveredSender, recoverSender } from '../../../../src/crypto/recovery/recover-sender.ts'
import { SenderRecovery, type SenderRecoveryOptions } from '../../../../src/crypto/recovery/sender-recovery.ts'
import { eachType, SIGNER, signed } from '../signed.ts'

const raws = Object.values(await eachType())
const garbage = Uint8Array.of(0xc1, 0x80)
const open: SenderRecovery[] = []
const directories: string[] = []

const pool = (options: SenderRecoveryOptions = {}): SenderRecovery => {
  const recovery = new SenderRecovery({ workers: 1, ...options })
  open.push(recovery)
  return recovery
}

const one = async (recovery: SenderRecovery, raw: Uint8Array): Promise<RecoveredSender> => {
  const [answer] = await recovery.recoverMany([raw], 'singles')
  if (answer === undefined || answer instanceof Error) throw answer
  return answer
}

afterEach(async () => {
  await Promise.all(open.splice(0).map(recovery => recovery.close()))
  await Promise.all(directories.splice(0).map(directory => rm(directory, { recursive: true })))
})

test('answers each caller with hash and sender', async () => {
  const recovery = pool()
  const answers = await Promise.all(raws.map(raw => one(recovery, raw)))
  expect(answers).toEqual(raws.map(raw => recoverSender(raw)))
  expect(recovery.pending).toBe(0)
})

test('a transaction without a sender is rejected alone', async () => {
  const recovery = pool({ batch: 2 })
  const [good, bad] = await Promise.allSettled([one(recovery, raws[0]!), one(recovery, garbage)])
  expect(good).toMatchObject({ status: 'fulfilled', value: { from: SIGNER } })
  expect(bad).toMatchObject({
    status: 'rejected',
    reason: { detail: { code: 'INVALID_SENDER', reason: 'wrong number of fields' } },
  })
})

test('many at once keep their order over several batches and workers', async () => {
  const recovery = pool({ workers: 2, batch: 7 })
  const many = await Promise.all(
    Array.from({ length: 50 }, (_, nonce) => signed({ type: 'legacy', gasPrice: 1n, gas: 1n, chainId: 9, nonce })),
  )
  many[20] = garbage
  const answers = await recovery.recoverMany(many)
  for (const [i, raw] of many.entries()) {
    if (i === 20) expect(answers[i]).toBeInstanceOf(CodedError)
    else expect(answers[i]).toEqual(recoverSender(raw))
  }
  // Single transactions go in smaller messages than those of a block.
  expect(await recovery.recoverMany(many, 'singles')).toEqual(answers)
  expect(await recovery.recoverMany([])).toEqual([])
})

test('the queue is bounded, and takes again once it has emptied', async () => {
  const recovery = pool({ queue: 1, blockQueue: 3 })
  const first = recovery.recoverMany([raws[0]!, raws[1]!])
  await expect(recovery.recoverMany([raws[0]!, raws[1]!])).rejects.toMatchObject({
    detail: { code: 'RECOVERY_QUEUE_FULL', limit: 3 },
  })
  // Single ones have room of their own.
  const third = one(recovery, raws[2]!)
  await expect(one(recovery, raws[3]!)).rejects.toMatchObject({ detail: { code: 'RECOVERY_QUEUE_FULL', limit: 1 } })
  await Promise.all([first, third])
  await expect(one(recovery, raws[3]!)).resolves.toMatchObject({ from: SIGNER })
})

test('a block goes before single transactions that came earlier', async () => {
  const recovery = pool({ batch: 8 })
  const order: string[] = []
  const singles = Array.from({ length: 800 }, () => one(recovery, raws[0]!).then(() => order.push('single')))
  const block = recovery.recoverMany(raws).then(() => order.push('block'))
  await Promise.all([...singles, block])
  // Before all of them but those that the worker had begun with.
  expect(order.indexOf('block')).toBeLessThan(400)
})

test('close rejects what is under way and what comes after', async () => {
  const recovery = pool()
  const caught = expect(recovery.recoverMany(raws, 'singles')).rejects.toMatchObject({ code: 'RECOVERY_CLOSED' })
  await recovery.close()
  await caught
  await expect(one(recovery, raws[0]!)).rejects.toMatchObject({ code: 'RECOVERY_CLOSED' })
  await expect(recovery.recoverMany(raws)).rejects.toMatchObject({ code: 'RECOVERY_CLOSED' })
})

/** A worker that dies at its first message as long as the marker file is missing, and works from then on. */
const dyingWorker = async (always: boolean): Promise<URL> => {
  const directory = await mkdtemp(join(tmpdir(), 'recovery-'))
  directories.push(directory)
  const real = new URL('../../../../src/crypto/recovery/worker.ts', import.meta.url)
  const file = join(directory, 'worker.mjs')
  const marker = join(directory, 'died')
  await writeFile(
    file,
    `import { existsSync, writeFileSync } from 'node:fs'
     import { parentPort, workerData } from 'node:worker_threads'
     if (${always} || !existsSync(${JSON.stringify(marker)})) {
       const die = () => { writeFileSync(${JSON.stringify(marker)}, ''); process.exit(3) }
       parentPort.on('message', die)
       workerData.urgent.on('message', die)
     } else await import(${JSON.stringify(real.href)})`,
  )
  return pathToFileURL(file)
}

test('a worker that dies is replaced and its batch tried once more', async () => {
  const recovery = pool({ workerUrl: await dyingWorker(false) })
  expect(await recovery.recoverMany(raws)).toEqual(raws.map(raw => recoverSender(raw)))
  await expect(one(recovery, raws[0]!)).resolves.toMatchObject({ from: SIGNER })
})

test('a batch that kills two workers fails', async () => {
  const recovery = pool({ workerUrl: await dyingWorker(true) })
  await expect(recovery.recoverMany(raws)).rejects.toMatchObject({ detail: { code: 'RECOVERY_FAILED' } })
  expect(recovery.pending).toBe(0)
})

test('a lone short transaction needs no worker, as long as they come seldom', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  vi.advanceTimersByTime(1_000)
  const recovery = pool({ workerUrl: await dyingWorker(true) })
  expect(await one(recovery, raws[0]!)).toEqual(recoverSender(raws[0]!))
  await expect(one(recovery, raws[0]!), 'at once after it').rejects.toMatchObject({ code: 'RECOVERY_FAILED' })
  vi.advanceTimersByTime(RECOVERY_LIMITS.here.everyMs)
  expect(await one(recovery, raws[0]!)).toEqual(recoverSender(raws[0]!))
  vi.advanceTimersByTime(RECOVERY_LIMITS.here.everyMs)
  await expect(recovery.recoverMany([raws[0]!, raws[0]!], 'singles')).rejects.toMatchObject({ code: 'RECOVERY_FAILED' })
  const long = raws.find(raw => raw.byteLength > RECOVERY_LIMITS.here.bytes)
  await expect(one(recovery, long!)).rejects.toMatchObject({ code: 'RECOVERY_FAILED' })
  expect(await one(recovery, garbage).catch((error: CodedError) => error.code)).toBe('INVALID_SENDER')
})
