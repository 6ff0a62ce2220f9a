import { type QueuedRequest, RequestQueue } from '@tandem/explorer/service/request-queue.ts'
import { describe, expect, test } from 'vitest'

/** A queue whose requests tell by their names what became of them. */
const rig = (running: { total: number; client: number }, waiting: { total: number; client: number }) => {
  const queue = new RequestQueue({ running, waiting })
  const started: string[] = []
  const refused: string[] = []
  const requests = new Map<string, QueuedRequest>()
  return {
    queue,
    started,
    refused,
    /** Names begin with the letter of the client. */
    add(...names: readonly string[]): void {
      for (const name of names) {
        const request: QueuedRequest = {
          client: name.slice(0, 1),
          start: () => started.push(name),
          refuse: error => refused.push(`${name} ${error.code}`),
        }
        requests.set(name, request)
        queue.add(request)
      }
    },
    leave(...names: readonly string[]): void {
      for (const name of names) queue.leave(requests.get(name) as QueuedRequest)
    },
  }
}

describe('requests of clients', () => {
  test('run a few at a time, and of one client fewer', () => {
    const { add, leave, started } = rig({ total: 3, client: 2 }, { total: 9, client: 9 })
    add('a1', 'a2', 'a3', 'b1', 'b2')
    expect(started).toEqual(['a1', 'a2', 'b1'])
    leave('b1')
    expect(started).toEqual(['a1', 'a2', 'b1', 'b2'])
    leave('a2', 'a1')
    expect(started.slice(4)).toEqual(['a3'])
  })

  test('take turns by client, however many wait of one', () => {
    const { add, leave, started } = rig({ total: 1, client: 1 }, { total: 9, client: 9 })
    add('a1', 'a2', 'a3', 'a4', 'b1', 'c1')
    for (let at = 0; at < 5; at++) leave(started.at(-1) as string)
    expect(started).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'a4'])
  })

  test('do not start when they are given up while they wait', () => {
    const { add, leave, started } = rig({ total: 1, client: 1 }, { total: 2, client: 2 })
    add('a1', 'a2', 'b1')
    leave('a2', 'b1', 'b1')
    add('a3', 'a4')
    leave('a1')
    expect(started).toEqual(['a1', 'a3'])
    leave('a3')
    expect(started).toEqual(['a1', 'a3', 'a4'])
  })

  test('are refused at once when too many of the client wait, and that of no other', () => {
    const { add, started, refused } = rig({ total: 2, client: 1 }, { total: 9, client: 2 })
    add('a1', 'a2', 'a3', 'a4', 'b1')
    expect(refused).toEqual(['a4 CLIENT_BUSY'])
    expect(started).toEqual(['a1', 'b1'])
  })

  test('have a place when all are taken: that of the client that has most', () => {
    const { add, leave, started, refused } = rig({ total: 1, client: 1 }, { total: 3, client: 3 })
    add('a1', 'a2', 'a3', 'a4', 'b1')
    expect(refused).toEqual(['a4 EXPLORER_BUSY'])
    add('a5', 'c1', 'b2')
    expect(refused.slice(1)).toEqual(['a5 EXPLORER_BUSY', 'a3 EXPLORER_BUSY', 'b2 EXPLORER_BUSY'])
    for (let at = 0; at < 3; at++) leave(started.at(-1) as string)
    expect(started).toEqual(['a1', 'a2', 'b1', 'c1'])
  })

  test('are forgotten together', () => {
    const { queue, add, leave, started } = rig({ total: 1, client: 1 }, { total: 2, client: 2 })
    add('a1', 'a2')
    queue.clear()
    leave('a1', 'a2')
    add('b1', 'b2', 'b3')
    expect(started).toEqual(['a1', 'b1'])
    leave('b1', 'b2', 'b3')
    expect(started).toEqual(['a1', 'b1', 'b2', 'b3'])
  })
})
