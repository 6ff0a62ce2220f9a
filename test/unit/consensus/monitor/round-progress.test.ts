import { expect, test } from 'vitest'
import { roundProgress } from '../../../../src/consensus/monitor/stall-monitor.ts'
import { block, CoreBench, commit, prepare, proposal } from '../../../support/consensus/core-bench.ts'

const B = block(1, 1)

test('each step of a round is told by what it waits for', () => {
  const bench = new CoreBench(0)
  const reached = (): string => roundProgress(bench.state.height!, 0)
  expect(reached()).toBe('no proposal')
  bench.hear(proposal(1, 0, B))
  expect(reached()).toBe('proposal not executed yet')
  bench.judge(true)
  expect(reached()).toBe('1 of 3 prepares')
  bench.hear(prepare(1, 0, B))
  expect(reached()).toBe('2 of 3 prepares')
  bench.hear(prepare(2, 0, B))
  expect(reached()).toBe('1 of 3 commits')
  bench.hear(commit(2, 0, B))
  expect(reached()).toBe('2 of 3 commits')
  expect(roundProgress(bench.state.height!, 1)).toBe('no proposal')
})

test('a proposal that this node rejects is told as rejected', () => {
  const bench = new CoreBench(0)
  bench.hear(proposal(1, 0, B))
  bench.judge(false)
  expect(roundProgress(bench.state.height!, 0)).toBe('proposal rejected')
})
