/**
 * A large state: makes a store of plain accounts and slots (half of them in one contract, half in contracts of ten), then prints one JSON
 * line: seconds of the first opening, which builds the trie, and of the next; memory; milliseconds of the root of 500 and of 5,000 changed
 * accounts, a tenth of them new, with the block's write; processor time of all threads beside it. `node bench/large-state.ts --accounts N --slots N --memory MIB --datadir DIR`. A folder that
 * is there already is used again.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Hex, toWord } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { memoryShares } from '../src/config/limits/storage.ts'
import { NETWORKS } from '../src/config/networks.ts'
import { encodeHeader } from '../src/primitives/header.ts'
import { encodeRlp } from '../src/primitives/rlp/rlp.ts'
import { EMPTY_CODE_HASH, EMPTY_ROOT, encodeAccount } from '../src/state/account.ts'
import { encodeWord, hashedKey, slotKey } from '../src/state/flat-tables.ts'
import { putStateMeta, readStateMeta } from '../src/state/state-meta.ts'
import { StackTrie } from '../src/state/trie/stack-trie.ts'
import { readTrieMark } from '../src/state/trie/trie-rows.ts'
import { TrieService } from '../src/state/trie/trie-service.ts'
import { verifyState } from '../src/state/world/verify-state.ts'
import { WorldState } from '../src/state/world/world-state.ts'
import type { Batch } from '../src/storage/batch.ts'
import { BUCKETS } from '../src/storage/buckets.ts'
import { numberKey } from '../src/storage/keys.ts'
import { Store } from '../src/storage/store.ts'
import { sealedChain } from '../test/support/consensus/sealed-chain.ts'

const { values } = parseArgs({
  options: {
    accounts: { type: 'string' },
    slots: { type: 'string' },
    datadir: { type: 'string' },
    memory: { type: 'string' },
  },
})
const accounts = Number(values.accounts ?? 1_000_000)
const slots = Number(values.slots ?? 0)
const shares = memoryShares(values.memory === undefined ? undefined : Number(values.memory))
const path = values.datadir ?? join(tmpdir(), `large-state-${accounts}-${slots}`)

const SMALL = 10
const ROWS = 20_000
const addressOf = (i: number): Hex =>
  `0x${(BigInt(i + 1) * 0x9e37_79b9_7f4a_7c15n).toString(16).padStart(40, '0').slice(-40)}`
const contractOf = (i: number): Hex => `0xc0${addressOf(i).slice(4)}`

const writeStorage = (batch: Batch, address: Hex, count: number): void => {
  const key = hashedKey(address)
  const rows = Array.from(
    { length: count },
    (_, i) => [slotKey(key, toWord(BigInt(i))), encodeWord(toWord(BigInt(i + 1)))] as const,
  )
  const trie = new StackTrie()
  for (const [slot, word] of rows.toSorted(([a], [b]) => Buffer.compare(a, b))) {
    trie.add(slot.subarray(32), encodeRlp(word))
    batch.put(BUCKETS.slot, slot, word)
  }
  const account = { nonce: 1, balance: 0n, codeHash: EMPTY_CODE_HASH, storageRoot: trie.root() }
  batch.put(BUCKETS.account, key, encodeAccount(account))
}

const make = async (store: Store): Promise<void> => {
  let batch = store.batch()
  const next = async (): Promise<void> => {
    if (batch.size < ROWS) return
    await batch.write({ sync: false })
    batch = store.batch()
  }
  for (let i = 0; i < accounts; i++) {
    const account = {
      nonce: i & 127,
      balance: 10n ** 18n + BigInt(i),
      codeHash: EMPTY_CODE_HASH,
      storageRoot: EMPTY_ROOT,
    }
    batch.put(BUCKETS.account, hashedKey(addressOf(i)), encodeAccount(account))
    await next()
  }
  for (let i = 1; i <= slots / 2 / SMALL; i++) {
    writeStorage(batch, contractOf(i), SMALL)
    await next()
  }
  if (slots > 0) writeStorage(batch, contractOf(0), Math.floor(slots / 2))
  await batch.write()
  const { root } = await verifyState(store)
  await putBlock(store.batch(), 0, root, batch => putStateMeta(batch, { number: 0, root, oldest: 0 })).write()
}

const { header } = sealedChain(1, () => [0]).at(-1)!.block
const putBlock = (batch: Batch, number: number, stateRoot: Hex, more: (batch: Batch) => void): Batch => {
  batch.put(BUCKETS.header, numberKey(number), encodeHeader({ ...header, number, stateRoot }))
  more(batch)
  return batch
}

const open = async (): Promise<{ store: Store; world: WorldState; ms: number; trie: TrieService }> => {
  const startedMs = performance.now()
  const store = await Store.open(path, { memoryBytes: shares.database })
  const trie = await TrieService.open()
  const world = await WorldState.open({ store, trie, logger: silentLogger, memory: shares })
  world.head.account(addressOf(1))
  return { store, world, trie, ms: performance.now() - startedMs }
}

let known = accounts
const cpuMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Changes random accounts; returns the milliseconds of the root and of the whole block, and the processor time of the root. */
const block = async (store: Store, world: WorldState, changes: number): Promise<readonly [number, number, number]> => {
  const journal = world.journal()
  const random = randomBytes(changes * 4)
  for (let i = 0; i < changes; i++) {
    const index = i % 10 === 0 ? known++ : random.readUInt32LE(i * 4) % accounts
    journal.setBalance(addressOf(index), BigInt(random.readUInt32LE(i * 4)) + 1n)
  }
  journal.endTransaction()
  const startedMs = performance.now()
  const cpu = cpuMs()
  const update = await world.computeUpdate(journal.changes(), world.root)
  const rootMs = performance.now() - startedMs
  const rootCpuMs = cpuMs() - cpu
  const number = world.number + 1
  const batch = store.batch()
  putBlock(batch, number, update.root, () => {})
  await world.write(batch, number, update)
  await batch.write({ sync: false })
  await world.committed(number, update)
  return [rootMs, performance.now() - startedMs, rootCpuMs]
}

