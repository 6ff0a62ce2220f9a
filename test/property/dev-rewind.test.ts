import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assert } from '@tandem/base/assert.ts'
import { bytesToHex, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DevWriter } from '../../src/chain/dev/dev-writer.ts'
import { interruptedRewind, type RewindTarget, rewindCount, rewindTo } from '../../src/chain/dev/rewind.ts'
import { verifyChain } from '../../src/chain/verify-chain.ts'
import type { Genesis } from '../../src/config/genesis/genesis.ts'
import { keccak256 } from '../../src/crypto/hash.ts'
import { DevelopmentRules } from '../../src/rules/development.ts'
import { hashedKey } from '../../src/state/flat-tables.ts'
import { openStateReader } from '../../src/state/history/stored-state.ts'
import type { AccountEdit } from '../../src/state/world/account-edit.ts'
import { BUCKETS } from '../../src/storage/buckets.ts'
import type { Store } from '../../src/storage/store.ts'
import { ACCOUNT_KEYS, ACCOUNTS, openTestChain, signedRaw, type TestChain, testGenesis } from '../support/chain.ts'
import { STAKE, transact } from '../support/council-contract.ts'
import { SEED } from '../support/seed.ts'

/** PUSH0 SLOAD, add 1, PUSH0 SSTORE, and a log: every call changes a slot and leaves a log. */
const COUNTER = hexToBytes('0x5f54600101805f555f526020 5fa0'.replaceAll(' ', '') as Hex)
const PLACES: readonly Hex[] = [...ACCOUNTS, toAddress(0xc0), toAddress(0xc1), toAddress(0xc2)]

function toAddress(value: number): Hex {
  return `0x${value.toString(16).padStart(40, '0')}`
}

/** Short, so that rewinds cross their borders. */
const CYCLE = 3
const genesis = (): Genesis => {
  const { params, ...rest } = testGenesis()
  return { ...rest, params: { ...params, rewards: { ...params.rewards, cycleBlocks: CYCLE } } }
}

type Step =
  | { readonly do: 'mine'; readonly to: readonly number[] }
  | {
      readonly do: 'edit'
      readonly place: number
      readonly what: 'balance' | 'nonce' | 'code' | 'slot'
      readonly value: number
    }
  | { readonly do: 'register'; readonly by: number }
  | { readonly do: 'snapshot' }
  | { readonly do: 'revert'; readonly to: number }

const place = fc.nat(PLACES.length - 1)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('mine' as const), to: fc.array(place, { maxLength: 3 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('edit' as const),
      place,
      what: fc.constantFrom('balance' as const, 'nonce' as const, 'code' as const, 'slot' as const),
      value: fc.nat(3),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('register' as const), by: fc.nat(ACCOUNTS.length - 1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('snapshot' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('revert' as const), to: fc.nat() }) },
)

const editOf = ({ place: at, what, value }: Extract<Step, { do: 'edit' }>): AccountEdit => {
  const key = hashedKey(PLACES[at] as Hex)
  switch (what) {
    case 'balance':
      return { key, balance: at < ACCOUNTS.length ? 10n ** 21n * BigInt(value + 1) : BigInt(value) }
    case 'nonce':
      // Of accounts that sign, nonces stay: the test signs in order.
      return at < ACCOUNTS.length ? { key, balance: 10n ** 22n } : { key, nonce: value }
    case 'code':
      return at < ACCOUNTS.length ? { key } : { key, code: value === 0 ? new Uint8Array(0) : COUNTER }
    case 'slot':
      return { key, storage: [[keccak256(new Uint8Array(32)), toWord(BigInt(value))]] }
  }
}

/** Everything a client could see: blocks, receipts, lookups, logs, supply and the head's state. */
const KEPT = [
  'account',
  'slot',
  'header',
  'body',
  'blockNumber',
  'receipts',
  'transactionPlace',
  'certificate',
  'supply',
  'council',
  'cycle',
  'editedRoot',
] as const

