import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkOf } from './interface/checks/all.ts'
import { startInterface, type TestInterface } from './interface/networks.ts'
import { interfaceRows } from './interface/rows.ts'

/*
 * Every row of the tables of docs/interface.md, on a node of each network over HTTP and WebSocket: the tests are generated from the page,
 * and named after its sections.
 */

let networks: TestInterface
beforeAll(async () => {
  networks = await startInterface()
}, 120_000)
afterAll(() => networks?.stop(), 60_000)

const sections = Map.groupBy(interfaceRows(), ({ section }) => section)

describe.each([...sections])('%s', (_, rows) => {
  test.each(rows.map(row => [row.key, row] as const))('%s', async (_, row) => {
    const check = checkOf(row)
    expect(check, `docs/interface.md: "${row.section}", "${row.key}" has no check`).toBeDefined()
    await check?.(networks, row)
  })
})
