import type { Hex } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { Builders, endless, type Program, work } from './builders.ts'

const BLOCKS = 200
/** Accounts of an honest client; each sends again when its last transaction is included. */
const HONEST = 8
/** Every fourth block, so that each of four validators meets each of them. */
const EVERY = 4

interface Attack {
  readonly program: Program
  readonly gas: bigint
  readonly tip: bigint
  /** New accounts that send it in each block. */
  readonly perBlock: number
}

interface Honest {
  readonly ms: number
  readonly gas: bigint
  readonly tip: bigint
}

/** Calls of an honest client and of a stream of light ones, under an attack; the result is the blocks that each call waited, sorted. */
const underAttack = async (attack: Attack | undefined, { ms, gas, tip }: Honest, builders = new Builders()) => {
  const bad = attack && builders.contract(attack.program)
  const good = builders.contract(work(ms, (gas * 9n) / 10n))
  const light = builders.contract(work(1, 60_000n))
  const senders = Array.from({ length: HONEST }, () => builders.account())
  let owed = 0
  for (let block = 0; block < BLOCKS; block++) {
    owed += attack?.perBlock ?? 0
    for (; attack && owed >= 1; owed--) builders.send('attack', { to: bad as Hex, gas: attack.gas, tip: attack.tip })
    for (let i = 0; i < 20; i++) builders.send('light', { to: light, gas: 100_000n, tip: 5n })
    const from = senders[block % HONEST] as Hex
    if (block % EVERY < 2 && builders.isIdle(from)) builders.send('honest', { from, to: good, gas, tip })
    await builders.block()
  }
  const waited = (label: string): number[] => (builders.waited.get(label) ?? []).toSorted((a, b) => a - b)
  const honest = waited('honest')
  return {
    builders,
    included: honest.length,
    p99: honest[Math.ceil(honest.length * 0.99) - 1],
    light: waited('light').at(-1),
    attacks: waited('attack').length,
  }
}

/** Loop of ecrecover: 20 M gas take more time than a block has. */
const ECRECOVER = { program: endless(16), gas: 20_000_000n, tip: 200n }
/** Creation of a contract of 24 KiB at most. */
const DEPLOY = { ms: 15, gas: 5_000_000n, tip: 20n }
/** More gas than is certain to end in time. */
const LARGE = { ms: 60, gas: 30_000_000n }
const ALL = BLOCKS / 2

test.each([
  ['one for each four blocks, above the price', { ...ECRECOVER, perBlock: 1 / EVERY }, DEPLOY],
  ['one for each four blocks, below the price', { ...ECRECOVER, tip: 1n, perBlock: 1 / EVERY }, DEPLOY],
  ['four of new accounts in each block', { ...ECRECOVER, perBlock: 4 }, DEPLOY],
  ['four in each block that name all gas', { program: endless(4), gas: 999_999_999n, tip: 9n, perBlock: 4 }, DEPLOY],
  [
    'four in each block, against the largest creation',
    { ...ECRECOVER, perBlock: 4 },
    { ...DEPLOY, ms: 25, gas: 11_000_000n },
  ],
  ['four in each block, below the price of much gas', { ...ECRECOVER, perBlock: 4 }, { ...LARGE, tip: 220n }],
  ['nobody', undefined, { ...LARGE, tip: 0n }],
] as const)('endless work of %s keeps no heavy transaction out', async (_, attack, honest) => {
  const { included, p99, light, attacks } = await underAttack(attack, honest)
  expect(included).toBeGreaterThan(ALL - 4)
  expect(p99).toBeLessThanOrEqual(3)
  expect(light).toBeLessThanOrEqual(1)
  expect(attacks).toBe(0)
})

test('endless work above the price of much gas delays it by some blocks, and never for good', async () => {
  const { included, p99 } = await underAttack({ ...ECRECOVER, perBlock: 1 / EVERY }, { ...LARGE, tip: 20n })
  expect(included).toBeGreaterThan(ALL - 8)
  expect(p99).toBeLessThanOrEqual(12)
})

