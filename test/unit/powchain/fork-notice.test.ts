import { describe, expect, test } from 'vitest'
import { NETWORKS } from '../../../src/config/networks.ts'
import { forkNoticeAt, watchFork } from '../../../src/powchain/fork-notice.ts'
import { LogBook } from '../../support/network/net-node.ts'
import { paramsWithFork } from '../../support/powchain/headers.ts'

const params = paramsWithFork(2_000)

describe('the notice of the fork', () => {
  test('is due from 1,000 headers before it on, then every hundred, and with each of the last ten', () => {
    const due = Array.from({ length: 2_100 }, (_, height) => height).filter(height => forkNoticeAt(params, height))
    const hundreds = Array.from({ length: 9 }, (_, at) => 999 + at * 100)
    const last = Array.from({ length: 11 }, (_, at) => 1_989 + at)
    expect(due).toEqual([...hundreds, 1_899, ...last])
    expect(forkNoticeAt(params, 999)).toEqual({ forkHeight: 2_000, remaining: 1_000 })
    expect(forkNoticeAt(params, 1_999)).toEqual({ forkHeight: 2_000, remaining: 0 })
  })

  test('is due at a start wherever it is near, and nowhere else', () => {
    expect([998, 999, 1_234, 1_999, 2_000].map(at => forkNoticeAt(params, at, true) !== undefined)).toEqual([
      false,
      true,
      true,
      true,
      false,
    ])
  })

  test('is never due without a fork to come', () => {
    for (const height of [null, 0, 1]) expect(forkNoticeAt(paramsWithFork(height), 1, true)).toBeUndefined()
    expect(forkNoticeAt(paramsWithFork(20), 0, true), 'a chain that nobody mines').toBeUndefined()
    expect(forkNoticeAt(NETWORKS.mainnet, 1_739_000, true)).toEqual({ forkHeight: 1_740_000, remaining: 999 })
    expect(forkNoticeAt(NETWORKS.testnet, 326_399)).toEqual({ forkHeight: 327_400, remaining: 1_000 })
  })
})

test('the log names the block with which the fork is in force, once, also where a block holds two headers', () => {
  const log = new LogBook()
  const watch = watchFork(paramsWithFork(3), 0, log)
  watch(10, 0)
  watch(11, 2)
  watch(12, 2)
  expect(log.lines.filter(({ message }) => /in force/.test(message))).toEqual([])
  watch(13, 4)
  watch(14, 5)
  const inForce = log.lines.filter(({ message }) => /in force/.test(message))
  expect(inForce.map(({ fields }) => fields)).toEqual([
    { forkHeight: 3, activatedAtMainBlock: 13, algorithm: 'nativeHash' },
  ])
  const notices = log.lines.filter(({ message }) => /is near/.test(message))
  expect(notices.map(({ level }) => level)).toEqual(['debug', 'debug'])
})

test('operators of public networks are warned at the start', () => {
  const log = new LogBook()
  watchFork(NETWORKS.mainnet, 1_739_500, log)
  expect(log.lines).toMatchObject([{ level: 'warn', fields: { forkHeight: 1_740_000, remaining: 499 } }])
})
