import { expect, test } from 'vitest'
import { type GethGenesis, parseGethGenesis } from '../../../../devtools/recorded/geth-genesis.ts'
import { paramsFromRecord } from '../../../../devtools/recorded/recorded-params.ts'
import { blobParamsAt, evmForkAt } from '../../../../src/config/forks.ts'
import { UNBOUNDED_GAS } from '../../../../src/config/networks.ts'

const genesisOf = (config: object): GethGenesis =>
  parseGethGenesis(
    JSON.stringify({ config: { chainId: 7, ...config }, gasLimit: '0x1000', alloc: {}, difficulty: '0x64' }),
  )

/** Genesis and blocks 1 .. 9, ten seconds apart; each of the first five adds a difficulty of 100. */
const HEADERS = Array.from({ length: 10 }, (_, number) => ({
  number,
  timestamp: number * 10,
  difficulty: number < 5 ? 100n : 0n,
  gasLimit: 1_000n + BigInt(number),
}))

const paramsOf = (config: object) => paramsFromRecord(genesisOf(config), HEADERS)
const EARLY = { homesteadBlock: 0, londonBlock: 2 }

test('a fork by time begins with the first block at or after it', () => {
  const { forks } = paramsOf({ ...EARLY, terminalTotalDifficulty: 500, shanghaiTime: 60, cancunTime: 71 })
  expect([4, 5, 6, 7, 8].map(number => evmForkAt(forks, number))).toEqual([
    'london',
    'paris',
    'shanghai',
    'shanghai',
    'cancun',
  ])
})

test('proof of work ends after the block that reaches its difficulty, not before', () => {
  const parisOf = (terminalTotalDifficulty: number) =>
    paramsOf({ ...EARLY, terminalTotalDifficulty }).forks.find(({ name }) => name === 'paris')?.height
  expect([0, 100, 101, 499, 500, 501].map(parisOf)).toEqual([0, 1, 2, 5, 5, null])
})

test('a fork after the record never begins', () => {
  const { forks, blobForks } = paramsOf({ ...EARLY, terminalTotalDifficulty: 0, cancunTime: 91 })
  expect(evmForkAt(forks, 9)).toBe('paris')
  expect(blobForks).toEqual([])
})

test("figures of blobs are those of the file, or Ethereum's own", () => {
  const own = { target: 1, max: 2, baseFeeUpdateFraction: 3 }
  const { blobForks } = paramsOf({ cancunTime: 20, pragueTime: 40, bpo1Time: 60, blobSchedule: { bpo1: own } })
  expect(blobParamsAt(blobForks, 1)).toBeUndefined()
  expect([2, 4, 5, 6].map(number => blobParamsAt(blobForks, number)?.max)).toEqual([6, 9, 9, 2])
})

test('limits are those of the last block', () => {
  expect(paramsOf(EARLY)).toMatchObject({
    blockGasLimit: 1_009n,
    maxTxExecutionGas: null,
    maxBlockExecutionGas: UNBOUNDED_GAS,
  })
})

test.each([
  ['config.blobSchedule.cancun.max', { cancun: { target: 3, max: 2, baseFeeUpdateFraction: 1 } }],
  ['config.blobSchedule.cancun.baseFeeUpdateFraction', { cancun: { target: 3, max: 6, baseFeeUpdateFraction: 0 } }],
  ['config.blobSchedule.cancun', { cancun: { target: 3, max: 6 } }],
  ['config.blobSchedule.cancun.more', { cancun: { target: 3, max: 6, baseFeeUpdateFraction: 1, more: 1 } }],
])('a schedule of blobs that cannot be is refused at %s', (path, blobSchedule) => {
  expect(() => genesisOf({ blobSchedule })).toThrow(
    expect.objectContaining({ detail: expect.objectContaining({ path }) }),
  )
})