const dump = async (store: Store): Promise<readonly string[]> => {
  const rows: string[] = []
  for (const name of KEPT)
    for await (const [key, value] of store.entries(BUCKETS[name]))
      rows.push(`${name} ${bytesToHex(key)} ${bytesToHex(value)}`)
  return rows
}

const statesBefore = async (store: Store, head: number): Promise<readonly string[]> => {
  const states: string[] = []
  for (let number = 0; number <= head; number++) {
    const reader = await openStateReader(store, number)
    for (const address of PLACES) {
      const account = await reader.account(address)
      states.push(
        `${number} ${address} ${account?.nonce} ${account?.balance} ${await reader.storage(address, toWord(0n))}`,
      )
    }
    reader.release()
  }
  return states
}

interface Taken {
  readonly target: RewindTarget
  readonly rows: readonly string[]
  readonly states: readonly string[]
  readonly root: Hex
  readonly council: readonly unknown[]
}

const take = async (chain: TestChain, writer: DevWriter): Promise<Taken> => ({
  target: writer.position(),
  rows: await dump(chain.store),
  states: await statesBefore(chain.store, chain.chain.headBlock.header.number),
  root: chain.world.root,
  council: [0, CYCLE, 2 * CYCLE].map(ahead => {
    const number = chain.chain.headBlock.header.number + ahead
    return [chain.sources.council.memberStatuses(number), chain.sources.council.committee(number)]
  }),
})

/** Sends one transaction to each place, from the accounts by turns. */
const mine = async (chain: TestChain, to: readonly number[]): Promise<void> => {
  for (const [i, at] of to.entries()) {
    const from = i % ACCOUNT_KEYS.length
    const nonce = chain.pool.service.nextNonce(ACCOUNTS[from] as Hex)
    const raw = signedRaw(ACCOUNT_KEYS[from] as Uint8Array, {
      nonce,
      to: PLACES[at] as Hex,
      value: 1n,
      gasLimit: 90_000n,
    })
    await chain.pool.service.submit(raw).catch(() => {})
  }
  await chain.mine()
}

/** A validator more in the council, or nothing where the account has one. */
const register = async (chain: TestChain, by: number): Promise<void> => {
  const validator = PLACES[by] as Hex
  await transact(chain, ACCOUNT_KEYS[by] as Uint8Array, 'register', [`node ${by}`, validator, validator], STAKE)
}

const onFatal = (error: Error): never => {
  throw error
}

