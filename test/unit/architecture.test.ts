import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

/*
 * docs/architecture.md#floors as data: which folder may import which, who may use a package, what a pure core must not touch. Sources are read
 * without comments and strings, so that prose never counts as code.
 */

const FLOORS: readonly (readonly string[])[] = [
  ['base'],
  ['config'],
  ['crypto', 'metrics', 'web'],
  ['primitives'],
  ['storage', 'rules'],
  ['state'],
  ['consensus', 'powchain', 'txpool', 'evm', 'network'],
  ['chain'],
  ['rpc', 'faucet'],
  ['node'],
  ['devnet'],
  ['cli'],
  ['devtools'],
  ['explorer'],
]

/** Packages of this repository (packages/NAME, imported as @tandem/NAME): the first folder of their paths below. */
const OWN_PACKAGES: readonly string[] = ['base', 'web', 'explorer']

/** Folders of a program of its own, which imports packages alone and is imported by nothing. */
const PROGRAMS: readonly string[] = ['explorer']

/** Deciders of validity: they read the parameters of the chain and config/protocol-bounds.ts, and no tuning of this node. */
const RULES = /^(rules|primitives)\//
/** Formats of files of this node. */
const FILE_FORMATS = ['primitives/consensus/signing-record.ts']

/** Synchronous and deterministic: time and chance come in with the input. */
const PURE = [
  'rules/',
  'primitives/',
  'consensus/core/core.ts',
  'consensus/core/',
  'powchain/core.ts',
  'powchain/core/',
  'powchain/stratum/core/',
  'txpool/pool.ts',
  'chain/sync/range-plan.ts',
  'chain/sync/sync-target.ts',
  'txpool/pool/',
  'network/core/',
  'network/wire/',
]

const IMPURE: readonly (readonly [RegExp, string])[] = [
  [/\bDate\b/, 'Date'],
  [/\bset(Timeout|Interval|Immediate)\b|\bqueueMicrotask\b/, 'a timer'],
  [/\bMath\s*\.\s*random\b|\bgetRandomValues\b|\brandomUUID\b/, 'randomness'],
  [/\bperformance\b|\bhrtime\b/, 'a clock'],
  [/\basync\b|\bawait\b|\bPromise\b/, 'a promise'],
  [/\bprocess\b|\bfetch\b/, 'the process'],
]

/**
 * Folders that may import each package; a name ending in / stands for a scope. Our precompiles still have EthereumJS' types, forks and
 * some of its functions.
 */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  'classic-level': ['storage'],
  'memory-level': ['storage'],
  '@fastify/proxy-addr': ['rpc'],
  'forwarded-parse': ['rpc'],
  jose: ['rpc'],
  fastify: ['rpc', 'explorer', 'faucet', 'metrics', 'node', 'web'],
  ws: ['rpc', 'explorer'],
  pg: ['explorer'],
  'pg-copy-streams': ['explorer'],
  pino: ['node'],
  'pino-pretty': ['node'],
  commander: ['cli', 'devtools'],
  'smol-toml': ['cli'],
  'prom-client': ['metrics'],
  secp256k1: ['crypto'],
  'mcl-wasm': ['crypto'],
  '@chainsafe/': ['crypto'],
  'micro-eth-signer': ['crypto'],
  'micro-eth-signer/abi.js': ['evm', 'node'],
  '@bitauth/': ['crypto'],
  '@node-rs/': ['crypto'],
  '@noble/': ['crypto', 'evm'],
  '@scure/': ['crypto', 'devnet'],
  '@ethereumjs/': ['evm/engines/ethereumjs'],
}

const MAX_LINES = 500

const floorOf = (folder: string): number => FLOORS.findIndex(folders => folders.includes(folder))

interface Import {
  readonly specifier: string
  readonly line: number
}

