import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

/*
 * Texts quoted in docs/troubleshooting.md are texts of the program: an operator searches the page for the line on the screen. Quotes are those
 * between backticks in the first column of a table, and those of paragraphs. `...`, lone capital letters and numbers stand for values.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PAGE = join(ROOT, 'docs/troubleshooting.md')

/** Comments, strings and templates, in the order they are tried. */
const TOKEN = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`/g
/** Stands for a value inside a text. */
const VALUE = '\0'

const textsOf = (source: string): readonly string[] =>
  [...source.matchAll(TOKEN)]
    .map(([token]) => token)
    .filter(token => !token.startsWith('/'))
    .map(token =>
      token
        .slice(1, -1)
        .replace(/\$\{[^}]*\}/g, VALUE)
        .replace(/\\(.)/g, '$1'),
    )

const programTexts = (): readonly string[] =>
  ['src', 'packages'].flatMap(top =>
    readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' })
      .filter(path => path.endsWith('.ts') && !/assembly\/|node_modules\//.test(path))
      .flatMap(path => textsOf(readFileSync(join(ROOT, top, path), 'utf8'))),
  )

interface Quote {
  readonly line: number
  readonly text: string
}

const firstCell = (row: string): string => row.replaceAll('\\|', ' ').split('|')[1] ?? ''

const quotesOf = (page: string): readonly Quote[] =>
  page.split('\n').flatMap((row, index) => {
    const quoting = row.startsWith('|') ? firstCell(row) : row
    return [...quoting.matchAll(/`([^`]+)`/g)].map(match => ({ line: index + 1, text: match[1] as string }))
  })

/** Pieces of a quote between the values in it. */
const piecesOf = (quote: string): readonly string[] =>
  quote
    .split(/\.\.\.|\b[A-Z]\b|\d+/)
    .map(piece => piece.trim())
    .filter(piece => piece !== '')

const containsInOrder = (text: string, pieces: readonly string[]): boolean => {
  let from = 0
  for (const piece of pieces) {
    const at = text.indexOf(piece, from)
    if (at < 0) return false
    from = at + piece.length
  }
  return true
}

/** A quote without a letter would be found anywhere. */
const isQuoted = (texts: readonly string[], quote: string): boolean => {
  const pieces = piecesOf(quote)
  return pieces.some(piece => /[a-z]{3}/i.test(piece)) && texts.some(text => containsInOrder(text, pieces))
}

/** Names of files are held by the test of links. */
const isFileName = (text: string): boolean => /^[\w./-]+\.(ts|md)$/.test(text)

const texts = programTexts()
const missingFrom = (page: string): readonly string[] =>
  quotesOf(page)
    .filter(({ text }) => !isFileName(text) && !isQuoted(texts, text))
    .map(({ line, text }) => `docs/troubleshooting.md:${line}: ${text}: no text of src`)

describe('docs/troubleshooting.md', () => {
  test('quotes texts that the program writes', () => {
    const page = readFileSync(PAGE, 'utf8')
    expect(quotesOf(page).length).toBeGreaterThan(60)
    expect(missingFrom(page)).toEqual([])
  })
})

describe('the check itself', () => {
  test.each([
    ['a line that nothing writes', '| `peer was banished` | gone |'],
    ['words in another order', '| `committee members waiting, no quorum reachable` | gone |'],
    ['a quote of values alone', '| `... N 12` | anything |'],
    ['a paragraph', 'The line `peer was banished` needs a person.'],
  ])('finds %s', (_, page) => {
    expect(missingFrom(page)).toEqual([expect.stringContaining('no text of src')])
  })

  test.each([
    ['a log line', '| `peer banned` | it broke the protocol |'],
    ['values', '| `Blocks after N are missing` | fetched anew |'],
    ['a number', '| `missing value for required argument 2` | add it |'],
    ['the other columns', '| nothing | `peer was banished` |'],
  ])('leaves %s alone', (_, page) => {
    expect(missingFrom(page)).toEqual([])
  })

  test('reads the texts of a source without its comments', () => {
    const source = `// 'a'\n/* "b" */\nlog.info({ n }, 'it isn\\'t so')\nconst t = \`block \${n} of \${m}\``
    expect(textsOf(source)).toEqual(["it isn't so", `block ${VALUE} of ${VALUE}`])
  })
})
