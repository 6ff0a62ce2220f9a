/**
 * State roots by the batch trie. Prints one JSON line: milliseconds per block of changes (a tenth of them new accounts), the packing cost of the
 * calling thread, and memory per account. `node bench/trie.ts [accounts]`
 */

import type { Hex } from '@tandem/base/bytes.ts'
import { EMPTY_CODE_HASH } from '../src/state/account.ts'
import { BatchPacker } from '../src/state/batch.ts'
import { TrieService } from '../src/state/trie/trie-service.ts'

const accounts = Number(process.argv[2] ?? 100_000)
const LOAD = 50_000
const ROUNDS = { 500: 40, 5000: 15 } as const

const addressOf = (i: number): Hex =>
  `0x${(BigInt(i + 1) * 0x9e37_79b9_7f4a_7c15n).toString(16).padStart(40, '0').slice(-40)}`
const fields = (balance: bigint, nonce: number) => ({ nonce, balance, codeHash: EMPTY_CODE_HASH })

let state = 42
const random = (below: number): number => {
  state ^= state << 13
  state ^= state >>> 17
  state ^= state << 5
  return (state >>> 0) % below
}

const service = await TrieService.open()
const loading = performance.now()
for (let from = 0; from < accounts; from += LOAD) {
  const packer = new BatchPacker()
  for (let i = from; i < Math.min(accounts, from + LOAD); i++)
    packer.account(addressOf(i), fields(10n ** 18n + BigInt(i), i & 127))
  await service.load(packer.finish())
}
const loadMs = performance.now() - loading
const loaded = await service.stats()

let known = accounts
const measure = async (changes: number, rounds: number) => {
  const pack: number[] = []
  const total: number[] = []
  for (let round = 0; round < rounds; round++) {
    const touched = new Set<number>()
    while (touched.size < changes) touched.add(random(10) === 0 ? known++ : random(accounts))
    const keys = [...touched].map(addressOf)
    const started = performance.now()
    const packer = new BatchPacker()
    for (const key of keys) packer.account(key, fields(10n ** 17n + BigInt(round), round))
    const batch = packer.finish()
    pack.push(performance.now() - started)
    const { root } = await service.apply(service.root, batch)
    total.push(performance.now() - started)
    await service.commit(root)
  }
  return { packMs: spread(pack), rootMs: spread(total) }
}

const spread = (times: number[]) => {
  const sorted = times.toSorted((a, b) => a - b)
  return { best: round2(sorted[0]!), median: round2(sorted[sorted.length >> 1]!) }
}
const round2 = (value: number): number => Math.round(value * 100) / 100

const results: Record<string, unknown> = {}
for (const [changes, rounds] of Object.entries(ROUNDS)) results[changes] = await measure(Number(changes), rounds)
const stats = await service.stats()
console.log(
  JSON.stringify({
    bench: 'trie',
    accounts,
    loadMs: Math.round(loadMs),
    bytesPerAccount: Math.round(loaded.usedBytes / accounts),
    memoryMb: Math.round(stats.memoryBytes / 1e6),
    blocks: results,
  }),
)
await service.close()
