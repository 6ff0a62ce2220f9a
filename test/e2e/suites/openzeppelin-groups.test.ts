import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../../support/command.ts'
import { type RunningNode, startDevnet } from '../../support/devnet.ts'
import { SUITE_FLAGS } from './flags.ts'

/** Checkout of OpenZeppelin Contracts 5.4.0, installed and compiled (docs/testing-with-tandem.md). */
const checkout = process.env['OPENZEPPELIN_SUITE']
const groups = (process.env['OPENZEPPELIN_GROUPS'] ?? 'finance,metatx,proxy').split(',')

/** Test in which a call with a value has a sender without it. */
const CALL_WITH_VALUE = 'ERC2771Forwarder executeBatch with tampered requests bubbles out of gas forced by the relayer'
/** Chains, with the titles of the tests that their documented differences fail; hardhat 2 sends more gas than Osaka's cap. */
const CHAINS = [
  {
    flags: [],
    different: new RegExp(
      `^(${CALL_WITH_VALUE}|ERC2771Forwarder execute bubbles .*relayer|RSA .*length 512 .*|ERC165Checker Return bomb .*)$`,
    ),
  },
  { flags: ['--ethereum', '--hardfork', 'prague'], different: new RegExp(`^${CALL_WITH_VALUE}$`) },
] as const

if (checkout === undefined)
  test.skip(
    "OpenZeppelin's own suite, not run: OPENZEPPELIN_SUITE names no checkout of it (docs/testing-with-tandem.md)",
  )

/** Returns the Node of the host: hardhat 2 wants version 20 or 22, and the one that runs this test is of this project. */
const hostNode = (): string => {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(folder => !folder.includes('node_modules'))
  const found = folders.map(folder => join(folder, 'node')).find(path => existsSync(path))
  if (found === undefined) throw new Error('no node in PATH for hardhat 2')
  return found
}

interface Results {
  readonly passes: readonly { readonly fullTitle: string }[]
  readonly failures: readonly { readonly fullTitle: string; readonly err: { readonly message?: string } }[]
}

describe.runIf(checkout !== undefined).each(CHAINS)("OpenZeppelin's own suite with $flags", ({ flags, different }) => {
  const folder = resolve(checkout ?? '.')
  let dir: string
  let node: RunningNode
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'tandem-suite-'))
    node = await startDevnet([
      ...SUITE_FLAGS,
      '--throw-on-revert',
      '--code-size-limit',
      '60000',
      '--execution',
      'wasm',
      ...flags,
    ])
  })
  afterAll(async () => {
    await node?.stop()
    if (dir) rmSync(dir, { recursive: true, force: true })
  })

  const testsOf = (path: string): string[] =>
    readdirSync(path)
      .map(name => join(path, name))
      .flatMap(entry => (statSync(entry).isDirectory() ? testsOf(entry) : entry.endsWith('.test.js') ? [entry] : []))

  test.each(groups)('group %s passes but for the documented differences', { timeout: 900_000 }, async group => {
    const results = join(dir, `${group}.json`)
    const config = join(dir, `${group}.config.cjs`)
    const network = { url: node.http, accounts: 'remote', timeout: 120_000 }
    const mocha = { timeout: 60_000, reporter: 'json', reporterOptions: { output: results } }
    writeFileSync(
      config,
      `const base = require(${JSON.stringify(join(folder, 'hardhat.config.js'))})
module.exports = {
  ...base,
  paths: { ...base.paths, root: ${JSON.stringify(folder)} },
  mocha: ${JSON.stringify(mocha)},
  networks: { ...base.networks, localhost: ${JSON.stringify(network)} },
}
`,
    )
    const command = ['--config', config, 'test', '--no-compile', '--network', 'localhost']
    const { stdout, stderr } = await run(
      hostNode(),
      [
        join(folder, 'node_modules', 'hardhat', 'internal', 'cli', 'bootstrap.js'),
        ...command,
        ...testsOf(join(folder, 'test', group)),
      ],
      { cwd: folder, env: { EVM: 'cancun', NODE_OPTIONS: '--max-old-space-size=4096' }, timeoutMs: 900_000 },
    )
    let found: Results
    try {
      found = JSON.parse(readFileSync(results, 'utf8')) as Results
    } catch {
      throw new Error(`hardhat wrote no results:\n${stdout}\n${stderr}`)
    }
    const missed = found.failures.filter(({ fullTitle }) => !different.test(fullTitle))
    expect(missed.map(({ fullTitle, err }) => `${fullTitle}: ${err.message}`)).toEqual([])
    expect(found.passes.length).toBeGreaterThan(10)
  })
})
