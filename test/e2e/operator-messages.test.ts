import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run, tandem } from '../support/command.ts'
import { Committee } from '../support/committee.ts'
import { eventually, LAUNCHER, ROOT, spawnNode } from '../support/node-process.ts'

/* What a person reads when something is set up wrongly: each message of a real process. */

let dir: string
let genesis: string
let hash: string
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'tandem-messages-'))
  ;({ path: genesis, hash } = await newGenesis('genesis.json', '5'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const VALIDATOR = `0x${'77'.repeat(20)}`

const newGenesis = async (name: string, tokens: string): Promise<{ path: string; hash: string }> => {
  const path = join(dir, name)
  const made = await tandem([
    ...['genesis', 'new', '--network', 'devnet', '--out', path, '--json', '--timestamp', '1735689600'],
    ...['--validator', VALIDATOR, '--fund', `0x${'11'.repeat(20)}=${tokens}`],
  ])
  if (made.code !== 0) throw new Error(made.stderr)
  return { path, hash: (JSON.parse(made.stdout) as { genesisHash: string }).genesisHash }
}

const start = (genesisFile: string, dataDir: string): string[] => [
  ...['start', '--network', 'devnet', '--genesis', genesisFile, '--datadir', dataDir],
  ...['--port', '0', '--operator-port', '0'],
]

describe('paths that cannot be used', () => {
  test('a data folder that cannot be made ends the command before it asks for a password', async () => {
    const file = join(dir, 'file')
    writeFileSync(file, '')
    const keystore = join(dir, 'keystore')
    const made = await tandem(['key', 'new', '--keystore', keystore, '--json'], { env: { TANDEM_PASSWORD: 'pw' } })
    expect(made.code, made.stderr).toBe(0)
    const { path } = JSON.parse(made.stdout) as { path: string }
    const failed = await tandem([...start(genesis, join(file, 'data')), '--validator-key', path])
    expect(failed).toMatchObject({ code: 1, stdout: '' })
    expect(failed.stderr).toBe(`tandem: --datadir: ${join(file, 'data')} cannot be used: not a directory.\n`)
  })

  // A recursive mkdir of the platform never ends there.
  test.runIf(process.platform === 'linux').each([
    ['--datadir: ', (): string[] => [...start(genesis, '/proc/tandem/data')]],
    ['', (): string[] => ['key', 'new', '--keystore', '/proc/tandem/data']],
  ])('%sa folder that its file system never takes ends the command at once', async (option, args) => {
    const failed = await tandem(args(), { env: { TANDEM_PASSWORD: 'pw' } })
    expect(failed).toMatchObject({ code: 1, stdout: '' })
    expect(failed.stderr).toBe(
      `tandem: ${option}The folder /proc/tandem cannot be made: its file system takes none there. Name another.\n`,
    )
  })

  test.each([
    [
      'a folder that is not there',
      ['nowhere', 'state'],
      /^tandem: --state: .*nowhere cannot be used: no such file or directory\.\n$/,
    ],
    ['a folder instead of a file', ['.'], /^tandem: --state: .* is no file\.\n$/],
  ])('--state is checked at the start: %s', async (_, path, text) => {
    const failed = await tandem(['devnet', '--port', '0', '--state', join(dir, ...path)], { timeoutMs: 60_000 })
    expect(failed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(text) })
  })

  test.each([
    ['start', (): string[] => [...start(genesis, join(dir, 'solc')), '--explorer']],
    ['devnet', (): string[] => ['devnet', '--port', '0']],
    ['explorer', (): string[] => ['explorer', '--node', 'ws://127.0.0.1:1', '--datadir', join(dir, 'solc-explorer')]],
  ])('--solc-dir and --explorer-labels are checked at the start: %s', async (_, args) => {
    const nowhere = join(dir, 'nowhere')
    const failed = await tandem([...args(), '--solc-dir', nowhere], { timeoutMs: 60_000 })
    expect(failed).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `tandem: --solc-dir: ${nowhere} cannot be read: no such file or directory.\n`,
    })
    const labels = join(dir, 'labels.json')
    writeFileSync(labels, '{"0x12": "short"}')
    const refused = await tandem([...args(), '--explorer-labels', labels], { timeoutMs: 60_000 })
    expect(refused).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `tandem: --explorer-labels: ${labels}: 0x12 is no address. Correct it (docs/explorer.md), or leave the option out.\n`,
    })
  })
})

test('the data folder of another chain: both hashes are those of a genesis file', async () => {
  const other = await newGenesis('other.json', '6')
  expect(other.hash).not.toBe(hash)
  const dataDir = join(dir, 'data')
  const node = spawnNode(start(genesis, dataDir))
  expect((await node.ready).genesisHash).toBe(hash)
  await node.end('SIGTERM')
  const failed = await tandem([...start(other.path, dataDir), '--p2p-port', '0'])
  expect(failed.code).toBe(1)
  expect(failed.stderr).toContain(`holds a chain with genesis ${hash}, the options given make genesis ${other.hash}.`)
})

test('a node that listens at every address publishes none of them', async () => {
  const node = spawnNode([...start(genesis, join(dir, 'wild')), '--p2p-host', '0.0.0.0', '--p2p-port', '0'])
  const { peer } = await node.ready
  expect(peer).toMatch(/^tandem:\/\/[0-9a-f]{64}@127\.0\.0\.1:\d+$/)
  await node.end('SIGTERM')
})

test('a wrong genesis file is a warning and the reason in /health, with both hashes', async () => {
  const committee = await Committee.open(1, 0.5)
  const [validator] = committee.nodes
  if (validator === undefined) throw new Error('a committee has a node')
  await committee.start()
  const lost = spawnNode([...start(genesis, join(dir, 'lost')), '--peers', validator.url])
  const { http } = await lost.ready
  const { genesisHash } = validator.ready
  const reason = await eventually('the reason', async () => {
    const response = await fetch(`${http}/health`)
    expect(response.status).toBe(503)
    const { reason } = (await response.json()) as { reason: string }
    return reason.includes('genesis') ? reason : undefined
  })
  expect(reason).toContain(`the genesis of this node is ${hash}, that of its peers ${genesisHash}`)
  const warnings = lost
    .stderr()
    .split('\n')
    .filter(line => line.includes('the genesis hashes differ'))
  expect(warnings.map(line => JSON.parse(line))).toMatchObject([{ level: 'warn', genesis: hash, theirs: genesisHash }])
  const health = await fetch(`${validator.ready.http}/health`)
  expect(health.status, 'a lone validator needs no peers').toBe(200)
  await lost.end('SIGTERM')
  await committee.close()
})

test('the loop of docs/localnet.md ends with the status of a localnet that fails', async () => {
  const page = readFileSync(join(ROOT, 'docs/localnet.md'), 'utf8')
  const script = /^ {4}tandem localnet --port 0 --json[\s\S]*?jq -r \.http\)$/m.exec(page)?.[0]
  if (script === undefined) throw new Error('the page shows the loop')
  const failing = `tandem() { node '${LAUNCHER}' "$@" --datadir /dev/null/x; }\n`
  const ended = await run('bash', ['-ec', failing + script], { cwd: dir })
  expect(ended.code).toBe(1)
  expect(ended.stderr).toContain('tandem: ')
})
