/**
 * Makes test/conformance/data/state-tests/tests.jsonl.br from the public state tests: `node scripts/state-test-data.ts FOLDER`,
 * where FOLDER holds eest, static, legacy and constantinople (README.md beside the data). Of each file its first test and a part of
 * the others are taken, by the hash of their names, so that two runs choose alike; what no run needs is left out.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'

/** Tests kept of every hundred beyond the first of a file. */
const KEPT_PERCENT = 45
/** Tests of up to two seconds: twenty of them take as long as all the others. */
const HEAVY = /ContractCreationSpam|LoopCalls|Call(?:code)?1024|recursiveCreateReturnValue/i
const OUT = fileURLToPath(new URL('../test/conformance/data/state-tests/tests.jsonl.br', import.meta.url))

interface StateTest {
  readonly env: unknown
  readonly pre: unknown
  readonly transaction: unknown
  readonly config?: { readonly blobSchedule?: unknown }
  readonly post: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>
}

const isKept = (id: string): boolean => createHash('sha256').update(id).digest().readUInt32LE(0) % 100 < KEPT_PERCENT

const slim = ({ env, pre, transaction, config, post }: StateTest): StateTest => ({
  env,
  pre,
  transaction,
  ...(config?.blobSchedule !== undefined && { config: { blobSchedule: config.blobSchedule } }),
  post: Object.fromEntries(
    Object.entries(post).map(([fork, entries]) => [fork, entries.map(({ state: _, ...entry }) => entry)]),
  ),
})

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('usage: node scripts/state-test-data.ts FOLDER')
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
  name => name.endsWith('.json') && !HEAVY.test(name),
)
const lines = files.sort().flatMap(file => {
  const tests = Object.entries(JSON.parse(readFileSync(join(folder, file), 'utf8')) as Record<string, StateTest>)
  return tests
    .filter(([name, test], place) => test.post !== undefined && (place === 0 || isKept(`${file}::${name}`)))
    .map(([name, test]) => `${JSON.stringify({ file, name, test: slim(test) })}\n`)
})
const text = Buffer.from(lines.join(''))
const packed = brotliCompressSync(text, {
  params: {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: text.byteLength,
  },
})
mkdirSync(dirname(OUT), { recursive: true })
writeFileSync(OUT, packed)
process.stdout.write(`${lines.length} tests, ${text.byteLength} bytes, ${packed.byteLength} packed\n`)
