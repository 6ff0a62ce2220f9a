import { expect, test } from 'vitest'
import { callWeight, HEAVY_CALL } from '../../../src/config/limits/call-weights.ts'
import { METHODS } from '../../../src/rpc/methods.ts'

test('a method weighs as much under each of its names', () => {
  const names = Object.keys(METHODS).filter(name => name.startsWith('eth_'))
  const twins = names.map(name => name.replace('eth_', 'native_')).filter(name => Object.hasOwn(METHODS, name))
  expect(twins).toContain('native_getLogs')
  for (const twin of twins) expect(callWeight(twin), twin).toBe(callWeight(twin.replace('native_', 'eth_')))
  expect(callWeight('native_getLogs')).toBe(HEAVY_CALL)
  expect(callWeight('native_getBalance')).toBe(1)
})
