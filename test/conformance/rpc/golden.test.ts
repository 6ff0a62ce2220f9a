import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { METHODS } from '../../../src/rpc/methods/methods.ts'
import type { Rig } from '../../support/rpc/rig.ts'
import { startSample } from '../../support/rpc/sample.ts'
import { argumentsFor } from './arguments.ts'

/**
 * One recorded request and answer per method, over the sample chain: whatever changes here changes the interface.
 * UPDATE_GOLDEN=1 writes them anew.
 */
let rig: Rig
beforeAll(async () => {
  rig = await startSample()
})
afterAll(() => rig.stop())

const fileOf = (name: string): string => fileURLToPath(new URL(`./${name}/call.json.snap`, import.meta.url))
const recorded = Object.entries(METHODS).filter(
  ([name, { socketOnly }]) =>
    // Ids are random, and the document of the whole table has its own test.
    !socketOnly &&
    !/_(newFilter|newBlockFilter|newPendingTransactionFilter|getFilter|uninstallFilter)/.test(name) &&
    name !== 'rpc.discover',
)

describe('golden answers', () => {
  test.each(recorded.map(([name]) => name))('%s', async name => {
    const request = { jsonrpc: '2.0', id: 1, method: name, params: argumentsFor(name, rig) }
    // A node of its own for what changes the pool.
    const own = /_(re)?send/.test(name) ? await startSample() : rig
    const response: unknown = JSON.parse(await own.post(JSON.stringify(request)))
    if (own !== rig) await own.stop()
    const file = fileOf(name)
    if (process.env['UPDATE_GOLDEN'] === '1') {
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, `${JSON.stringify({ request, response }, null, 2)}\n`)
    }
    expect(existsSync(file), `no golden pair for ${name}: run with UPDATE_GOLDEN=1`).toBe(true)
    expect({ request, response }).toEqual(JSON.parse(readFileSync(file, 'utf8')))
  })
})
