import { expect } from 'vitest'
import { NOBODY, PAYER } from '../networks.ts'
import { type Check, expectOutcome, onAll, type SectionChecks } from './check.ts'

const listOf = (cell = ''): readonly string[] => cell.split(', ').map(item => item.replace(/ \(.*\)$/, ''))

const checkQuantity: Check = async (at, { cells }) => {
  await onAll(at, 'eth_getBlockByNumber', async endpoint => {
    for (const value of listOf(cells['valid'])) {
      await expectOutcome(endpoint, 'eth_getBlockByNumber', [value, false], /^result /)
      await expectOutcome(endpoint, 'eth_getStorageAt', [PAYER, value, 'latest'], /^result "0x0{64}"$/)
      await expectOutcome(endpoint, 'eth_estimateGas', [{ to: NOBODY, nonce: value }], /^result /)
    }
    for (const value of listOf(cells['invalid'])) {
      await expectOutcome(endpoint, 'eth_getBlockByNumber', [value, false], /^-32602 invalid argument 1: hex /)
      await expectOutcome(endpoint, 'eth_getStorageAt', [PAYER, value, 'latest'], /^-32602 invalid argument 2: hex /)
      await expectOutcome(
        endpoint,
        'eth_estimateGas',
        [{ to: NOBODY, nonce: value }],
        /^-32602 invalid argument 1: nonce: hex /,
      )
    }
  })
}

const checkData: Check = async (at, { cells }) => {
  await onAll(at, 'eth_call', async endpoint => {
    for (const input of listOf(cells['valid']))
      await expectOutcome(endpoint, 'eth_call', [{ to: NOBODY, input }, 'latest'], 'result "0x"')
    for (const input of listOf(cells['invalid']))
      await expectOutcome(
        endpoint,
        'eth_call',
        [{ to: NOBODY, input }, 'latest'],
        /^-32602 invalid argument 1: input: hex /,
      )
  })
}

/** Methods that take a block, with their arguments before it; the block's position follows. */
const TAKING_BLOCKS: readonly (readonly [string, readonly unknown[], readonly unknown[]])[] = [
  ['eth_getBalance', [PAYER], []],
  ['eth_getStorageAt', [PAYER, '0x0'], []],
  ['eth_getTransactionCount', [PAYER], []],
  ['eth_getCode', [PAYER], []],
  ['eth_call', [{ to: NOBODY }], []],
  ['eth_getBlockByNumber', [], [false]],
  ['eth_getBlockTransactionCountByNumber', [], []],
  ['eth_getTransactionByBlockNumberAndIndex', [], ['0x0']],
  ['native_getBlock', [], [false]],
  ['native_getBlockTransactionCount', [], []],
  ['native_getBlockReceipts', [], []],
  ['native_getBlockWithConsensusInfo', [], [false]],
  ['native_getCommittee', [], []],
  ['native_getCouncil', [], []],
]

const accepted =
  (values: readonly string[]): Check =>
  async at => {
    for (const [method, before, after] of TAKING_BLOCKS)
      await onAll(at, method, async endpoint => {
        for (const value of values) await expectOutcome(endpoint, method, [...before, value, ...after], /^result /)
      })
  }

const refused: Check = async at => {
  for (const [method, before, after] of TAKING_BLOCKS)
    await onAll(at, method, async endpoint => {
      for (const tag of ['safe', 'finalized'])
        await expectOutcome(
          endpoint,
          method,
          [...before, tag, ...after],
          `-32602 invalid argument ${before.length + 1}: hex string without 0x prefix`,
        )
    })
}

const checkPending: Check = async (at, row) => {
  await accepted(['pending'])(at, row)
  await onAll(at, 'eth_getBlockByNumber', async endpoint => {
    const { result } = await endpoint.ask('eth_getBlockByNumber', ['pending', false])
    expect(result).toMatchObject({ number: null, hash: null })
  })
  await onAll(at, 'native_getBlockReceipts', endpoint =>
    expectOutcome(endpoint, 'native_getBlockReceipts', ['pending'], 'result null'),
  )
}

export const ARGUMENT_CHECKS: Readonly<Record<string, SectionChecks>> = {
  Encoding: { QUANTITY: checkQuantity, DATA: checkData },
  'Block parameter': {
    QUANTITY: accepted(['0x0', '0x1']),
    earliest: accepted(['earliest']),
    latest: accepted(['latest']),
    pending: checkPending,
    'safe, finalized': refused,
  },
}