const withDir = async (use: (dir: string) => Promise<void>): Promise<void> => {
  const dir = mkdtempSync(join(tmpdir(), 'tandem-rewind-'))
  try {
    await use(dir)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** The chain's rules are those of every network: only the permission is a development chain's. */
const development = DevelopmentRules.of({ devHelpers: true }) as DevelopmentRules

const play = async (chain: TestChain, steps: readonly Step[], batchRows: number): Promise<void> => {
  const { chain: writerOf, store, blocks, world } = chain
  const writer = await DevWriter.open({
    development,
    chain: writerOf,
    store,
    blocks,
    world,
    batchRows,
    logger: silentLogger,
    onFatal,
  })
  writer.onReplaced(({ head }) => chain.pool.reset(head.header))
  let snapshots: Taken[] = []
  for (const next of steps) {
    if (next.do === 'mine') await mine(chain, next.to)
    else if (next.do === 'register') await register(chain, next.by)
    else if (next.do === 'edit') await writer.edit([editOf(next)], snapshots.length > 0)
    else if (next.do === 'snapshot') snapshots.push(await take(chain, writer))
    else if (snapshots.length > 0) {
      const at = next.to % snapshots.length
      const wanted = snapshots[at] as Taken
      snapshots = snapshots.slice(0, at)
      await writer.rewind(wanted.target)
      expect(await take(chain, writer)).toEqual(wanted)
    }
  }
  expect((await verifyChain(store, { from: 0 })).problems).toEqual([])
}

test('a rewind leaves what stood before, whatever blocks and edits came since, and the chain goes on from there', async () => {
  const scenario = fc.record({
    steps: fc.array(step, { maxLength: 24, minLength: 6 }),
    batchRows: fc.constantFrom(1, 40, 50_000),
    ephemeral: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(scenario, ({ steps, batchRows, ephemeral }) =>
      withDir(async dir => {
        const chain = await openTestChain(dir, { mode: 'wasm', genesis: genesis(), ephemeral })
        try {
          await play(chain, steps, batchRows)
        } finally {
          await chain.close()
        }
        // The database opens again: roots and heads agree.
        const again = await openTestChain(dir, { mode: 'wasm', genesis: genesis() })
        await again.close()
      }),
    ),
    { seed: SEED, numRuns: 25 },
  )
})

test('a rewind over more blocks than are read row by row leaves what stood before', async () => {
  await withDir(async dir => {
    const chain = await openTestChain(dir, { mode: 'wasm', genesis: genesis() })
    try {
      const mined = Array.from({ length: 40 }, (_, i): Step => ({ do: 'mine', to: i % 5 === 0 ? [1, 4, 5] : [i % 6] }))
      const edit: Step = { do: 'edit', place: 4, what: 'code', value: 1 }
      await play(chain, [edit, { do: 'snapshot' }, ...mined, edit, { do: 'revert', to: 0 }], 50_000)
    } finally {
      await chain.close()
    }
  })
})

test('a rewind cut short at any of its batches leaves a whole chain, and the next start ends it', async () => {
  for (let survives = 0; survives < 4; survives++) {
    await withDir(async dir => {
      const chain = await openTestChain(dir, { mode: 'wasm' })
      const writer = await DevWriter.open({ ...chain, development, logger: silentLogger, onFatal })
      await mine(chain, [1, 2])
      await writer.edit([{ key: hashedKey(PLACES[5] as Hex), code: COUNTER }], true)
      const wanted = await take(chain, writer)
      await writer.edit([{ key: hashedKey(PLACES[4] as Hex), balance: 7n }], true)
      for (const to of [[5, 5], [0], [5], [1, 5, 2]]) await mine(chain, to)
      const { store, blocks, world } = chain
      await expect(
        rewindTo({ development, store: dying(store, survives), blocks, world, batchRows: 1 }, wanted.target),
      ).rejects.toThrow('cut short')
      await chain.close()

      const again = await openTestChain(dir, { mode: 'wasm' })
      try {
        expect((await verifyChain(again.store, { from: 0 })).problems).toEqual([])
        expect(again.head.block.header.number).toBe(5 - survives)
        const target = await interruptedRewind(again.store)
        expect(target).toEqual(survives === 0 ? undefined : wanted.target)
        expect(await rewindCount(again.store)).toBe(survives === 0 ? 0 : 1)
        await rewindTo({ ...again, development }, wanted.target)
        expect(await interruptedRewind(again.store)).toBeUndefined()
        expect(await dump(again.store)).toEqual(wanted.rows)
        expect(again.world.root).toBe(wanted.root)
      } finally {
        await again.close()
      }
    })
  }
})

test('a state that is not kept any more is not gone back to', async () => {
  await withDir(async dir => {
    const chain = await openTestChain(dir, { mode: 'wasm' })
    for (let i = 0; i < 3; i++) await mine(chain, [1])
    const world = new Proxy(chain.world, {
      get: (target, name) => (name === 'oldest' ? 2 : Reflect.get(target, name, target)),
    })
    await expect(rewindTo({ ...chain, development, world }, { number: 1, edits: 0 })).rejects.toMatchObject({
      detail: { code: 'REWIND_TOO_FAR', number: 1, oldest: 2 },
    })
    expect(chain.world.number).toBe(3)
    await chain.close()
  })
})

/** A store that writes so many batches and no more. */
const dying = (store: Store, survives: number): Store => {
  let left = survives
  return new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown
      if (name !== 'batch') return typeof value === 'function' ? value.bind(target) : value
      return () => {
        const batch = target.batch()
        const write = batch.write.bind(batch)
        batch.write = async options => {
          assert(left-- > 0, 'cut short')
          await write(options)
        }
        return batch
      }
    },
  })
}
