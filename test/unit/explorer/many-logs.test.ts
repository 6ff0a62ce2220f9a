import { expect, test, vi } from 'vitest'
import { EXPLORER_LIMITS } from '../../../src/config/limits/explorer.ts'
import { abiEntries } from '../../../src/explorer/verification/abi/abi-types.ts'
import { concatBytes, type Hex, hexToBytes, toWord } from '../../../src/util/bytes.ts'
import { ATTACK_TIMEOUT } from '../../support/explorer/api-requests.ts'
import { type PageRig, withPages } from '../../support/explorer/page-rig.ts'
import { senderOn } from '../../support/explorer/token-chain.ts'

vi.setConfig({ testTimeout: ATTACK_TIMEOUT })

/** Creation of a contract that writes as many logs as the first word of its calldata says, each with as much data as the second says. */
const LOGGER = hexToBytes('0x60118060095f395ff35f355b6020355fa0600190038060025700')

interface Answer {
  readonly logCount: number
  readonly logs: readonly { readonly logIndex: number; readonly data: Hex; readonly decoded: unknown }[]
}

/** Sends a transaction that writes logs; returns its hash. */
const writeLogs = async ({ chain, mine }: PageRig, count: number, bytes: number): Promise<Hex> => {
  const carol = senderOn(chain, 2)
  const to = await carol.deployCode(LOGGER)
  const data = concatBytes(hexToBytes(toWord(BigInt(count))), hexToBytes(toWord(BigInt(bytes))))
  const hash = await carol.submit({ to, data, gasLimit: 25_000_000n })
  await mine()
  return hash
}

test('a transaction shows a part of its logs, with their number, in the API and on its page', () =>
  withPages(async rig => {
    const most = EXPLORER_LIMITS.api.logs
    const hash = await writeLogs(rig, most + 5, 0)
    const { logCount, logs } = (await rig.get(`/api/transactions/${hash}`)).body as Answer
    expect([logCount, logs.length, logs.at(-1)?.logIndex]).toEqual([most + 5, most, most - 1])
    const { text } = await rig.page(`/explorer/tx/${hash}?tab=logs`)
    expect(text).toContain('the first 100 of 1,005')
    expect(text).toMatch(/Logs\s*<[^>]*>1,005</)
  }))

test('logs with much data are fewer', () =>
  withPages(async rig => {
    const bytes = 120_000
    const hash = await writeLogs(rig, 20, bytes)
    const { logCount, logs } = (await rig.get(`/api/transactions/${hash}`)).body as Answer
    expect([logCount, logs.length]).toEqual([20, Math.floor(EXPLORER_LIMITS.api.logBytes / bytes)])
    expect(logs.every(({ data }) => data.length === 2 + 2 * bytes)).toBe(true)
    expect((await rig.page(`/explorer/tx/${hash}?tab=logs`)).text).toContain(`the first ${logs.length} of 20`)
  }))

test('the events of an ABI are read once for all logs', () => {
  const abi = [{ type: 'event', name: 'Moved', inputs: [] }]
  expect(abiEntries(abi, 'event').size).toBe(1)
  expect(abiEntries(abi, 'event')).toBe(abiEntries(abi, 'event'))
  expect(abiEntries(abi, 'function').size).toBe(0)
})
