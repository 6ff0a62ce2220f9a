import { bytesToHex, type Hex, ZERO_ADDRESS, ZERO_HASH } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { expect, test } from 'vitest'
import { DevHelpers } from '../../../../src/chain/dev/dev-helpers.ts'
import type { InterruptedError } from '../../../../src/evm/engine.ts'
import { decodeExtraData } from '../../../../src/primitives/consensus/extra-data.ts'
import { devGenesis } from '../../../support/chain.ts'
import { type Ask, withDevNode } from '../../../support/dev-node.ts'
import { SENDER, signedTransaction } from '../../../support/rpc/memory-chain.ts'

const BENEFICIARY = `0x${'be'.repeat(20)}`
const RANDAO: Hex = `0x${'5a'.repeat(32)}`
/** Stores PREVRANDAO in slot 0 and COINBASE in slot 1. */
const SEES_BLOCK = Uint8Array.of(0x44, 0x5f, 0x55, 0x41, 0x60, 0x01, 0x55)

interface Head {
  readonly number: string
  readonly hash: string
  readonly timestamp: string
  readonly stateRoot: string
}
interface Payload {
  readonly executionPayload: Readonly<Record<string, string>> & { readonly transactions: readonly string[] }
  readonly blockValue: string
}

const { params } = devGenesis()
const raw = (fields: Parameters<typeof signedTransaction>[0]): string =>
  bytesToHex(signedTransaction(fields, params).raw)
const headOf = (ask: Ask) => ask<Head>('eth_getBlockByNumber', 'latest', false)
const attributes = (timestamp: number, more: object = {}) => ({
  ...{ timestamp: `0x${timestamp.toString(16)}`, prevRandao: RANDAO, suggestedFeeRecipient: BENEFICIARY },
  ...{ withdrawals: [], parentBeaconBlockRoot: ZERO_HASH, ...more },
})

/** A chain where the sender of the signed transactions has ether, a block after its genesis. */
const withFunds = (use: (ask: Ask, head: Head, timestamp: number) => Promise<void>): Promise<void> =>
  withDevNode(async ask => {
    await ask('anvil_setBalance', SENDER, '0xd3c21bcecceda100000000')
    await ask('evm_mine')
    const head = await headOf(ask)
    await use(ask, head, Number(head.timestamp) + 1_000)
  })

test('a block is built of given transactions, and is the one that the chain would make of them', () =>
  withFunds(async (ask, head, timestamp) => {
    await ask('hardhat_setCoinbase', BENEFICIARY)
    const sent = [raw({ nonce: 0 }), raw({ nonce: 1 })]
    const build = () => ask<Payload>('testing_buildBlockV1', head.hash, attributes(timestamp), sent)
    const { executionPayload: payload, blockValue } = await build()
    expect(await build()).toEqual({ executionPayload: payload, blockValue, ...REST })
    expect(payload).toMatchObject({
      ...{ parentHash: head.hash, feeRecipient: BENEFICIARY, prevRandao: RANDAO, transactions: sent },
      ...{ blockNumber: '0x2', gasUsed: '0xa410', timestamp: `0x${timestamp.toString(16)}` },
    })
    expect(BigInt(blockValue)).toBeGreaterThan(0n)
    expect(await headOf(ask)).toEqual(head)
    expect(await ask('eth_getTransactionCount', SENDER, 'latest')).toBe('0x0')

    await ask('evm_setAutomine', false)
    for (const transaction of sent) await ask('eth_sendRawTransaction', transaction)
    const pooled = await ask<Payload>('testing_buildBlockV1', head.hash, attributes(timestamp), null)
    expect(pooled.executionPayload).toEqual(payload)
    const empty = await ask<Payload>('testing_buildBlockV1', head.hash, attributes(timestamp), [])
    expect(empty.executionPayload.transactions).toEqual([])
    await ask('evm_mine', { timestamp })
    const { stateRoot, receiptsRoot, logsBloom, gasUsed, gasLimit, baseFeePerGas, blockHash } = payload
    expect(await headOf(ask)).toMatchObject({
      ...{ hash: blockHash, stateRoot, receiptsRoot, logsBloom, gasUsed, gasLimit, baseFeePerGas },
    })
  }))

