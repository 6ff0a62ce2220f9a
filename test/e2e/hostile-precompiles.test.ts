import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Hex, hexToBytes } from '../../src/util/bytes.ts'
import { rpc } from '../support/devnet.ts'
import { receiptOf, signerOf } from '../support/load.ts'
import { type NodeProcess, type Ready, sleep, spawnNode } from '../support/node-process.ts'

/* A transaction that spends its gas on one precompile, while another client asks for the head. In mode fast: the oracle cannot pause. */

/** `PRECOMPILE_GAS=100000000` for figures worth reading; prints a JSON line each. */
const GAS = BigInt(process.env['PRECOMPILE_GAS'] ?? 8_000_000)
/** Generous: tests share the machine. One call of the pairing alone once held the thread for longer. */
const HELD_MS = 500

let node: NodeProcess
let ready: Ready
let nonce = 0

beforeAll(async () => {
  node = spawnNode(['devnet', '--port', '0', '--execution', 'fast', '--block-time', '0.25'])
  ready = await node.ready
  // The first code of a process loads the engine.
  await run(hexToBytes('0x00'))
})
afterAll(async () => {
  expect(node.stderr()).not.toMatch(/"level":"error"/)
  expect(await node.end('SIGTERM')).toMatchObject({ code: 0 })
})

const hex = (value: number, bytes: number): string => value.toString(16).padStart(bytes * 2, '0')
/** MSTORE of words from an offset on. */
const stored = (offset: number, words: string): string =>
  (words.match(/.{64}/g) ?? []).map((word, i) => `7f${word}62${hex(offset + i * 32, 3)}52`).join('')
/** MCOPY that doubles what stands from an offset on, so many times. */
const doubled = (offset: number, size: number, times: number): string =>
  Array.from({ length: times }, (_, i) => size * 2 ** i)
    .map(n => `62${hex(n, 3)}62${hex(offset, 3)}62${hex(offset + n, 3)}5e`)
    .join('')
/** STATICCALL with the memory up to `size` and all gas, over and over. */
const calls = (before: string, address: number, size: number): Hex =>
  `0x${before}5b5f5f62${hex(size, 3)}5f60${hex(address, 1)}5afa5062${hex(before.length / 2, 3)}56`

const PAIR =
  `${hex(1, 32)}${hex(2, 32)}198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2` +
  '1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed' +
  '090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b' +
  '12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa'
const KZG =
  '01e798154708fe7789429634053cbf9f99b619f9f084048927333fce637f549b564c0a11a0f704f4fc3e8acfe0f8245f0ad1347b378fbf96e206da11a5d3630624d25032e67a7e6a4910df5834b8fe70e6bcfeeac0352434196bdf4b2485d5a18f59a8d2a1a625a17f3fea0fe5eb8c896db3764f3185481bc22f91b4aaffcca25f26936857bc3a7c2539ea8ec3a952b7873033e038326e87ed3e1276fd140253fa08e9fc25fb2d9a98527fc22a2c9612fbeafdad446cbc7bcdbdcd780af2c16a'
const BLAKE2 = (rounds: number): string => `${hex(rounds, 4)}${'5a'.repeat(208)}01`.padEnd(448, '0')
/** Base and modulus of 8 bytes, all bits set, an exponent of 2^n. */
const modexp = (exponentBytes: number): string =>
  stored(0, `${hex(8, 32)}${hex(exponentBytes, 32)}${hex(8, 32)}${'ff'.repeat(32)}`) +
  doubled(96, 32, Math.log2(exponentBytes / 32) + 1)

const pairs = 2 ** Math.floor(Math.log2(Number(GAS) / 36_000))
const ATTACKS: Readonly<Record<string, Hex>> = {
  'one pairing of many pairs': calls(stored(0, PAIR) + doubled(0, 192, Math.log2(pairs)), 8, 192 * pairs),
  'pairings of one pair': calls(stored(0, PAIR), 8, 192),
  'long exponents, short moduli': calls(modexp(8_192), 5, 96 + 8 + 8_192 + 8),
  'one long exponent': calls(modexp(2 ** 20), 5, 96 + 8 + 2 ** 20 + 8),
  'point evaluations': calls(stored(0, KZG), 10, 192),
  'one BLAKE2 F of many rounds': calls(stored(0, BLAKE2(Number(GAS) * 0.9)), 9, 213),
  'RIPEMD160 of megabytes': calls(stored(2 ** 20, PAIR), 3, 2 ** 20),
}

/** The longest time the head was waited for until the transaction stood in a block. */
const worstWait = async (hash: Hex): Promise<number> => {
  let [isOver, worstMs] = [false, 0]
  const receipt = receiptOf(ready.http, hash).finally(() => {
    isOver = true
  })
  while (!isOver) {
    const began = performance.now()
    await rpc(ready.http, 'eth_blockNumber')
    worstMs = Math.max(worstMs, performance.now() - began)
    await sleep(2)
  }
  await receipt
  return worstMs
}

/** Creates a contract of this init code and answers how long the head was waited for meanwhile. */
const run = async (code: Uint8Array): Promise<number> => {
  const signed = signerOf(ready.accounts[0]?.privateKey ?? '0x', ready.chainId)
  const { raw, hash } = signed({ nonce: nonce++, to: null, data: code, gasLimit: GAS })
  await rpc(ready.http, 'eth_sendRawTransaction', [raw])
  return worstWait(hash)
}

test.each(Object.entries(ATTACKS))('%s', { timeout: 180_000 }, async (what, code) => {
  const began = performance.now()
  const heldMs = await run(hexToBytes(code))
  const ms = Math.round(performance.now() - began)
  process.stdout.write(`${JSON.stringify({ what, gas: Number(GAS), ms, heldMs: Math.round(heldMs) })}\n`)
  expect(heldMs).toBeLessThan(HELD_MS)
})
