/**
 * Compiled codes under hostile contracts: as many as asked, each with another code of 24 KiB, made hot one after the other; every few a
 * dense one, of which the compilers make as much as they may. One JSON line; ends with 1 when more is kept than the limits say, when memory
 * grows beyond a bound, or when an instance takes the thread longer than 5 ms at the median of its largest.
 *   node bench/compiler.ts [contracts] [--dense 50]     (default: 10,000 contracts, one of 50 dense)
 */
import { parseArgs } from 'node:util'
import { keccak256Hex } from '../src/crypto/hash.ts'
import { instantiate } from '../src/crypto/wasm/wasm.ts'
import type { Engine } from '../src/evm/engine.ts'
import { compilerCounts } from '../src/evm/engines/engine-counts.ts'
import { createInterpreter } from '../src/evm/engines/interpreter/engine.ts'
import { IMPORT_MODULE } from '../src/evm/engines/wasm/compiler/compile.ts'
import { createHotCompiler } from '../src/evm/engines/wasm/compiler/hot-compiler.ts'
import { CODE_PAGES } from '../src/evm/engines/wasm/evm-module.ts'
import { Machine } from '../src/evm/engines/wasm/machine.ts'
import { createWasmEngine } from '../src/evm/engines/wasm/wasm-engine.ts'
import { Journal } from '../src/state/journal/journal.ts'
import { type Hex, hexToBytes, toWord } from '../src/util/bytes.ts'
import { env, paramsAt } from '../test/unit/evm/world.ts'
import { MemoryState, memoryAccount } from '../test/unit/state/memory-state.ts'

const MIB = 2 ** 20
const MOST_GROWTH_MIB = 200
const MOST_INSTANCE_MS = 5
const CODE_BYTES = 24_576

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { dense: { type: 'string', default: '50' } },
})
const contracts = Number(positionals[0] ?? 10_000)
const denseEvery = Number(values.dense)

const FROM: Hex = `0x${'5e'.repeat(20)}`
const TO: Hex = `0x${'c0'.repeat(20)}`
const OSAKA = env({ params: paramsAt('osaka') })
/** A loop, then what never runs. */
const LOOP = hexToBytes('0x6103e85b60019003806003575b00')
const DENSE = ['5b', '365150', '365250', '5b805f57', '800180', '8f9f', '3635', '5a360b'].map(body =>
  hexToBytes(`0x${body}`),
)
const PLAIN = [hexToBytes(`0x7f${'ab'.repeat(32)}50`)]

const codeOf = (i: number): Uint8Array => {
  const isDense = i % denseEvery === 0
  const bodies = isDense ? DENSE : PLAIN
  const body = bodies[((i / denseEvery) % bodies.length) | 0] as Uint8Array
  const code = new Uint8Array(CODE_BYTES)
  for (let at = 0; at < CODE_BYTES; at++) code[at] = body[at % body.length] as number
  code.set(LOOP)
  code.set(hexToBytes(`0x7f${toWord(BigInt(i)).slice(2)}5b`), LOOP.length)
  return code
}

const run = async (engine: Engine, code: Uint8Array): Promise<void> => {
  const state = new MemoryState()
  const codeHash = keccak256Hex(code)
  state.codes.set(codeHash, code)
  state.accounts.set(TO, memoryAccount({ nonce: 1, codeHash }))
  state.accounts.set(FROM, memoryAccount({ nonce: 1 }))
  const message = {
    from: FROM,
    to: TO,
    value: 0n,
    data: new Uint8Array(),
    gas: 1_000_000n,
    gasPrice: 0n,
    accessList: [],
  }
  const { failure } = await engine.run(new Journal(state), OSAKA, message)
  if (failure !== null) throw new Error(JSON.stringify(failure))
}

const compiler = createHotCompiler({
  hotGas: 10_000n,
  hotBytes: CODE_BYTES,
  bytesPerSecond: 1024 * MIB,
  burstBytes: 1024 * MIB,
})
const engine = createWasmEngine(createInterpreter, compiler)
const machine = new Machine(CODE_PAGES)
const instanceMs: number[] = []
const rssMib = () => Math.round(process.memoryUsage().rss / MIB)

let warmMib = 0
let mostMib = 0
const most = { codes: 0, bytes: 0 }
for (let i = 0; i < contracts; i++) {
  const code = codeOf(i)
  const before = compiler.compilations
  await run(engine, code)
  while (compiler.compilations === before) await new Promise(resolve => setTimeout(resolve, 2))
  await run(engine, code)
  const module = compiler.find(keccak256Hex(code), 'osaka')
  if (module !== undefined && i % denseEvery === 0) {
    const startedMs = performance.now()
    instantiate(module, { [IMPORT_MODULE]: machine.wasm })
    instanceMs.push(performance.now() - startedMs)
  }
  most.codes = Math.max(most.codes, compilerCounts.codes)
  most.bytes = Math.max(most.bytes, compilerCounts.bytes)
  mostMib = Math.max(mostMib, rssMib())
  if (i < contracts / 5) warmMib = mostMib
  if ((i + 1) % 1_000 === 0) process.stderr.write(`${i + 1} contracts, ${rssMib()} MiB\n`)
}
await compiler.close()
const { compiled, evicted, entries, compileMs } = compilerCounts
const medianMs = instanceMs.sort((a, b) => a - b)[instanceMs.length >> 1] ?? 0
const grownMib = mostMib - warmMib
const isBounded =
  most.codes <= 64 && most.bytes <= 4 * MIB && grownMib <= MOST_GROWTH_MIB && medianMs <= MOST_INSTANCE_MS
console.log(
  JSON.stringify({
    bench: 'compiler',
    contracts,
    compiled,
    evicted,
    entries,
    mostCodes: most.codes,
    mostKib: Math.round(most.bytes / 1024),
    compileSeconds: Math.round(compileMs / 1_000),
    instanceMs: { median: Number(medianMs.toFixed(2)), longest: Number((instanceMs.at(-1) ?? 0).toFixed(2)) },
    warmMib,
    grownMib,
  }),
)
process.exit(isBounded ? 0 : 1)
