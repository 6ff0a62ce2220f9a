import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run, writeSolcWrapper } from '../support/command.ts'
import { startCompilerSite } from '../support/compiler-site.ts'
import { type RunningNode, startDevnet } from '../support/devnet.ts'
import { findFoundry } from '../support/foundry.ts'
import { ROOT } from '../support/node-process.ts'

/*
 * Projects as `forge init` and `hardhat --init` make them, unchanged, on a devnet without options. Placed by hand, as no other site can be
 * reached: forge-std (test/e2e/projects/forge-std, the few functions that these projects call), which forge clones from a git repository in the
 * temporary folder; the compiler, from a site on loopback; the packages that hardhat would let npm install.
 */

const FORGE_STD = join(ROOT, 'test', 'e2e', 'projects', 'forge-std')
const COUNTER = { number: '0x8381f58a', increment: '0xd09de08a', x: '0x0c55699c' } as const

const foundry = findFoundry()
const forge = 'found' in foundry ? foundry.found.forge : ''
if ('missing' in foundry) test.skip(`forge init, not run: ${foundry.missing}`)

let temporary: string
let site: Awaited<ReturnType<typeof startCompilerSite>>
let node: RunningNode
let env: NodeJS.ProcessEnv

const succeed = async (program: string, args: readonly string[], cwd: string, extra: NodeJS.ProcessEnv = {}) => {
  const { code, stdout, stderr } = await run(program, args, { cwd, env: { ...env, ...extra } })
  expect(code, `${args.join(' ')}\n${stdout}\n${stderr}`).toBe(0)
  return stdout
}
const call = (to: Hex, data: Hex): Promise<Hex> => node.rpc('eth_call', [{ to, data }, 'latest'])
const word = (value: number): Hex => `0x${value.toString(16).padStart(64, '0')}`

beforeAll(async () => {
  temporary = mkdtempSync(join(tmpdir(), 'tandem-default-'))
  site = await startCompilerSite(temporary, writeSolcWrapper(temporary))
  node = await startDevnet()
  env = {
    ...site.env,
    HOME: temporary,
    XDG_CACHE_HOME: join(temporary, '.cache'),
    XDG_CONFIG_HOME: join(temporary, '.config'),
    XDG_DATA_HOME: join(temporary, '.data'),
    NO_COLOR: '1',
  }
})
afterAll(async () => {
  await node?.stop()
  site?.close()
  if (temporary) rmSync(temporary, { recursive: true, force: true })
})

describe.runIf('found' in foundry)('project of forge init', () => {
  let dir: string
  beforeAll(async () => {
    const upstream = join(temporary, 'forge-std')
    cpSync(FORGE_STD, upstream, { recursive: true })
    writeFileSync(
      join(temporary, '.gitconfig'),
      `[user]
name = test
email = test@localhost
[protocol "file"]
allow = always
[url "${upstream}"]
insteadOf = https://github.com/foundry-rs/forge-std
`,
    )
    for (const args of [
      ['init', '-q'],
      ['add', '.'],
      ['commit', '-qm', 'forge-std'],
      ['tag', 'v1.16.2'],
    ])
      await succeed('git', args, upstream)
    await succeed(forge, ['init', 'demo'], temporary)
    dir = join(temporary, 'demo')
  })

  test('builds, and passes its tests, with its own settings', async () => {
    expect(await succeed(forge, ['build'], dir)).toMatch(/Compiler run successful/)
    expect(await succeed(forge, ['test'], dir)).toContain('2 passed; 0 failed')
    expect(await succeed(forge, ['test', '--fork-url', node.http], dir)).toContain('2 passed; 0 failed')
  })

  test('its script deploys', async () => {
    const key = ['--private-key', node.accounts[0]?.privateKey as string]
    const script = ['script', 'script/Counter.s.sol', '--rpc-url', node.http, '--broadcast', ...key]
    expect(await succeed(forge, script, dir)).toContain('ONCHAIN EXECUTION COMPLETE & SUCCESSFUL')
    const record = join(dir, 'broadcast', 'Counter.s.sol', String(node.chainId), 'run-latest.json')
    const { transactions } = JSON.parse(readFileSync(record, 'utf8')) as { transactions: { contractAddress: Hex }[] }
    const counter = transactions[0]?.contractAddress as Hex
    expect(await call(counter, COUNTER.number)).toBe(word(0))
    expect(await node.rpc('eth_estimateGas', [{ to: counter, data: COUNTER.increment }])).toMatch(/^0x/)
  })
})

describe('project of hardhat --init', () => {
  const cli = join(ROOT, 'node_modules', 'hardhat', 'dist', 'src', 'cli.js')

  /** Makes a project; npm, which it calls for its packages, is a program that only says what was asked. */
  const init = async (template: string): Promise<string> => {
    const [dir, bin] = [join(temporary, template), join(temporary, 'bin')]
    mkdirSync(bin, { recursive: true })
    writeFileSync(join(bin, 'npm'), '#!/bin/sh\necho "$@"\n', { mode: 0o755 })
    mkdirSync(dir)
    const shown = await succeed(process.execPath, [cli, '--init', '--template', template], dir, {
      PATH: `${bin}${delimiter}${process.env['PATH']}`,
    })
    expect(shown).toContain('install --save-dev')
    symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'), 'dir')
    return dir
  }
  const hardhat = (dir: string, ...args: string[]): Promise<string> =>
    succeed(process.execPath, [cli, ...args], dir, {
      HARDHAT_DISABLE_TELEMETRY: 'true',
      HARDHAT_IGNITION_CONFIRM_DEPLOYMENT: 'false',
      // Variables that the project itself names for a network over HTTP.
      SEPOLIA_RPC_URL: node.http,
      SEPOLIA_PRIVATE_KEY: node.accounts[1]?.privateKey,
    })

  beforeAll(() => {
    mkdirSync(join(temporary, 'node_modules'))
    cpSync(FORGE_STD, join(temporary, 'node_modules', 'forge-std'), { recursive: true })
  })

  test('with viem: builds, passes its tests by itself and on the devnet, and deploys', async () => {
    const dir = await init('node-test-runner-viem')
    expect(await hardhat(dir, 'build')).toContain('Compiled 2 Solidity files with solc 0.8.34 (evm target: osaka)')
    expect(await hardhat(dir, 'test')).toMatch(/5 passing/)
    expect(await hardhat(dir, 'test', 'nodejs', '--network', 'sepolia')).toMatch(/2 passing/)
    // Ignition waits for five confirmations of what its account sent before.
    await node.rpc('hardhat_mine', ['0x5'])
    await hardhat(dir, 'ignition', 'deploy', '--network', 'sepolia', 'ignition/modules/Counter.ts')
    const folder = join(dir, 'ignition', 'deployments', `chain-${node.chainId}`)
    const addresses = JSON.parse(readFileSync(join(folder, 'deployed_addresses.json'), 'utf8')) as Record<string, Hex>
    expect(await call(addresses['CounterModule#Counter'] as Hex, COUNTER.x)).toBe(word(5))
  })

  test('the minimal one builds', async () => {
    const dir = await init('minimal')
    mkdirSync(join(dir, 'contracts'))
    cpSync(join(ROOT, 'test/e2e/projects/foundry/src/Counter.sol'), join(dir, 'contracts/Counter.sol'))
    await hardhat(dir, 'build')
    expect(existsSync(join(dir, 'artifacts/contracts/Counter.sol/Counter.json'))).toBe(true)
  })
})
