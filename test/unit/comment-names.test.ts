import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/*
 * Names of code between backticks in comments of src, the packages and devtools are names that the code has: a renamed function or type is renamed in comments too.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Names of other programs, of contracts and of JavaScript itself. */
const FOREIGN = new Set(['customPrecompiles', 'DepositEvent', 'isolatedModules', '__proto__'])

const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g
/** Words of prose have neither an underscore nor a capital after a small letter, nor are they all capitals. */
const isName = (word: string): boolean => /[a-z][A-Z]|\w_\w|^[A-Z]{4,}$/.test(word)

const namesIn = (comment: string): readonly string[] =>
  [...comment.matchAll(/`([^`\n]+)`/g)]
    .flatMap(([, quoted]) => (quoted as string).match(/(?<![\w./-])[A-Za-z_]\w*(?![\w/-])/g) ?? [])
    .filter(name => isName(name) && !FOREIGN.has(name))

const sources = ['src', 'packages', 'devtools'].flatMap(top =>
  readdirSync(`${ROOT}/${top}`, { recursive: true, encoding: 'utf8' })
    .filter(path => /\.m?ts$/.test(path) && !path.includes('node_modules/'))
    .map(path => ({ path, text: readFileSync(`${ROOT}/${top}/${path}`, 'utf8') })),
)

const missingIn = (texts: typeof sources, known: ReadonlySet<string>): readonly string[] =>
  texts.flatMap(({ path, text }) =>
    (text.match(COMMENT) ?? [])
      .flatMap(namesIn)
      .filter(name => !known.has(name))
      .map(name => `${path}: ${name}`),
  )

test('names in comments are names of the code', () => {
  const known = new Set(sources.flatMap(({ text }) => text.replace(COMMENT, '').match(/\w+/g) ?? []))
  expect(known.size).toBeGreaterThan(10_000)
  expect(missingIn(sources, known)).toEqual([])
})

test('a name that is gone from the code is reported', () => {
  const texts = [
    { path: 'a.ts', text: '/** Calls `oldName(x)` and `run`. */\nexport const run = () => kept() // see `keptName`' },
  ]
  expect(missingIn(texts, new Set(['run', 'kept', 'keptName']))).toEqual(['a.ts: oldName'])
})
