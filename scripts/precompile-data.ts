/**
 * Makes test/conformance/data/precompiles/vectors.json.br from go-ethereum's vectors: `node scripts/precompile-data.ts FOLDER`,
 * where FOLDER is its core/vm/testdata/precompiles. Of each file as many are taken as the tests have time for, by the hash of their names.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'

const KEPT = 32
const MAX_INPUT_DIGITS = 2 * 2_600
const OUT = fileURLToPath(new URL('../test/conformance/data/precompiles/vectors.json.br', import.meta.url))

interface Vector {
  readonly Name: string
  readonly Input: string
  readonly Expected?: string
  readonly ExpectedError?: string
  readonly Gas?: number
}

const rank = (vector: Vector): string => createHash('sha256').update(vector.Name).digest('hex')

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('usage: node scripts/precompile-data.ts FOLDER')
const files = readdirSync(folder).filter(name => name.endsWith('.json'))
const chosen = files.sort().map(file => {
  const vectors = JSON.parse(readFileSync(join(folder, file), 'utf8')) as readonly Vector[]
  const small = vectors.filter(({ Input }) => Input.length <= MAX_INPUT_DIGITS)
  return [basename(file, '.json'), small.sort((a, b) => (rank(a) < rank(b) ? -1 : 1)).slice(0, KEPT)] as const
})
const packed = brotliCompressSync(JSON.stringify(Object.fromEntries(chosen)))
mkdirSync(dirname(OUT), { recursive: true })
writeFileSync(OUT, packed)
process.stdout.write(`${chosen.flatMap(([, vectors]) => vectors).length} vectors, ${packed.byteLength} bytes packed\n`)
