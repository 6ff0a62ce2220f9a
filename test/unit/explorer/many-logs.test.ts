import { concatBytes, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { EXPLORER_LIMITS } from '@tandem/explorer/limits.ts'
import { abiEntries } from '@tandem/explorer/verification/abi/abi-types.ts'
import { expect, test, vi } from 'vitest'
import { senderOn } from '../../support/explorer/token-chain.ts'
import { ATTACK_TIMEOUT } from './api-requests.ts'
import { type PageRig, withPages } from './page-rig.ts'
import { writeVerified } from './verified-page.ts'

vi.setConfig({ testTimeout: ATTACK_TIMEOUT })

/** Creation of a contract that writes as many logs as the first word of its calldata says, each with as much data as the second says. */
const LOGGER = hexToBytes('0x60118060095f395ff35f355b6020355fa0600190038060025700')

const MOVED = { type: 'event', name: 'Moved', inputs: [] }

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

test('a transaction is decoded by ABIs as long as these together are not too long', () =>
  withPages(async rig => {
    const carol = senderOn(rig.chain, 2)
    // Logs one topic, the hash of Moved(), for any calldata.
    const topic = [...abiEntries([MOVED], 'event').keys()][0] as Hex
    const code = `7f${topic.slice(2)}5f5fa100`
    const to = await carol.deployCode(hexToBytes(`0x60258060095f395ff3${code}`))
    const hash = await carol.submit({ to, data: new Uint8Array(4), gasLimit: 100_000n })
    await rig.mine()
    const decodedWith = async (abi: readonly unknown[]): Promise<unknown> => {
      await writeVerified(rig.context, to, { abi: JSON.stringify(abi) })
      const { logs } = (await rig.get(`/api/transactions/${hash}`)).body as Answer
      return logs.map(({ decoded }) => decoded)
    }
    expect(await decodedWith([MOVED])).toMatchObject([{ signature: 'Moved()', verified: true }])
    const many = Array.from({ length: 30_000 }, (_, at) => ({ ...MOVED, name: `a name that is long enough ${at}` }))
    expect(await decodedWith([MOVED, ...many])).toEqual([null])
  }))

test('the events of an ABI are read once for all logs', () => {
  const abi = [MOVED]
  expect(abiEntries(abi, 'event').size).toBe(1)
  expect(abiEntries(abi, 'event')).toBe(abiEntries(abi, 'event'))
  expect(abiEntries(abi, 'function').size).toBe(0)
})