/** Paths as the floors have them, with their text; returns one line for each offence. */
const violations = (files: ReadonlyMap<string, string>): readonly string[] =>
  [...files].flatMap(([path, text]) => {
    return [
      ...checkPlace(path, text),
      ...importsOf(withoutComments(text)).flatMap(found => checkImport(path, found)),
      ...checkPurity(path, codeOnly(text)),
      ...checkPrivate(path, codeOnly(text), withoutComments(text)),
    ]
  })

const checkPlace = (path: string, text: string): readonly string[] => {
  const offences: string[] = []
  const [folder, ...rest] = path.split('/')
  if (rest.length === 0 || floorOf(folder as string) < 0)
    offences.push(`${path}: stands in no folder of docs/architecture.md`)
  if (/(^|\/)index\.ts$/.test(path)) offences.push(`${path}: no index.ts: import from the file that defines the thing`)
  const lines = text.split('\n').length - 1
  if (lines >= MAX_LINES) offences.push(`${path}: ${lines} lines: a file has fewer than ${MAX_LINES}`)
  return offences
}

const checkImport = (path: string, { specifier, line }: Import): readonly string[] => {
  const at = `${path}:${line}`
  const folder = path.split('/')[0] as string
  if (specifier.startsWith('node:')) {
    return isPure(path) ? [`${at}: a pure core imports ${specifier}`] : []
  }
  if (!specifier.startsWith('.') && !specifier.startsWith(OWN_SCOPE)) return checkPackage(at, folder, specifier)
  if (!/\.(ts|json)$/.test(specifier)) return [`${at}: a relative import ends in .ts: ${specifier}`]
  const target = targetOf(path, specifier)
  if (/\.json$/.test(specifier)) return []
  if (RULES.test(path) && target.startsWith('config/limits/') && !FILE_FORMATS.includes(path))
    return [`${at}: a rule reads tuning of this node: ${specifier}`]
  const targetFolder = target.split('/')[0] as string
  if (targetFolder === folder) return []
  if (PROGRAMS.includes(targetFolder)) return [`${at}: imports the program ${targetFolder}`]
  if (PROGRAMS.includes(folder) && !OWN_PACKAGES.includes(targetFolder))
    return [`${at}: a program of its own imports src: ${specifier}`]
  if (OWN_PACKAGES.includes(targetFolder) !== specifier.startsWith(OWN_SCOPE))
    return [`${at}: a package is imported by its name: ${specifier}`]
  const targetFloor = floorOf(targetFolder)
  if (targetFloor < 0) return [`${at}: imports from outside src: ${specifier}`]
  if (targetFloor < floorOf(folder)) return []
  return [`${at}: ${folder} (floor ${floorOf(folder)}) imports ${targetFolder} (floor ${targetFloor})`]
}

const OWN_SCOPE = '@tandem/'

/** Path of an imported file as the floors have it. */
const targetOf = (path: string, specifier: string): string =>
  specifier.startsWith(OWN_SCOPE)
    ? specifier.slice(OWN_SCOPE.length)
    : onFloors(resolve(path.startsWith('devtools/') ? '/' : '/src', dirname(path), specifier))

/** Files of src and packages begin with their folder there, those of devtools with `devtools`; others have their whole path. */
const onFloors = (path: string): string => path.replace(/^\/(?:src\/|packages\/|(?=devtools\/))/, '')

const checkPackage = (at: string, folder: string, specifier: string): readonly string[] => {
  const known = Object.keys(PACKAGES).find(name =>
    name.endsWith('/') ? specifier.startsWith(name) : specifier === name,
  )
  if (known === undefined) return [`${at}: package ${specifier} is in nobody's list`]
  const isAllowed = PACKAGES[known]?.some(place => at.startsWith(`${place}/`))
  return isAllowed ? [] : [`${at}: ${folder} may not use ${specifier}`]
}

const isPure = (path: string): boolean =>
  PURE.some(prefix => path === prefix || (prefix.endsWith('/') && path.startsWith(prefix)))

