import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Node, parse } from 'acorn'
import { isSafePattern } from 'redos-detector'

/*
 * Finds regular expressions in the product and devtools that may backtrack, since any text may be an attacker's. `npm run check` runs it. A pattern passes
 * when the number of ways in which it can fail on a text does not grow with the text; one that is made at run time does not pass at all.
 */

/** Ways to fail that are a constant number and still no harm, such as those of `\d{1,5}`. */
const MOST_WAYS = 50
/** Of the search for two of them; a pattern that takes more is not understood, and does not pass. */
const MOST_STEPS = 2_000

/** A literal, or the place where a pattern is made from text. */
type Found =
  | { readonly line: number; readonly pattern: string; readonly flags: string }
  | { readonly line: number; readonly made: string }

/** Methods of strings that make a pattern of a string. */
const MAKERS = new Set(['match', 'matchAll', 'search'])

interface Literal {
  readonly type: 'Literal'
  readonly value: unknown
  readonly regex?: { readonly pattern: string; readonly flags: string }
}
interface Call {
  readonly callee: { readonly type: string; readonly name?: string; readonly property?: { readonly name?: string } }
  readonly arguments: readonly Node[]
}

const isText = (node: Node | undefined): boolean =>
  node?.type === 'TemplateLiteral' || (node?.type === 'Literal' && typeof (node as Node & Literal).value === 'string')

/** Expressions found in one node of the syntax tree, without its children. */
const foundIn = (node: Node, line: number): Found | undefined => {
  if (node.type === 'Literal') {
    const { regex } = node as Node & Literal
    return regex && { line, ...regex }
  }
  if (node.type === 'Identifier' && (node as Node & { name: string }).name === 'RegExp') return { line, made: 'RegExp' }
  if (node.type !== 'CallExpression') return undefined
  const { callee, arguments: args } = node as Node & Call
  const method = callee.property?.name ?? ''
  return MAKERS.has(method) && isText(args[0]) ? { line, made: `${method} with text` } : undefined
}

const childrenOf = (node: Node): readonly Node[] =>
  Object.values(node)
    .flat()
    .filter((child): child is Node => typeof child === 'object' && child !== null && 'type' in child)

const regexpsOf = (source: string): readonly Found[] => {
  // Types become blanks, so that lines and columns stay.
  const tree = parse(stripTypeScriptTypes(source), { ecmaVersion: 'latest', sourceType: 'module', locations: true })
  const found: Found[] = []
  const waiting: Node[] = [tree]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    const one = foundIn(node, node.loc?.start.line ?? 0)
    if (one !== undefined) found.push(one)
    waiting.push(...childrenOf(node))
  }
  return found.sort((a, b) => a.line - b.line)
}

const problemOf = (found: Found): string | undefined => {
  if ('made' in found) return `${found.made} makes a pattern at run time, which nothing has checked: write a literal`
  const { pattern, flags } = found
  const { safe } = isSafePattern(pattern, {
    caseInsensitive: flags.includes('i'),
    dotAll: flags.includes('s'),
    multiLine: flags.includes('m'),
    unicode: flags.includes('u'),
    maxScore: MOST_WAYS,
    maxSteps: MOST_STEPS,
  })
  return safe ? undefined : `/${pattern}/${flags} may backtrack: anchor it, make its parts exclude each other, or scan`
}

/** `line: problem` for each regular expression of a TypeScript source that may backtrack. */
export const problemsOf = (source: string): readonly string[] =>
  regexpsOf(source).flatMap(found => {
    const problem = problemOf(found)
    return problem === undefined ? [] : [`${found.line}: ${problem}`]
  })

const ROOT = fileURLToPath(new URL('..', import.meta.url))

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // AssemblyScript has no regular expressions.
  const files = globSync('{src,packages,devtools}/**/*.ts', { cwd: ROOT }).filter(path => !path.includes('assembly'))
  const problems = files
    .sort()
    .flatMap(path =>
      problemsOf(readFileSync(join(ROOT, path), 'utf8')).map(problem => `${relative('.', path)}:${problem}`),
    )
  for (const problem of problems) console.log(problem)
  process.exitCode = problems.length > 0 || files.length === 0 ? 1 : 0
}
