import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

/*
 * Every link, citation and file name in documents and comments leads somewhere in this repository: links of documents to files and
 * headings, `docs/page.md#heading` in comments to headings, names of files to files. Pages that stand elsewhere may not be cited.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SELF = 'test/unit/docs-links.test.ts'

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter(path => path !== '' && path !== SELF)
const files: ReadonlySet<string> = new Set(tracked)
const folders: ReadonlySet<string> = new Set(tracked.flatMap(path => parents(path)))

function parents(path: string): string[] {
  const parent = posix.dirname(path)
  return parent === '.' ? [] : [parent, ...parents(parent)]
}

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const documents = tracked.filter(path => /^(docs\/.*|README|CONTRIBUTING)\.md$|^docs\/.*\.md$/.test(path))
const code = tracked.filter(path =>
  /^(src|packages|devtools|test|bench|scripts)\/.*\.ts$|^contracts\/.*\.sol$/.test(path),
)

/** Anchor of a heading as GitHub makes it. */
const anchorOf = (heading: string): string =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .trim()
    .replaceAll(' ', '-')

const withoutFences = (text: string): string => text.replace(/^```[\s\S]*?^```/gm, fence => fence.replace(/[^\n]/g, ''))

const anchors = (path: string): ReadonlySet<string> => {
  const seen = new Map<string, number>()
  const found = new Set<string>()
  for (const [, heading] of withoutFences(read(path)).matchAll(/^#{1,6} (.+)$/gm)) {
    const anchor = anchorOf(heading as string)
    const count = seen.get(anchor) ?? 0
    seen.set(anchor, count + 1)
    found.add(count === 0 ? anchor : `${anchor}-${count}`)
  }
  return found
}

const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length

/** undefined: the target is there. */
const faultOf = (from: string, target: string, base: string): string | undefined => {
  const [path, anchor] = target.split('#') as [string, string?]
  const file = path === '' ? from : posix.normalize(posix.join(base, path)).replace(/\/$/, '')
  if (!files.has(file) && !folders.has(file)) return `${target}: no such file`
  if (anchor !== undefined && (!file.endsWith('.md') || !anchors(file).has(anchor))) return `${target}: no such heading`
  return undefined
}

const brokenLinks = (path: string): readonly string[] => {
  const text = withoutFences(read(path))
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(match => {
    const target = match[1] as string
    if (/^[a-z]+:/.test(target)) return []
    const fault = faultOf(path, target, posix.dirname(path))
    return fault === undefined ? [] : [`${path}:${lineAt(text, match.index)}: ${fault}`]
  })
}

const bySuffix = new Map<string, string[]>()
for (const path of tracked) {
  const parts = path.split('/')
  for (let at = 0; at < parts.length; at++) {
    const suffix = parts.slice(at).join('/')
    bySuffix.set(suffix, [...(bySuffix.get(suffix) ?? []), path])
  }
}

/** A file named by its whole path, by its path below src or below the folder that names it, or by the end of its path. */
const isThere = (name: string, from: string): boolean =>
  [posix.dirname(from), '.', 'src', 'packages'].some(base => files.has(posix.normalize(posix.join(base, name)))) ||
  (bySuffix.get(name) ?? []).length > 0

const NAME = /(?<![\w@$.{}/-])((?:[\w.-]+\/)*[\w-][\w.-]*\.(?:ts|sol|md|mjs|wasm))(?:#([\w-]+))?(?![\w/*-])/g
/** Names of files that users have, not this repository. */
const FOREIGN = new Set(['hardhat.config.ts', 'x.ts', 'a.ts', 'index.ts', 'page.md'])

const brokenNames = (path: string, text: string, offset = 0): readonly string[] =>
  [...text.matchAll(NAME)].flatMap(match => {
    const name = match[1] as string
    const at = `${path}:${lineAt(text, match.index) + offset}`
    if (FOREIGN.has(posix.basename(name)) || name.startsWith('.')) return []
    if (!isThere(name, path)) return [`${at}: ${name}: no such file`]
    const anchor = match[2]
    if (anchor === undefined || !name.endsWith('.md')) return []
    const fault = faultOf(path, `${name}#${anchor}`, '.')
    return fault === undefined ? [] : [`${at}: ${fault}`]
  })

/** Names between backticks. */
const namesOfDocument = (path: string): readonly string[] => {
  const text = withoutFences(read(path))
  return [...text.matchAll(/`([^`\n]+)`/g)].flatMap(match =>
    /[\s{}<>*$]/.test(match[1] as string) ? [] : brokenNames(path, match[1] as string, lineAt(text, match.index) - 1),
  )
}

/** Comments, strings, templates and regular expressions, in the order they are tried. */
const TOKEN =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`|(?<=[=(,:[!&|?{};\n]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/g

const commentsOf = (text: string): readonly { readonly text: string; readonly line: number }[] =>
  [...text.matchAll(TOKEN)]
    .filter(([token]) => token.startsWith('//') || token.startsWith('/*'))
    .map(match => ({ text: match[0], line: lineAt(text, match.index) }))

const namesOfCode = (path: string): readonly string[] =>
  commentsOf(read(path)).flatMap(({ text, line }) => brokenNames(path, text, line - 1))

/** Pages outside this repository. */
const OUTSIDE = /\b(?:SPEC|DESIGN|HOUSE)(?:\.md)?\b(?!_)|\breference\/[a-z-]+\.md/
const citedOutside = (path: string): readonly string[] =>
  read(path)
    .split('\n')
    .flatMap((line, at) => (OUTSIDE.test(line) ? [`${path}:${at + 1}: ${line.trim().slice(0, 120)}`] : []))

describe('documents', () => {
  test('link to files and headings that are there', () => {
    expect(documents.length).toBeGreaterThan(20)
    expect(documents.flatMap(brokenLinks)).toEqual([])
  })

  test('name files that are there', () => {
    expect(documents.flatMap(namesOfDocument)).toEqual([])
  })

  test('every page of docs is linked from another page', () => {
    const linked = new Set(
      documents.flatMap(path =>
        [...read(path).matchAll(/\]\(([^)\s#]+)/g)].map(([, target]) =>
          posix.normalize(posix.join(posix.dirname(path), target as string)).replace(/\/$/, ''),
        ),
      ),
    )
    const isLinked = (path: string): boolean => linked.has(path) || linked.has(dirname(path))
    expect(documents.filter(path => path.startsWith('docs/') && !isLinked(path))).toEqual([])
  })
})

describe('code', () => {
  test('names files and headings that are there', () => {
    expect(code.length).toBeGreaterThan(500)
    expect(code.flatMap(namesOfCode)).toEqual([])
  })

  test('cites only what stands in this repository', () => {
    expect([...code, ...documents].flatMap(citedOutside)).toEqual([])
  })
})

describe('the check itself', () => {
  test.each([
    ['a missing file', 'see util/nothing-there.ts', /no such file/],
    ['a missing heading', 'docs/design/money.md#no-such-heading', /no such heading/],
  ])('finds %s', (_, text, expected) => {
    expect(brokenNames('src/rules/money/fees.ts', text)).toEqual([expect.stringMatching(expected)])
  })

  test.each([
    ['a file of the same folder', 'see supply.ts'],
    ['a heading', 'docs/design/money.md#fees'],
    ['a sentence that ends', 'It stands in rules/money/fees.ts.'],
  ])('leaves %s alone', (_, text) => {
    expect(brokenNames('src/rules/money/fees.ts', text)).toEqual([])
  })
})