const checkPurity = (path: string, code: string): readonly string[] =>
  isPure(path)
    ? IMPURE.filter(([pattern]) => pattern.test(code)).map(([, what]) => `${path}: a pure core uses ${what}`)
    : []

/** Members of Node.js that its documentation does not have, however they are reached, and methods of its streams that are replaced. */
const PRIVATE_MEMBER =
  /\._[a-zA-Z]|\[\s*['"`]_[a-zA-Z]|\b_(?:readable|writable)State\b|\b_(?:handle|httpMessage|paused)\b/
const REPLACED_METHOD =
  /\b(?:socket|request|response|stream|server)\??\.(?:push|read|write|end|on|emit|pause|resume)\s*=(?!=)/i
const INTERNALS = /\bprocess\s*\.\s*binding\b|['"]--expose-internals['"]/

/** Files that name such members of abstract-level and EthereumJS, which implementations of their interfaces have. */
const OF_LIBRARIES = /^(storage\/batch\.ts|evm\/engines\/(precompiles|ethereumjs)\/)/

const checkPrivate = (path: string, code: string, text: string): readonly string[] =>
  !OF_LIBRARIES.test(path) &&
  (PRIVATE_MEMBER.test(code) || PRIVATE_MEMBER.test(text) || REPLACED_METHOD.test(code) || INTERNALS.test(text))
    ? [`${path}: touches a private member`]
    : []

/** Static and dynamic imports, type imports, re-exports, workers' and assets' `new URL('./x', import.meta.url)`. */
const IMPORT =
  /(?:(?<!['"])\bfrom\s*|(?<!['"])\bimport\s*\(?\s*)(['"])([^'"\n]+)\1|\bnew\s+URL\(\s*(['"])(\.[^'"\n]+\.ts)\3/g

const importsOf = (source: string): readonly Import[] =>
  [...source.matchAll(IMPORT)].map(match => ({
    specifier: (match[2] ?? match[4]) as string,
    line: source.slice(0, match.index).split('\n').length,
  }))

/** Comments and templates become blanks, strings are kept (an import has one), lines stay where they are. */
const withoutComments = (text: string): string =>
  text.replace(TOKEN, token => (/^(\/\/|\/\*|`)/.test(token) ? blanks(token) : token))

/** Code alone; what a template interpolates is code. */
const codeOnly = (text: string): string =>
  text.replace(TOKEN, token => {
    if (token.startsWith('//') || token.startsWith('/*')) return blanks(token)
    return token.startsWith('`') ? (token.match(/\$\{[^}]*\}/g) ?? []).join(' ') : '""'
  })

/** Comments, strings, templates and regular expressions, in the order they are tried. */
const TOKEN =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`|(?<=[=(,:[!&|?{};\n]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/g

const blanks = (token: string): string => token.replace(/[^\n]/g, ' ')

/** Imports and re-exports that load with the file or later, or that its types need; workers are another program. */
const RELATIVE_IMPORT =
  /\b(?:import|export)\b[^;'"]*?\bfrom\s*'((?:\.|@tandem\/)[^']+)'|\bimport\s*\(?\s*'((?:\.|@tandem\/)[^']+)'/g

/** Circles of imports, types included: Tarjan's strongly connected components of more than one file. */
const circles = (files: ReadonlyMap<string, string>): readonly string[] => {
  const found: string[] = []
  const numbers = new Map<string, number>()
  const stack: string[] = []
  const targets = (path: string): readonly string[] =>
    [...withoutComments(files.get(path) as string).matchAll(RELATIVE_IMPORT)]
      .map(([, from, alone]) => targetOf(path, (from ?? alone) as string))
      .filter(target => files.has(target) && target !== path)
  /** Returns the smallest number reached. */
  const visit = (path: string): number => {
    const number = numbers.size
    let lowest = number
    numbers.set(path, number)
    stack.push(path)
    for (const target of targets(path)) {
      const known = numbers.get(target)
      if (known === undefined) lowest = Math.min(lowest, visit(target))
      else if (stack.includes(target)) lowest = Math.min(lowest, known)
    }
    if (lowest < number) return lowest
    const circle = stack.splice(stack.indexOf(path))
    if (circle.length > 1) found.push(circle.sort().join(' '))
    return lowest
  }
  for (const path of files.keys()) if (!numbers.has(path)) visit(path)
  return found
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Files of src, packages and devtools; AssemblyScript is another language and compiles by itself. */
const sources = (): ReadonlyMap<string, string> =>
  new Map(
    ['src', 'packages', 'devtools'].flatMap(top =>
      readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' })
        .filter(path => path.endsWith('.ts') && !/assembly\/|node_modules\//.test(path))
        .sort()
        .map(path => [onFloors(`/${top}/${path}`), readFileSync(join(ROOT, top, path), 'utf8')] as const),
    ),
  )

describe('architecture', () => {
  test('src keeps to the floors of docs/architecture.md', () => {
    const files = sources()
    expect(files.size).toBeGreaterThan(20)
    expect(violations(files)).toEqual([])
  })

  test('no files import each other in a circle, not even for their types', () => {
    expect(circles(sources())).toEqual([])
  })

  test('every folder of src and every package stands on a floor', () => {
    const folders = ['src', 'packages'].flatMap(top => readdirSync(join(ROOT, top), { withFileTypes: true }))
    expect(
      folders
        .filter(entry => entry.isDirectory())
        .map(entry => entry.name)
        .filter(name => floorOf(name) < 0),
    ).toEqual([])
  })
})

describe('the check itself finds planted violations', () => {
  test('a circle of types or of late imports, and no circle where two import the same', () => {
    const files = new Map([
      ['rules/a.ts', "import type { b } from './b.ts'"],
      ['rules/b.ts', "import { c } from './c.ts'"],
      ['rules/c.ts', "export type { a } from './a.ts'\nimport { d } from './d.ts'"],
      ['rules/d.ts', ''],
      ['rules/f.ts', "const { g } = await import('./g.ts')"],
      ['rules/g.ts', "import type { F } from './f.ts'"],
      ['rules/e.ts', "import { d } from './d.ts'\nimport { a } from './a.ts'"],
    ])
    expect(circles(files)).toEqual(['rules/a.ts rules/b.ts rules/c.ts', 'rules/f.ts rules/g.ts'])
  })

  const planted = (path: string, source: string) => violations(new Map([[path, source]]))

  test.each([
    [
      'a higher floor',
      'base/a.ts',
      "import { x } from '../chain/chain.ts'",
      /base \(floor 0\) imports chain \(floor 7\)/,
    ],
    ['a package by its path', 'web/a.ts', "import { x } from '../base/a.ts'", /by its name/],
    ['a package above', 'base/a.ts', "import { x } from '@tandem/web/a.ts'", /base \(floor 0\) imports web/],
    ['its own floor', 'evm/a.ts', "import type { x } from '../txpool/pool.ts'", /evm \(floor 6\) imports txpool/],
    ['over several lines', 'state/a.ts', "import {\n  x,\n} from '../rpc/x.ts'", /state\/a\.ts:3: state/],
    ['a dynamic import', 'rules/a.ts', "const x = import('../evm/x.ts')", /rules \(floor 4\) imports evm/],
    ['src in the explorer', 'explorer/a.ts', "import { x } from '../../src/config/a.ts'", /program of its own/],
    ['the explorer', 'cli/a.ts', "import { x } from '@tandem/explorer/a.ts'", /imports the program explorer/],
    ['devtools', 'cli/a.ts', "import { x } from '../../devtools/a.ts'", /cli \(floor 11\) imports devtools/],
    ['a test from devtools', 'devtools/a.ts', "import { x } from '../test/a.ts'", /outside src/],
    ['a worker', 'state/a.ts', "new URL('../node/x.ts', import.meta.url)", /state \(floor 5\) imports node/],
    ['a re-export', 'crypto/a.ts', "export { x } from '../storage/x.ts'", /crypto \(floor 2\) imports storage/],
    ['tuning in a rule', 'rules/a.ts', "import { x } from '../config/limits/pool.ts'", /reads tuning/],
    ['no extension', 'rpc/a.ts', "import { x } from '../chain/chain'", /ends in \.ts/],
    ['outside src', 'rpc/a.ts', "import { x } from '../../test/x.ts'", /outside src/],
    ['a package of others', 'chain/a.ts', "import fastify from 'fastify'", /chain may not use fastify/],
    ['EthereumJS elsewhere', 'evm/block/a.ts', "import '@ethereumjs/vm'", /evm may not use @ethereumjs/],
    ['a package of nobody', 'chain/a.ts', "import x from 'left-pad'", /nobody's list/],
    ['a stray file', 'a.ts', '', /no folder/],
    ['an unknown folder', 'misc/a.ts', '', /no folder/],
    ['a barrel', 'rpc/index.ts', '', /no index\.ts/],
    ['a long file', 'rpc/a.ts', '\n'.repeat(500), /500 lines/],
    ['the clock', 'rules/a.ts', 'const now = Date.now()', /uses Date/],
    ['a clock in a template', 'rules/a.ts', `const now = \`\${Date.now()}\``, /uses Date/],
    ['a timer', 'txpool/pool.ts', 'setTimeout(f, 1)', /uses a timer/],
    ['chance', 'consensus/core/a.ts', 'Math.random()', /uses randomness/],
    ['a promise', 'primitives/a.ts', 'export const f = async () => 1', /uses a promise/],
    ['a private member', 'rpc/a.ts', 'socket._handle.readStop()', /private member/],
    ['a private member by its name', 'rpc/a.ts', "socket['_handle']", /private member/],
    ['a private member in a pattern', 'rpc/a.ts', 'const { _readableState: state } = stream', /private member/],
    ['a replaced method', 'rpc/a.ts', 'socket.push = chunk => false', /private member/],
    ['internals', 'rpc/a.ts', 'process.binding(x)', /private member/],
    ['input and output', 'rules/a.ts', "import { readFileSync } from 'node:fs'", /pure core imports node:fs/],
  ])('%s', (_, path, source, expected) => {
    expect(planted(path, source)).toEqual([expect.stringMatching(expected)])
  })

  test.each([
    ['a comment', 'rules/a.ts', "// import { x } from '../chain/x.ts' at a Date, async\n/* setTimeout */"],
    ['a string that says from', 'rpc/a.ts', "f('from', x, g('to'))"],
    ['a template', 'rpc/a.ts', `const text = \`"from":"\${x}"\``],
    ['a string', 'rules/a.ts', "const text = 'no Date here, await nothing'"],
    ['a quote in a regular expression', 'rules/a.ts', 'const quote = /\'/\nconst other = "Date\'"'],
    ['a lower floor', 'rules/a.ts', "import { x } from '../primitives/x.ts'"],
    ['a package', 'rules/a.ts', "import { x } from '@tandem/base/a.ts'"],
    ['src in devtools', 'devtools/sim/a.ts', "import { x } from '../../src/cli/x.ts'\nimport '../b.ts'"],
    ['its own folder', 'rules/a.ts', "import { x } from './x.ts'"],
    [
      'a private member of ours, and a comparison',
      'rpc/a.ts',
      'this.#handle === socket.push\nconst f = (_handler: X) => x[_y]',
    ],
    ['a clock in a shell', 'chain/a.ts', 'const now = Date.now()'],
  ])('and leaves %s alone', (_, path, source) => {
    expect(planted(path, source)).toEqual([])
  })
})
