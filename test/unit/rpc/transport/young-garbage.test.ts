import { constants, PerformanceObserver } from 'node:perf_hooks'
import { afterEach, expect, test } from 'vitest'
import { eventually } from '../../../support/node-process.ts'
import { Rig } from '../../../support/rpc/rig.ts'

const MIB = 2 ** 20
const CALL = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'
const { NODE_PERFORMANCE_GC_MINOR, NODE_PERFORMANCE_GC_FLAGS_FORCED } = constants

let rig: Rig | undefined
afterEach(() => rig?.stop())

/** Counts the collections of the young generation that were asked for. */
const countingCollections = () => {
  let count = 0
  const observer = new PerformanceObserver(list => {
    for (const entry of list.getEntries()) {
      const { kind, flags } = (entry as unknown as { readonly detail: Readonly<Record<'kind' | 'flags', number>> })
        .detail
      if (kind === NODE_PERFORMANCE_GC_MINOR && (flags & NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0) count++
    }
  })
  observer.observe({ entryTypes: ['gc'] })
  return { count: () => count, stop: () => observer.disconnect() }
}

test('a server collects recent garbage after a turn with requests, where much lies outside the heap', async () => {
  rig = await Rig.start()
  const collections = countingCollections()
  const url = `http://127.0.0.1:${rig.server.port}`
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: CALL }
  await eventually('a collection', async () => {
    // Other collections may take it before the turn ends: then there is more the next time.
    for (let bytes = 0; bytes < 40 * MIB; bytes += 64 * 1_024) Buffer.allocUnsafeSlow(64 * 1_024)
    const answer = await fetch(url, request)
    expect(await answer.text()).toContain('result')
    return collections.count() > 0 || undefined
  })
  collections.stop()
})
