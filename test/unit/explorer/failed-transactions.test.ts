import { bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { failureText } from '@tandem/explorer/verification/abi/failure-text.ts'
import { expect, test, vi } from 'vitest'
import { EXECUTION_LIMITS } from '../../../src/config/limits/execution.ts'
import { NETWORKS } from '../../../src/config/networks.ts'
import { keccak256Hex } from '../../../src/crypto/hash.ts'
import { addEffects, beginBlock } from '../../../src/evm/block/block-run.ts'
import type { EngineResult } from '../../../src/evm/engine.ts'
import { encodeFailedExecutions, readFailedExecutions } from '../../../src/primitives/receipt/failed-execution.ts'
import { FAILING_ABI, failingContract, revertWith } from '../../support/explorer/failing-contract.ts'
import { senderOn } from '../../support/explorer/token-chain.ts'
import { ATTACK_TIMEOUT } from './api-requests.ts'
import { withPages } from './page-rig.ts'

vi.setConfig({ testTimeout: ATTACK_TIMEOUT })

/** Function of the failing contract -> reason that its page and the API tell. */
const REASONS = {
  text: 'no beans left',
  panic: 'division or modulo by zero',
  custom: `custom error ${keccak256Hex(new TextEncoder().encode('TooMuch(uint256,string)')).slice(0, 10)}`,
  common: 'ERC20InsufficientBalance(0x0000000000000000000000000000000000000001, 2, 3)',
  silent: 'execution reverted',
  three: 'execution reverted',
  endless: 'out of gas',
} as const

const calldata = (name: string): Uint8Array =>
  hexToBytes(keccak256Hex(new TextEncoder().encode(`${name}()`))).slice(0, 4)

interface Answer {
  readonly status: number
  readonly revertReason: string | null
  readonly revertData: Hex | null
}

test('API and page tell why a transaction failed, from the index, without a trace', () =>
  withPages(async ({ chain, get, mine, page, context, hashes }) => {
    const carol = senderOn(chain, 2)
    const address = await carol.deployCode(failingContract())
    const sent = new Map<string, Hex>()
    for (const name of [...Object.keys(REASONS), 'long'])
      sent.set(name, await carol.submit({ to: address, data: calldata(name), gasLimit: 2_000_000n }))
    await chain.mine()
    const traces: string[] = []
    const node = {
      ...context.node,
      rpc: async (request: string) => {
        traces.push(request)
        return '{}'
      },
    }
    const answer = async (name: string): Promise<Answer> =>
      (await get(`/api/transactions/${sent.get(name)}`)).body as Answer
    // The index does not have the block yet: the node's own database tells.
    expect(await answer('text')).toMatchObject({ status: 0, revertReason: REASONS.text })
    await mine()
    for (const [name, reason] of Object.entries(REASONS)) {
      expect([name, await answer(name)]).toEqual([name, expect.objectContaining({ status: 0, revertReason: reason })])
      const { text } = await page(`/explorer/tx/${sent.get(name)}`, { node })
      expect(text, name).toContain(`<bdi class="name">${reason}</bdi>`)
    }
    expect(traces).toEqual([])
    expect((await answer('three')).revertData).toBe('0xffffff')
    const { revertReason, revertData } = await answer('long')
    expect(hexToBytes(revertData as Hex)).toHaveLength(EXECUTION_LIMITS.failureBytes)
    expect(revertReason).toBe(`${'L'.repeat(EXECUTION_LIMITS.failureBytes - 68)}…`)
    expect((await get(`/api/transactions/${hashes[1]}`)).body).toMatchObject({ revertReason: null, revertData: null })
    expect((await get(`/api?module=transaction&action=getstatus&txhash=${sent.get('text')}`)).body).toMatchObject({
      result: { isError: '1', errDescription: REASONS.text },
    })
    const place = await chain.blocks.locate(sent.get('text') as Hex)
    expect(await context.source.failedExecution(place as never)).toEqual({
      transactionIndex: 0,
      ...revertWith(REASONS.text),
    })
  }))

test('an error of a verified contract is told with its values', () => {
  const output = hexToBytes(
    `${keccak256Hex(new TextEncoder().encode('TooMuch(uint256,string)')).slice(0, 10)}${'5'.padStart(64, '0')}${'40'.padStart(64, '0')}${'5'.padStart(64, '0')}${Buffer.from('beans').toString('hex').padEnd(64, '0')}` as Hex,
  )
  expect(failureText({ error: 'execution reverted', output }, FAILING_ABI)).toBe('TooMuch(5, beans)')
  expect(failureText({ error: 'execution reverted', output: output.slice(0, 40) }, FAILING_ABI)).toMatch(
    /^custom error 0x/,
  )
})

const failedResult = (bytes: number): EngineResult => ({
  gasUsed: 1n,
  refund: 0n,
  output: new Uint8Array(bytes).fill(1),
  logs: [],
  created: null,
  destroyed: [],
  failure: { kind: 'revert' },
})

test('what reverts return is kept up to a bound for each transaction and for the block', () => {
  const run = beginBlock({ params: NETWORKS.devnet, number: 1 } as never)
  const { failureBytes, blockFailureBytes } = EXECUTION_LIMITS
  const count = blockFailureBytes / failureBytes + 10
  for (let at = 0; at < count; at++) {
    addEffects(run, failedResult(4 * failureBytes))
    run.transactions.push(undefined as never)
  }
  expect(run.failed).toHaveLength(count)
  expect(run.failed.reduce((sum, { output }) => sum + output.buffer.byteLength, 0)).toBe(blockFailureBytes)
  expect(run.failed.at(-1)).toEqual({
    transactionIndex: count - 1,
    error: 'execution reverted',
    output: new Uint8Array(),
  })
  addEffects(run, { ...failedResult(8), failure: { kind: 'halt', reason: 'invalid opcode' } })
  expect(run.failed.at(-1)).toMatchObject({ error: 'invalid opcode', output: new Uint8Array() })
})

test('failures come back from their encoding, and other bytes are refused', () => {
  const failed = [
    { transactionIndex: 0, error: 'out of gas', output: new Uint8Array() },
    { transactionIndex: 70_000, ...revertWith('no') },
  ]
  const bytes = encodeFailedExecutions(failed)
  expect([...readFailedExecutions(bytes)]).toEqual(failed)
  for (let end = 0; end < bytes.byteLength; end++)
    expect(() => [...readFailedExecutions(bytes.subarray(0, end))], bytesToHex(bytes.subarray(0, end))).toThrow(
      expect.objectContaining({ code: 'RLP_INVALID' }),
    )
})
