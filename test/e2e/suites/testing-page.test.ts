import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../../support/command.ts'
import { type RunningNode, startDevnet } from '../../support/devnet.ts'
import { ROOT } from '../../support/node-process.ts'
import { SUITE_FLAGS } from './flags.ts'

const page = readFileSync(join(ROOT, 'docs', 'testing-with-tandem.md'), 'utf8')

/** Returns the indented lines of a section as a user copies them, with the address of a node in place of the default one. */
const snippet = (title: string, url: string): string => {
  const section = page.split(/^## /m).find(text => text.startsWith(title))
  if (section === undefined) throw new Error(`the page has no section ${title}`)
  const lines = section.split('\n').filter(line => line.startsWith('    ') || line === '')
  return lines
    .map(line => line.slice(4))
    .join('\n')
    .replaceAll('http://127.0.0.1:8545', url)
    .replaceAll('ws://127.0.0.1:8545', url.replace('http', 'ws'))
}

/** What docs/testing-with-tandem.md gives to copy, run from an empty folder. */
describe('page on test suites', () => {
  let node: RunningNode
  let dir: string
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'tandem-page-'))
    symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'), 'dir')
    writeFileSync(join(dir, 'package.json'), '{ "type": "module", "private": true }')
    node = await startDevnet([...SUITE_FLAGS, '--execution', 'wasm'])
  })
  afterAll(async () => {
    await node?.stop()
    if (dir) rmSync(dir, { recursive: true, force: true })
  })

  const succeed = async (args: readonly string[]): Promise<string> => {
    const env = {
      HARDHAT_DISABLE_TELEMETRY: 'true',
      HOME: dir,
      XDG_CACHE_HOME: dir,
      XDG_CONFIG_HOME: dir,
      NO_COLOR: '1',
    }
    const { code, stdout, stderr } = await run(process.execPath, args, { cwd: dir, env })
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}\n${stdout}\n${stderr}`)
    return stdout
  }

  test('viem: the clients hear of blocks, send from an account of the node and edit the chain', async () => {
    const [from, to] = node.accounts.map(({ address }) => address)
    const use = `
await client.setBalance({ address: '${to}', value: 5n })
const hash = await client.sendTransaction({ account: '${from}', to: '${to}', value: 7n })
const { status } = await client.waitForTransactionReceipt({ hash })
console.log(status, await client.getBalance({ address: '${to}' }))
let heard = false
events.watchBlockNumber({ onBlockNumber: () => (heard = true) })
while (!heard) await client.mine({ blocks: 1 })
stop()
process.exit()
`
    writeFileSync(join(dir, 'client.mjs'), snippet('viem', node.http) + use)
    expect(await succeed(['client.mjs'])).toMatch(/^(\d+n\n)*success 12n\n(\d+n\n)*$/)
  })

  test('hardhat 3: its configuration connects, with the helpers', async () => {
    writeFileSync(join(dir, 'hardhat.config.ts'), snippet('Hardhat 3', node.http))
    const use = `import { network } from 'hardhat'
const { ethers, networkHelpers } = await network.create('tandem')
const before = await networkHelpers.time.latest()
await networkHelpers.time.increase(600)
const [signer] = await ethers.getSigners()
console.log((await networkHelpers.time.latest()) - before, await signer.getAddress())
`
    writeFileSync(join(dir, 'script.ts'), use)
    const cli = join(dir, 'node_modules', 'hardhat', 'dist', 'src', 'cli.js')
    const output = await succeed([cli, 'run', 'script.ts', '--no-compile', '--network', 'tandem'])
    expect(output).toContain(`600 ${node.accounts[0]?.address}`)
  })
})
