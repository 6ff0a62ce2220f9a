import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rpc } from '../support/devnet.ts'
import { precompilePrograms } from '../support/hostile/precompile-programs.ts'
import { receiptOf, signerOf } from '../support/load.ts'
import { type NodeProcess, type Ready, sleep, spawnNode } from '../support/node-process.ts'

/*
 * A transaction that spends its gas on one precompile, while another client asks for the head. In mode fast: the oracle cannot pause. How
 * often a precompile pauses is counted in test/unit/evm/precompile-pauses.test.ts, how long it holds the thread by bench/precompiles.ts.
 */

/** `PRECOMPILE_GAS=100000000` for figures worth reading; prints a JSON line each. */
const GAS = BigInt(process.env['PRECOMPILE_GAS'] ?? 8_000_000)

let node: NodeProcess
let ready: Ready
let nonce = 0

beforeAll(async () => {
  node = spawnNode(['devnet', '--port', '0', '--execution', 'wasm', '--block-time', '0.25'])
  ready = await node.ready
  // The first code of a process loads the engine.
  await run(hexToBytes('0x00'))
})
afterAll(async () => {
  expect(node.stderr()).not.toMatch(/"level":"error"/)
  expect(await node.end('SIGTERM')).toMatchObject({ code: 0 })
})

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

// Point evaluation is no precompile of the networks.
const { 'point evaluations': _, ...programs } = precompilePrograms(Number(GAS))

test.each(Object.entries(programs))('%s', { timeout: 180_000 }, async (what, code) => {
  const began = performance.now()
  const heldMs = await run(hexToBytes(code))
  const ms = Math.round(performance.now() - began)
  process.stdout.write(`${JSON.stringify({ what, gas: Number(GAS), ms, heldMs: Math.round(heldMs) })}\n`)
})
