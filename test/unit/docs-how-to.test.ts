import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

/*
 * Names of code in docs/how-to, docs/architecture.md and CONTRIBUTING.md are names of the source: constants, functions and types between
 * backticks. Commands of pages and of package.json run files that are there. Other names of files are held by the test of links.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const filesOf = (folder: string, ending: string): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith(ending))
    .sort()
    .map(path => `${folder}/${path}`)

const PAGES = [...filesOf('docs/how-to', '.md'), 'docs/architecture.md', 'CONTRIBUTING.md']

/** Made up: the example of a page, and the patterns of names in CONTRIBUTING.md. */
const EXAMPLES = new Set(['eth_getThing', 'createX', 'xFromY', 'isX'])

const IDENTIFIER = /(?<![\w./-])[A-Za-z_]\w*(?![\w./-])/g
/** Words of prose have neither an underscore nor a capital after a small letter, nor are they all capitals. */
const isName = (word: string): boolean => /[a-z][A-Z]|\w_\w|^[A-Z]{4,}$/.test(word)

const namesOf = (page: string): readonly string[] =>
  [...page.matchAll(/`([^`\n]+)`/g)]
    .filter(([, quoted]) => !/^(npx|npm|node|tandem) |=\d/.test(quoted as string))
    .flatMap(([, quoted]) => (quoted as string).match(IDENTIFIER) ?? [])
    .filter(name => isName(name) && !EXAMPLES.has(name))

const known = new Set(
  ['src', 'packages', 'devtools', 'test', 'scripts', 'bench'].flatMap(folder =>
    filesOf(folder, '.ts').flatMap(path =>
      path.endsWith('docs-how-to.test.ts') ? [] : (read(path).match(/\w+/g) ?? []),
    ),
  ),
)
const unknownIn = (page: string): readonly string[] => namesOf(page).filter(name => !known.has(name))

describe('names of code in the pages for contributors', () => {
  test.each(PAGES)('%s names what the source has', path => {
    expect(unknownIn(read(path))).toEqual([])
  })

  test('are found at all', () => {
    expect(PAGES.flatMap(path => namesOf(read(path))).length).toBeGreaterThan(25)
  })

  test('a name that is gone from the source is reported', () => {
    expect(unknownIn('1. `EVM_FORKS`, then `isSinceEver(fork)` and `OLD_FORK_TABLE` in the list.')).toEqual([
      'isSinceEver',
      'OLD_FORK_TABLE',
    ])
  })
})

describe('commands', () => {
  /** Files below the folders of the repository, as a command line names them. */
  const filesIn = (command: string): readonly string[] =>
    command.match(/(?<![\w./-])(?:src|devtools|test|bench|scripts|bin)\/[\w./-]+\.(?:ts|mjs)/g) ?? []
  const missingIn = (commands: readonly string[]): readonly string[] =>
    commands.flatMap(filesIn).filter(path => !existsSync(join(ROOT, path)))
  const quoted = (page: string): readonly string[] =>
    [...page.matchAll(/`([^`\n]+)`/g)].map(([, text]) => text as string)
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> }

  test('of package.json run files that are there', () => {
    expect(Object.values(scripts).flatMap(filesIn).length).toBeGreaterThan(4)
    expect(missingIn(Object.values(scripts))).toEqual([])
  })

  test('of README and CONTRIBUTING run files and scripts that are there', () => {
    const commands = ['README.md', 'CONTRIBUTING.md'].flatMap(path => quoted(read(path)))
    expect(missingIn(commands)).toEqual([])
    const run = commands.flatMap(command => command.match(/(?<=^npm run )[\w:]+/) ?? [])
    expect(run.length).toBeGreaterThan(4)
    expect(run.filter(name => scripts[name] === undefined)).toEqual([])
  })

  test('that name a missing file are reported', () => {
    expect(missingIn(['SEED=1 node bench/nothing-there.ts 4', 'node scripts/build-wasm.ts'])).toEqual([
      'bench/nothing-there.ts',
    ])
  })
})
