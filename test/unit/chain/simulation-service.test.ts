import { bytesToHex, EMPTY_BYTES, type Hex, hexToBytes, toWord, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { describe, expect, test } from 'vitest'
import { createInterpreter } from '../../../devtools/interpreter/engine.ts'
import { CallBlocks } from '../../../src/chain/call-blocks.ts'
import { PendingBlockBuilder } from '../../../src/chain/pending-block.ts'
import { SimulationService } from '../../../src/chain/simulation-service.ts'
import { SIMULATE_LIMITS } from '../../../src/config/limits/clients.ts'
import { simulateBlocks } from '../../../src/evm/calls/simulate/simulate-blocks.ts'
import type { SimulationPlan, SimulationRequest } from '../../../src/evm/calls/simulate/types.ts'
import { receiptsRoot, transactionsRoot } from '../../../src/primitives/roots.ts'
import { cycleOf, prevRandao } from '../../../src/rules/council/cycle.ts'
import { nextBaseFee } from '../../../src/rules/money/base-fee.ts'
import { overlayReader } from '../../../src/state/overlay-reader.ts'
import {
  ACCOUNT_KEYS,
  ACCOUNTS,
  START_WEI,
  signedRaw,
  type TestChain,
  VALIDATOR,
  withChain,
} from '../../support/chain.ts'

const [KEY] = ACCOUNT_KEYS as [Uint8Array]
const [ALICE, BOB] = ACCOUNTS as [Hex, Hex]
const engine = createInterpreter()

/** Simulations whose calls run here, on the head's state, instead of in a worker. */
const simulationsOf = (chain: TestChain, preview = chain.world.preview.bind(chain.world)) => {
  const pending = new PendingBlockBuilder({
    ...chain,
    pool: { select: baseFee => chain.pool.service.select(baseFee), version: chain.pool.version },
    coinbase: VALIDATOR,
  })
  const bases = new CallBlocks({ ...chain, pending })
  const run = async (plan: SimulationPlan, _client: string, hash: Parameters<typeof simulateBlocks>[2]) => {
    const { head } = chain.world
    const reader = plan.pending ? overlayReader(head, (await bases.pendingOf(plan)).changes) : head
    const env = chain.rules.committedEnv(await bases.blockOf(plan))
    return simulateBlocks({ reader, prefetch: undefined, env, engine, interrupt: undefined }, plan, hash)
  }
  const { params } = chain.genesis
  const simulations = new SimulationService({
    params,
    rules: chain.rules,
    bases,
    world: { preview },
    calls: { simulate: run },
  })
  return { run: (request: SimulationRequest) => simulations.run(request, 'client') }
}

const request = (
  blocks: readonly Partial<SimulationRequest['blocks'][number]>[],
  more: Partial<SimulationRequest> = {},
) => ({
  number: 0,
  blocks: blocks.map(block => ({ overrides: {}, state: {}, calls: [], ...block })),
  validation: false,
  traceTransfers: false,
  ...more,
})
const pay = (from: Hex, value: bigint) => ({ from, to: BOB, value, data: EMPTY_BYTES })
/** Init code that answers one word: what `code` leaves on the stack. */
const answerOf = (code: Hex): Uint8Array => hexToBytes(`${code}5f5260205ff3`)

describe('simulated blocks', () => {
  test('have the headers of this chain, one on the other', () =>
    withChain(async chain => {
      const parent = await chain.mine()
      const blocks = await simulationsOf(chain).run(
        request([{ calls: [pay(ALICE, 5n)] }, {}, { overrides: { number: 5 }, calls: [pay(ALICE, 6n)] }], {
          number: 1,
        }),
      )
      expect(blocks.map(({ block }) => block.header.number)).toEqual([2, 3, 4, 5])
      const [first, second, gap] = blocks.map(({ block }) => block)
      expect(first?.header).toMatchObject({
        parentHash: parent.hash,
        timestamp: parent.header.timestamp + 1,
        difficulty: 1n,
        gasLimit: 999_999_999_999n,
        baseFeePerGas: 0n,
        miner: ZERO_ADDRESS,
        transactionsRoot: transactionsRoot(first?.transactions ?? []),
      })
      expect(first?.extra.proposer).toBe(ZERO_ADDRESS)
      expect(second?.header.parentHash).toBe(first?.hash)
      // Nothing happened in it but the record of the first one's hash.
      expect(second?.header.stateRoot).not.toBe(first?.header.stateRoot)
      expect(second?.header.receiptsRoot).toBe(receiptsRoot([]))
      expect(gap?.transactions).toEqual([])
      expect(first?.header.stateRoot).not.toBe(parent.header.stateRoot)
    }))

  test('a transaction leads to the same state as in a block, its fees paid by the same rules', () =>
    withChain(async chain => {
      const fields = { gasPrice: 27_500_000_000n, gas: 21_000n }
      const { params } = chain.genesis
      // The proposer has no reward address of its own in a simulation: here nobody has.
      const [simulated] = await simulationsOf(chain).run(
        request([{ calls: [{ ...pay(ALICE, 5n), ...fields }] }], { validation: true }),
      )
      const committed = await (async () => {
        await chain.pool.service.submit(signedRaw(KEY, { to: BOB, value: 5n }))
        return chain.mine()
      })()
      const { header } = simulated?.block ?? committed
      expect(header.baseFeePerGas).toBe(committed.header.baseFeePerGas)
      expect(header.baseFeePerGas).toBe(nextBaseFee({ ...header, number: 0 }, params.baseFee))
      expect(header).toMatchObject({
        gasUsed: committed.header.gasUsed,
        receiptsRoot: committed.header.receiptsRoot,
        gasLimit: committed.header.gasLimit,
      })
    }))

  test('see this chain: PREVRANDAO, the hashes of blocks before and of simulated ones', () =>
    withChain(async chain => {
      const parent = await chain.mine()
      const data = (code: Hex) => ({ from: ALICE, to: null, value: 0n, data: answerOf(code) })
      const hashOfParent = data('0x6001430340')
      const blocks = await simulationsOf(chain).run(
        request([{ calls: [data('0x44'), hashOfParent] }, { calls: [hashOfParent] }], { number: 1 }),
      )
      const [first, second] = blocks.map(({ calls }) => calls.map(({ output }) => bytesToHex(output)))
      const { rewards } = chain.genesis.params
      expect(first).toEqual([prevRandao(chain.sources.council.seedOf(cycleOf(2, rewards.cycleBlocks)), 2), parent.hash])
      expect(second).toEqual([blocks[0]?.block.hash])
    }))

  test('are each assembled once, though each stores the hash of the one before', () =>
    withChain(async chain => {
      let assembled = 0
      const { assemble } = chain.rules
      const rules: TestChain['rules'] = {
        ...chain.rules,
        assemble: (...parts) => {
          assembled++
          return assemble(...parts)
        },
      }
      const number = SIMULATE_LIMITS.blocks
      const previewed: number[] = []
      const preview: TestChain['world']['preview'] = async (at, batches) => {
        previewed.push(batches.length)
        return chain.world.preview(at, batches)
      }
      const blocks = await simulationsOf({ ...chain, rules }, preview).run(request([{ overrides: { number } }]))
      expect(blocks.length).toBe(number)
      expect(assembled).toBe(number)
      expect(previewed.length).toBe(number)
      for (const [i, { block }] of blocks.entries())
        expect(block.header.parentHash).toBe(blocks[i - 1]?.block.hash ?? chain.chain.headBlock.hash)
      expect(new Set(blocks.map(({ block }) => block.header.stateRoot)).size).toBe(number)
    }))

  test('keep an overridden gas limit and beneficiary', () =>
    withChain(async chain => {
      const overrides = { gasLimit: 1_000_000n, miner: BOB, prevRandao: toWord(9n), baseFeePerGas: 7n }
      const blocks = await simulationsOf(chain).run(request([{ overrides }, {}]))
      const seen = blocks.map(({ block: { header } }) => [header.gasLimit, header.miner, header.baseFeePerGas])
      expect(seen).toEqual([
        [1_000_000n, BOB, 7n],
        [1_000_000n, BOB, 0n],
      ])
    }))

  test('stand on the pending block with all that waits in it', () =>
    withChain(async chain => {
      await chain.pool.service.submit(signedRaw(KEY, { to: BOB, value: 7n }))
      const balance = { from: ALICE, to: null, value: 0n, data: answerOf(`0x73${BOB.slice(2)}31`) }
      const [done] = await simulationsOf(chain).run(request([{ calls: [balance] }], { pending: true }))
      expect(BigInt(bytesToHex(done?.calls[0]?.output ?? EMPTY_BYTES))).toBe(START_WEI + 7n)
      expect(done?.block.header.number).toBe(2)
      expect(done?.block.transactions[0]?.nonce).toEqual(1)
    }))

  test('keep the root of a base that lies too far back for its own', () =>
    withChain(async chain => {
      const tooDeep = async () => {
        throw new CodedError({ code: 'PROOF_TOO_DEEP', limit: 1 })
      }
      const [done] = await simulationsOf(chain, tooDeep).run(request([{ calls: [pay(ALICE, 1n)] }]))
      expect(done?.block.header.stateRoot).toBe(chain.chain.headBlock.header.stateRoot)
    }))

  test('leave nothing behind', () =>
    withChain(async chain => {
      const { root } = chain.world
      const simulations = simulationsOf(chain)
      const once = await simulations.run(request([{ calls: [pay(ALICE, 5n)] }]))
      expect(await simulations.run(request([{ calls: [pay(ALICE, 5n)] }]))).toEqual(once)
      expect(chain.world.root).toBe(root)
      await chain.mine()
      expect(chain.world.head.account(BOB)?.balance).toBe(START_WEI)
    }))
})