const spread = (times: readonly number[]) => {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => Math.round((sorted[Math.floor((sorted.length - 1) * share)] ?? 0) * 10) / 10
  return { best: at(0), p50: at(0.5), p90: at(0.9), worst: at(1) }
}

const measure = async (store: Store, world: WorldState, changes: number, rounds: number) => {
  const results: (readonly [number, number, number])[] = []
  for (let i = 0; i < rounds; i++) {
    results.push(await block(store, world, changes))
    await new Promise(resolve => setTimeout(resolve, 300))
  }
  return {
    rootMs: spread(results.map(([root]) => root)),
    rootCpuMs: spread(results.map(([, , cpu]) => cpu)),
    blockMs: spread(results.map(([, whole]) => whole)),
  }
}

const MIB = 1024 * 1024
const memory = () => Math.round(process.memoryUsage().rss / MIB)
/** Memory besides mapped files, MiB: Linux alone tells. */
const anonymous = () => {
  const [, kib] = /^RssAnon:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return Math.round(Number(kib) / 1_024)
}

const made = await Store.open(path)
if ((await readStateMeta(made)) === undefined) await make(made)
const isBuilt = (await readTrieMark(made)) !== undefined
await made.close()
const first = await open()
await first.world.close()
await first.store.close()
const { store, world, trie, ms } = await open()
const opened = memory()
const [cold] = await block(store, world, 500)
const results = { 500: await measure(store, world, 500, 20), 5000: await measure(store, world, 5_000, 12) }
const stats = await trie.stats()
console.log(
  JSON.stringify({
    bench: 'large-state',
    network: NETWORKS.devnet.name,
    accounts,
    slots,
    buildSeconds: isBuilt ? null : Math.round(first.ms / 100) / 10,
    openMs: Math.round(ms),
    firstRootMs: Math.round(cold),
    rssMiB: { opened, after: memory() },
    anonymousMiB: anonymous(),
    trieMiB: Math.round(stats.memoryBytes / MIB),
    changes: results,
  }),
)
await world.close()
await store.close()
