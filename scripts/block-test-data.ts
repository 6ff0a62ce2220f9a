/**
 * Makes test/conformance/data/block-tests/tests.jsonl.br from public blockchain tests: `node scripts/block-test-data.ts FOLDER` (README.md
 * beside the data). Of each file the first test of each network and of each refusal is taken, without what no run needs.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'
import type { BlockTest } from '../devtools/block-test/fixture.ts'

/** Bytes of a test; the few larger ones would be most of the file. */
const LARGEST = 24_000
const OUT = fileURLToPath(new URL('../test/conformance/data/block-tests/tests.jsonl.br', import.meta.url))

const slim = ({ network, genesisBlockHeader, pre, blocks, lastblockhash, config }: BlockTest): BlockTest => ({
  network,
  genesisBlockHeader,
  pre,
  blocks: blocks.map(({ rlp, expectException }) => ({
    rlp,
    ...(expectException !== undefined && { expectException }),
  })),
  lastblockhash,
  ...(config && { config }),
})

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('usage: node scripts/block-test-data.ts FOLDER')
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.json'))
const lines = files.sort().flatMap(file => {
  const taken = new Set<string>()
  const tests = Object.entries(JSON.parse(readFileSync(join(folder, file), 'utf8')) as Record<string, BlockTest>)
  return tests
    .map(([name, test]) => ({ name, test: slim(test) }))
    .filter(one => {
      const refusals = one.test.blocks.map(({ expectException = '' }) => expectException)
      const kind = `${one.test.network} ${refusals.find(reason => reason !== '') ?? ''}`
      return JSON.stringify(one).length <= LARGEST && !taken.has(kind) && taken.add(kind)
    })
    .map(one => `${JSON.stringify(one)}\n`)
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
