import { expect, test } from 'vitest'
import { GroupCommit } from '../../../../src/consensus/wal/wal-writer.ts'
import { settle } from '../../../support/consensus/manual-clock.ts'

/** A store whose syncs end when they are told to. */
class Store {
  isDirty = false
  readonly #done: string[]
  readonly #name: string
  #ends: PromiseWithResolvers<void>[] = []

  constructor(name: string, done: string[]) {
    this.#name = name
    this.#done = done
  }

  take(): () => Promise<void> {
    if (!this.isDirty) return async () => {}
    this.isDirty = false
    return () => {
      this.#done.push(`${this.#name} begins`)
      const end = Promise.withResolvers<void>()
      this.#ends.push(end)
      return end.promise
    }
  }

  async end(error?: Error): Promise<void> {
    const end = this.#ends.shift()
    if (error === undefined) end?.resolve()
    else end?.reject(error)
    await settle()
  }
}

const parts = () => {
  const done: string[] = []
  const [log, watermark] = [new Store('log', done), new Store('mark', done)]
  const groupCommit = new GroupCommit(log, watermark, error => done.push(error.message))
  const say = async (what: string) => {
    log.isDirty = true
    watermark.isDirty = true
    groupCommit.push(() => done.push(what))
    groupCommit.flush()
    await settle()
  }
  return { done, log, watermark, groupCommit, say }
}

test('messages wait for the sync of the log, then for that of the watermark', async () => {
  const { done, log, watermark, say } = parts()
  await say('one')
  expect(done).toEqual(['log begins'])
  await log.end()
  expect(done).toEqual(['log begins', 'mark begins'])
  await watermark.end()
  expect(done).toEqual(['log begins', 'mark begins', 'one'])
})

test('the next batch waits for the watermark of the one before', async () => {
  const { done, log, watermark, say } = parts()
  await say('one')
  await log.end()
  await say('two')
  expect(done).toEqual(['log begins', 'mark begins'])
  await watermark.end()
  expect(done.slice(2)).toEqual(['one', 'log begins'])
  await log.end()
  await watermark.end()
  expect(done.slice(4)).toEqual(['mark begins', 'two'])
})

test('a held message is durable at once, is sent when released, and delays no earlier message', async () => {
  const { done, log, watermark, groupCommit, say } = parts()
  await say('before')
  const due = Promise.withResolvers<void>()
  groupCommit.hold(() => {
    done.push('durable')
    return due.promise
  })
  await say('held')
  await log.end()
  await watermark.end()
  expect(done.slice(1)).toEqual(['mark begins', 'before', 'log begins'])
  await log.end()
  await watermark.end()
  expect(done.slice(4)).toEqual(['mark begins', 'durable'])
  due.resolve()
  await settle()
  expect(done.slice(6)).toEqual(['held'])
})

test('a stop leaves a watermark that is as far as the log', async () => {
  const { done, log, watermark, groupCommit, say } = parts()
  await say('one')
  await log.end()
  await say('two')
  const closed = groupCommit.close()
  await watermark.end()
  await closed
  expect(done).toEqual(['log begins', 'mark begins'])
})

test('a stop waits for what is held, and does not let it leave', async () => {
  const { done, log, watermark, groupCommit, say } = parts()
  const due = Promise.withResolvers<void>()
  groupCommit.hold(() => due.promise)
  await say('held')
  await log.end()
  await watermark.end()
  const closed = groupCommit.close().then(() => done.push('closed'))
  await settle()
  expect(done).toEqual(['log begins', 'mark begins'])
  due.resolve()
  await closed
  expect(done).toEqual(['log begins', 'mark begins', 'closed'])
})

test('a log that begins anew and a stop wait for the watermark', async () => {
  const { done, log, watermark, groupCommit, say } = parts()
  await say('one')
  await log.end()
  const anew = groupCommit.exclusively(async () => void done.push('anew'))
  const closed = anew.then(() => groupCommit.close()).then(() => done.push('closed'))
  await settle()
  expect(done.slice(3)).toEqual([])
  await watermark.end()
  await closed
  expect(done.slice(3)).toEqual(['anew', 'closed'])
})

test('nothing leaves any more once the log or the watermark failed', async () => {
  for (const failing of ['log', 'watermark'] as const) {
    const { done, log, watermark, say } = parts()
    await say('one')
    if (failing === 'watermark') await log.end()
    await (failing === 'log' ? log : watermark).end(new Error('no space'))
    await say('two')
    await log.end()
    expect(done.at(-1), failing).toBe('no space')
    expect(done).not.toContain('two')
  }
})