test('work that takes five times as long as its gas may keeps no heavy transaction out', async () => {
  const attack = { program: endless(100), gas: 3_500_000n, tip: 200n, perBlock: 1 / EVERY }
  const { included, p99, light } = await underAttack(attack, DEPLOY)
  expect(included).toBeGreaterThan(ALL - 4)
  expect(p99).toBeLessThanOrEqual(3)
  expect(light).toBeLessThanOrEqual(1)
})

test('work that ends in time pays for it, whatever it leaves for others', async () => {
  const { included, attacks } = await underAttack({ ...ECRECOVER, gas: 12_000_000n, perBlock: 1 }, DEPLOY)
  expect(attacks).toBe(BLOCKS)
  expect(included).toBeGreaterThan(ALL - 4)
})

test('a validator that other work slows down keeps a slot for the call that waits longest', async () => {
  const builders = new Builders()
  builders.engine.load = 3
  const attack = { ...ECRECOVER, gas: 12_000_000n, perBlock: 1 / EVERY }
  const { included, p99, light } = await underAttack(attack, DEPLOY, builders)
  expect(included).toBeGreaterThan(ALL / 2)
  expect(p99).toBeLessThanOrEqual(10)
  expect(light).toBeLessThanOrEqual(1)
})

test('a sender that was stopped costs a small share of the builds, whatever it sends next', async () => {
  const builders = new Builders(1)
  const bad = builders.contract(endless(16))
  const from = builders.account()
  for (let tip = 0n; builders.number <= BLOCKS; ) {
    if (builders.number % 10 === 1) builders.send('attack', { from, to: bad, gas: 20_000_000n, tip })
    // A replacement has a better price and another hash.
    tip += (25n + tip) / 100n + 1n
    await builders.block()
  }
  expect(builders.took.reduce((sum, ms) => sum + ms)).toBeLessThan(2 * 300)
  // A light one of the same sender waits for nothing.
  builders.send('light', { from, to: builders.contract(work(1, 50_000n)), gas: 2_000_000n, tip: 10n ** 5n })
  await builders.block()
  expect(builders.blocks.at(-1)).toEqual(['light'])
})

test('code that waits for a block takes its place by price there', async () => {
  const builders = new Builders()
  const AT = 60
  const sleeper = builders.contract((gas, number) => (number < AT ? endless(6)(gas, number) : { ms: 1, gas: 50_000n }))
  const light = builders.contract(work(1, 60_000n))
  while (builders.number < 2 * AT) {
    builders.send('sleeper', { to: sleeper, gas: 100_000_000n, tip: 0n })
    for (let i = 0; i < 20; i++) builders.send('light', { to: light, gas: 100_000n, tip: 122n })
    await builders.block()
  }
  const after = builders.blocks.slice(AT - 1).filter(labels => labels.includes('sleeper'))
  expect(after.length).toBeGreaterThan(0)
  for (const labels of after) expect(labels.slice(0, 20)).toEqual(Array(20).fill('light'))
})

test('a call that a shrunken budget stopped is tried again as soon as there is more time', async () => {
  const builders = new Builders()
  const miss = (): void => {
    for (const { budget } of builders.proposers) for (let i = 0; i < 5; i++) budget.missed()
  }
  const good = builders.contract(work(15, 4_500_000n))
  const senders = Array.from({ length: HONEST }, () => builders.account())
  while (builders.number <= BLOCKS) {
    if (builders.number % 20 === 1) miss()
    const from = senders[builders.number % HONEST] as Hex
    if (builders.isIdle(from)) builders.send('honest', { from, to: good, gas: 5_000_000n, tip: 1n })
    await builders.block()
  }
  const waited = builders.waited.get('honest') ?? []
  expect(waited.length).toBeGreaterThan(BLOCKS - 4)
  expect(Math.max(...waited)).toBeLessThanOrEqual(3)
})
