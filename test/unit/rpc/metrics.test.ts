import { expect, test } from 'vitest'
import { Metrics } from '../../../src/metrics/registry.ts'
import { Rig } from '../../support/rpc/rig.ts'

test('counts calls and failures of all ports by method, and unknown methods not at all', async () => {
  const metrics = new Metrics()
  const [one, two] = await Promise.all([Rig.start({ metrics }), Rig.start({ metrics })])
  await one.call('eth_chainId')
  await two.call('eth_chainId')
  await one.call('eth_getBalance', [])
  await one.call('eth_noSuchMethod')
  const text = await metrics.render()
  expect(text).toContain('rpc_calls_total{method="eth_chainId"} 2')
  expect(text).toContain('rpc_errors_total{method="eth_getBalance"} 1')
  expect(text).toContain('rpc_open_connections 0')
  expect(text).not.toContain('NoSuch')
  await one.call('eth_chainId')
  expect(await metrics.render()).toContain('rpc_calls_total{method="eth_chainId"} 3')
  await Promise.all([one.stop(), two.stop()])
})
