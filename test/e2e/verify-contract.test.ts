import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { copyProject, run, writeSolcWrapper } from '../support/command.ts'
import { startCompilerSite } from '../support/compiler-site.ts'
import { startDevnet } from '../support/devnet.ts'
import { type Foundry, findFoundry } from '../support/foundry.ts'

const foundry = findFoundry()
if ('missing' in foundry) test.skip(`forge verify-contract, not run: ${foundry.missing}`)

const word = (value: number): string => `0x${value.toString(16).padStart(64, '0')}`

// The node's compiler has a low priority: a busy machine leaves it little time.
const VERIFYING = { timeout: 600_000 }

describe.runIf('found' in foundry)('forge verify-contract', VERIFYING, () => {
  const { forge } = 'found' in foundry ? foundry.found : ({} as Foundry)

  test('verifies for each kind of explorer, and ends with a failure and the reason on wrong arguments', async () => {
    const temporary = mkdtempSync(join(tmpdir(), 'tandem-verify-'))
    const dir = join(temporary, 'project')
    copyProject('foundry', dir)
    const solc = writeSolcWrapper(temporary)
    const site = await startCompilerSite(temporary, solc)
    const node = await startDevnet(['--block-time', '0.25', '--execution', 'wasm'])
    const env = { FOUNDRY_SOLC: solc, ETH_RPC_URL: node.http, HOME: temporary, NO_COLOR: '1', ...site.env }
    const create = async (account: number): Promise<string> => {
      const key = node.accounts[account]?.privateKey as string
      const args = ['--broadcast', '--json', '--private-key', key, '--constructor-args', '1000']
      const { stdout } = await run(forge, ['create', 'src/Ledger.sol:Ledger', ...args], { cwd: dir, env })
      return (JSON.parse(stdout) as { deployedTo: string }).deployedTo
    }
    const verify = async (address: string, verifier: string, ...args: string[]) => {
      const url = verifier === 'sourcify' ? `${node.http}/api/` : `${node.http}/api`
      const where = ['--chain', String(node.chainId), '--watch', '--verifier', verifier, '--verifier-url', url]
      const all = ['verify-contract', address, 'src/Ledger.sol:Ledger', ...where, ...args]
      const { code, stdout, stderr } = await run(forge, all, { cwd: dir, env })
      return { code, text: `${stdout}\n${stderr}` }
    }
    try {
      const [first, second, third] = [await create(0), await create(1), await create(2)] as [string, string, string]
      const wrong = await verify(first, 'blockscout', '--constructor-args', word(1_001))
      expect(wrong.text).toContain('wrong constructor arguments: the contract was created with')
      expect(wrong.code).toBe(1)
      const passed = await verify(first, 'blockscout', '--constructor-args', word(1_000))
      expect(passed, passed.text).toMatchObject({ code: 0 })
      expect(passed.text).toContain('Contract successfully verified')
      const custom = await verify(second, 'custom', '--constructor-args', word(1_000))
      expect(custom, custom.text).toMatchObject({ code: 0 })
      const sourcify = await verify(third, 'sourcify')
      expect(sourcify, sourcify.text).toMatchObject({ code: 0 })
      for (const address of [first, second, third]) {
        const body = await (await fetch(`${node.http}/api/contracts/${address}/verify`)).json()
        expect(body).toMatchObject({
          verified: true,
          match: 'exact',
          name: 'Ledger',
          constructorArguments: word(1_000),
        })
      }
    } finally {
      await node.stop()
      site.close()
      rmSync(temporary, { recursive: true, force: true })
    }
  })
})
