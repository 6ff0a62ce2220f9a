import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'

/** Tests of one file, with their names. */
type Tests<Test> = readonly (readonly [name: string, test: Test])[]

/**
 * Writes the lines that `choose` makes of each JSON file in the folder of the command line, in the order of their names, to a packed file of
 * test/conformance/data.
 */
export const packTests = <Test>(
  script: string,
  out: string,
  choose: (file: string, tests: Tests<Test>) => readonly object[],
): void => {
  const [folder] = process.argv.slice(2)
  if (folder === undefined) throw new Error(`usage: node scripts/${script} FOLDER`)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.json'))
  const lines = files.sort().flatMap(file => {
    const tests = Object.entries(JSON.parse(readFileSync(join(folder, file), 'utf8')) as Record<string, Test>)
    return choose(file, tests).map(line => `${JSON.stringify(line)}\n`)
  })
  const text = Buffer.from(lines.join(''))
  const packed = brotliCompressSync(text, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: text.byteLength,
    },
  })
  const path = fileURLToPath(new URL(`../test/conformance/data/${out}`, import.meta.url))
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, packed)
  process.stdout.write(`${lines.length} tests, ${text.byteLength} bytes, ${packed.byteLength} packed\n`)
}
