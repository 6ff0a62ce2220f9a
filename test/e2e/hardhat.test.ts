import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { copyProject, run } from '../support/command.ts'
import { type RunningNode, startDevnet } from '../support/devnet.ts'

/** hardhat loads its own EVM at start, also when it only talks to a node; npm under Node 20 leaves the binary out. */
const missingBinary = (): string | undefined => {
  try {
    createRequire(import.meta.url)('@nomicfoundation/edr')
    return undefined
  } catch (error) {
    return (error as Error).message.split('\n')[0]
  }
}
const missing = missingBinary()

if (missing !== undefined) {
  // Listed with its reason, and not green: a developer on such a platform knows what was not run.
  test.skip(`hardhat 3, not run: no binary of @nomicfoundation/edr for ${process.platform}-${process.arch}`)
}

// The node's compiler has a low priority: a busy machine leaves it little time.
const VERIFYING = { timeout: 600_000 }

describe.runIf(missing === undefined)('hardhat 3 over RPC', VERIFYING, () => {
  let node: RunningNode
  let dir: string
  let env: NodeJS.ProcessEnv

  const hardhat = (...args: string[]): Promise<string> => hardhatOn(env, ...args)
  const hardhatOn = async (env: NodeJS.ProcessEnv, ...args: string[]): Promise<string> => {
    const cli = join(dir, 'node_modules', 'hardhat', 'dist', 'src', 'cli.js')
    const { code, stdout, stderr } = await run(process.execPath, [cli, ...args], { cwd: dir, env })
    if (code !== 0) throw new Error(`hardhat ${args.join(' ')} ended with ${code}\n${stdout}\n${stderr}`)
    return stdout
  }

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'tandem-hardhat-'))
    copyProject('hardhat', dir)
    node = await startDevnet(['--block-time', '0.1'])
    env = {
      TANDEM_URL: node.http,
      TANDEM_KEYS: node.accounts.map(({ privateKey }) => privateKey).join(','),
      TANDEM_CHAIN_ID: String(node.chainId),
      HARDHAT_DISABLE_TELEMETRY: 'true',
      HARDHAT_IGNITION_CONFIRM_DEPLOYMENT: 'false',
      // Its compiler list and settings.
      HOME: dir,
      XDG_CACHE_HOME: join(dir, '.cache'),
      XDG_CONFIG_HOME: join(dir, '.config'),
      XDG_DATA_HOME: join(dir, '.data'),
      NO_COLOR: '1',
    }
  })
  afterAll(async () => {
    await node?.stop()
    if (dir) rmSync(dir, { recursive: true, force: true })
  })

  test('compiles with the npm compiler, downloading none', async () => {
    expect(await hardhat('build')).toContain('Compiled 1 Solidity file with solc 0.8.37')
    expect(existsSync(join(dir, '.cache', 'hardhat-nodejs', 'compilers-v3'))).toBe(false)
  })

  test('deploys through ignition, and remembers it', async () => {
    const deploy = ['ignition', 'deploy', 'ignition/modules/Vault.ts', '--network', 'tandem']
    expect(await hardhat(...deploy)).toMatch(/successfully deployed/)
    const folder = join(dir, 'ignition', 'deployments', `chain-${node.chainId}`)
    expect(readdirSync(folder)).toContain('deployed_addresses.json')
    const addresses = JSON.parse(readFileSync(join(folder, 'deployed_addresses.json'), 'utf8')) as Record<string, Hex>
    expect(await node.rpc('eth_getCode', [addresses['Vault#Vault'], 'latest'])).not.toBe('0x')
    expect(await node.rpc('eth_getBalance', [addresses['Vault#Vault'], 'latest'])).toBe('0x1388')
    // Once more: nothing is left to do, so nothing is sent.
    const nonce = () => node.rpc('eth_getTransactionCount', [node.accounts[0]?.address, 'pending'])
    const before = await nonce()
    expect(await hardhat(...deploy)).toMatch(/previously deployed|Nothing new to deploy/i)
    expect(await nonce()).toBe(before)
  })

  test('verifies what ignition deployed: a library, and a contract with a link, immutables and an argument', async () => {
    const file = join(dir, 'ignition', 'deployments', `chain-${node.chainId}`, 'deployed_addresses.json')
    const addresses = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Hex>
    const [vault, shares] = [addresses['Vault#Vault'] as Hex, addresses['Vault#Shares'] as Hex]
    const verify = (by: string, ...args: string[]) => hardhat('verify', by, '--network', 'tandem', ...args)
    const status = async (address: Hex) => (await fetch(`${node.http}/api/contracts/${address}/verify`)).json()
    await expect(verify('etherscan', vault, '1001')).rejects.toThrow(/wrong constructor arguments/)
    expect(await status(vault)).toMatchObject({ verified: false })
    expect(await verify('etherscan', vault, '1000')).toMatch(/verified successfully/i)
    expect(await status(vault)).toMatchObject({ match: 'exact', constructorArguments: `0x${'3e8'.padStart(64, '0')}` })
    expect(await verify('blockscout', shares)).toMatch(/verified successfully/i)
    expect(await status(shares)).toMatchObject({ match: 'exact', name: 'Shares' })
  })

  test('runs a suite written for hardhat with its network helpers', async () => {
    const own = await startDevnet(['--block-time', '0', '--client-name', 'hardhat', '--unlock'])
    try {
      expect(await own.rpc('web3_clientVersion')).toMatch(/^HardhatNetwork\/tandem\//)
      const output = await hardhatOn(
        { ...env, TANDEM_URL: own.http },
        'run',
        'test/helpers.ts',
        '--network',
        'unlocked',
      )
      expect(output).toContain('pass 6')
      expect(output).toContain('fail 0')
    } finally {
      await own.stop()
    }
  })

  test("runs a project's test against the node", async () => {
    const output = await hardhat('run', 'test/vault.ts', '--network', 'tandem')
    expect(output).toContain('pass 3')
    expect(output).toContain('fail 0')
  })
})