const REST = {
  blobsBundle: { commitments: [], proofs: [], blobs: [] },
  ...{ shouldOverrideBuilder: false, executionRequests: [] },
}

test('code sees the attributes, and the extra data is in that of the header', () =>
  withFunds(async (ask, head, timestamp) => {
    const create = raw({ nonce: 0, to: null, value: 0n, data: SEES_BLOCK, gasLimit: 200_000n })
    const build = async (more: object, extraData?: string) => {
      const { executionPayload } = await ask<Payload>(
        ...(['testing_buildBlockV1', head.hash, attributes(timestamp, more), [create], extraData] as const),
      )
      return executionPayload
    }
    const payload = await build({}, '0x746573745f6e616d65')
    const { vanity } = decodeExtraData(Buffer.from((payload['extraData'] as string).slice(2), 'hex'))
    expect(Buffer.from(vanity).toString()).toBe('test_name')
    const others = [await build({ prevRandao: ZERO_HASH }), await build({ suggestedFeeRecipient: ZERO_ADDRESS })]
    for (const { stateRoot, gasUsed } of others) {
      expect(stateRoot).not.toBe(payload['stateRoot'])
      expect(gasUsed).not.toBe('0x0')
    }
  }))

test('what makes no block is refused, and leaves the chain as it is', () =>
  withFunds(async (ask, head, timestamp) => {
    const late = 8_640_000_000_001
    const refusals: readonly (readonly [unknown[], string])[] = [
      [[ZERO_HASH, attributes(timestamp), []], `the parent is not the head, ${head.hash}`],
      [[head.hash, attributes(Number(head.timestamp)), []], 'lower than or equal to previous block'],
      [[head.hash, attributes(late), []], 'later than the last'],
      [[head.hash, attributes(timestamp, { withdrawals: [{}] }), []], 'blocks have no withdrawals here'],
      [[head.hash, attributes(timestamp, { parentBeaconBlockRoot: RANDAO }), []], 'there is no beacon chain here'],
      [[head.hash, attributes(timestamp, { prevRandao: null }), []], 'invalid argument 2: prevRandao is missing'],
      [[head.hash, attributes(timestamp), [], `0x${'00'.repeat(33)}`], 'invalid argument 4: longer than 32 bytes'],
      [[head.hash, attributes(timestamp), ['0x02']], 'typed transaction too short'],
      [[head.hash, attributes(timestamp), [raw({ nonce: 0, gasLimit: 10n ** 13n })]], 'exceeds block gas limit'],
      [[head.hash, attributes(timestamp), [raw({ nonce: 1 })]], 'transaction 0: nonce too high'],
      [[head.hash, attributes(timestamp), [raw({ nonce: 0 }), raw({ nonce: 0 })]], 'transaction 1: nonce too low'],
      [[head.hash, attributes(timestamp), [raw({ nonce: 0, value: 10n ** 30n })]], 'insufficient funds'],
    ]
    for (const [args, text] of refusals) await expect(ask('testing_buildBlockV1', ...args)).rejects.toThrow(text)
    expect(await headOf(ask)).toEqual(head)
  }))

test('a block that takes too long is given up; one that was decided meanwhile leaves no parent', async () => {
  const chain = { headBlock: { hash: RANDAO, header: { timestamp: 1 } } }
  const stopped = async () => {
    throw new CodedError<InterruptedError>({ code: 'EXECUTION_INTERRUPTED' })
  }
  const miner = { run: <T>(work: () => Promise<T>) => work() }
  const helpersWith = (trial: () => Promise<never>) =>
    new DevHelpers({ chain, miner, trial } as unknown as ConstructorParameters<typeof DevHelpers>[0])
  const choices = { timestamp: 2, env: { miner: ZERO_ADDRESS, prevRandao: ZERO_HASH } } as const
  await expect(helpersWith(stopped).trial(RANDAO, choices)).rejects.toMatchObject({ code: 'NO_BLOCK' })
  const overtaken = () => {
    chain.headBlock = { ...chain.headBlock, hash: ZERO_HASH }
    return stopped()
  }
  await expect(helpersWith(overtaken).trial(RANDAO, choices)).rejects.toMatchObject({ code: 'PARENT_NOT_HEAD' })
})
