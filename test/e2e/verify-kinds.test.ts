import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { copyProject, run, writeSolcWrapper } from '../support/command.ts'
import { startCompilerSite } from '../support/compiler-site.ts'
import { type RunningNode, startDevnet } from '../support/devnet.ts'
import { type Foundry, findFoundry } from '../support/foundry.ts'

const foundry = findFoundry()
if ('missing' in foundry) test.skip(`forge verify-contract by kind, not run: ${foundry.missing}`)

const FILE = 'src/Kinds.sol'

describe.runIf('found' in foundry)('forge verify-contract --verifier etherscan', () => {
  const { forge, cast } = 'found' in foundry ? foundry.found : ({} as Foundry)
  let temporary: string
  let node: RunningNode
  let site: Awaited<ReturnType<typeof startCompilerSite>>
  let env: NodeJS.ProcessEnv

  beforeAll(async () => {
    temporary = mkdtempSync(join(tmpdir(), 'tandem-kinds-'))
    copyProject('foundry', join(temporary, 'project'))
    const solc = writeSolcWrapper(temporary)
    site = await startCompilerSite(temporary, solc)
    node = await startDevnet(['--block-time', '0.25', '--execution', 'fast'])
    // For a chain that it does not know, forge takes the key from its settings alone.
    const explorer = `{ key = "any", chain = ${node.chainId}, url = "${node.http}/api" }`
    appendFileSync(join(temporary, 'project', 'foundry.toml'), `\n[etherscan]\ntandem = ${explorer}\n`)
    env = { FOUNDRY_SOLC: solc, ETH_RPC_URL: node.http, HOME: temporary, NO_COLOR: '1', ...site.env }
  })
  afterAll(async () => {
    await node?.stop()
    site?.close()
    rmSync(temporary, { recursive: true, force: true })
  })

  const tool = async (program: string, args: readonly string[]) => {
    const { code, stdout, stderr } = await run(program, args, { cwd: join(temporary, 'project'), env })
    return { code, stdout, text: `${stdout}\n${stderr}` }
  }
  const key = (account: number): string[] => ['--private-key', node.accounts[account]?.privateKey as string]
  const create = async (account: number, name: string, ...args: readonly string[]): Promise<string> => {
    const { stdout, text } = await tool(forge, [
      'create',
      `${FILE}:${name}`,
      '--broadcast',
      '--json',
      ...key(account),
      ...args,
    ])
    expect(stdout, text).toContain('deployedTo')
    return (JSON.parse(stdout) as { deployedTo: string }).deployedTo
  }
  const verify = (address: string, name: string, ...args: readonly string[]) => {
    const where = [
      '--chain',
      String(node.chainId),
      '--watch',
      '--verifier',
      'etherscan',
      '--verifier-url',
      `${node.http}/api`,
    ]
    return tool(forge, ['verify-contract', address, `${FILE}:${name}`, ...where, ...args])
  }
  const expectExact = async (address: string, expected: object = {}): Promise<void> => {
    const body = await (await fetch(`${node.http}/api/contracts/${address}/verify`)).json()
    expect(body).toMatchObject({ verified: true, match: 'exact', ...expected })
  }
  const expectVerified = ({ code, text }: Awaited<ReturnType<typeof tool>>): void => expect(code, text).toBe(0)

  test('library, immutable and arguments of two types', async () => {
    const sums = await create(0, 'Sums')
    const links = ['--libraries', `${FILE}:Sums:${sums}`]
    const tally = await create(1, 'Tally', ...links, '--constructor-args', '5', 'votes')
    const encoded = (await tool(cast, ['abi-encode', 'f(uint256,string)', '5', 'votes'])).stdout.trim()
    expectVerified(await verify(tally, 'Tally', ...links, '--constructor-args', encoded))
    const libraries = { [`${FILE}:Sums`]: expect.stringMatching(new RegExp(sums, 'i')) }
    await expectExact(tally, { constructorArguments: encoded, libraries })
  })

  test('a contract that a contract created, its tampered source, and a proxy', async () => {
    const factory = await create(2, 'PartFactory')
    const sent = await tool(cast, ['send', factory, 'make(uint256)', '9', '--json', ...key(2)])
    const { logs } = JSON.parse(sent.stdout) as { logs: readonly { data: string }[] }
    const part = `0x${logs[0]?.data.slice(26)}`
    expectVerified(await verify(part, 'Part'))
    await expectExact(part, { constructorArguments: `0x${'9'.padStart(64, '0')}` })
    const forwarder = await create(3, 'Forwarder', '--constructor-args', part)
    expectVerified(await verify(forwarder, 'Forwarder', '--guess-constructor-args'))
    const implementation = expect.stringMatching(new RegExp(part, 'i'))
    await expectExact(forwarder, { proxy: { isProxy: true, kind: 'EIP-1967', implementation } })
    const path = join(temporary, 'project', FILE)
    const source = readFileSync(path, 'utf8')
    writeFileSync(path, source.replace('emit Made(new Part(value))', 'emit Made(new Part(value + 1))'))
    const refused = await verify(factory, 'PartFactory')
    writeFileSync(path, source)
    expect(refused.text).toContain('Fail - Unable to verify. the code')
    expect(refused.code).toBe(1)
  })

  test('via-IR', async () => {
    env = { ...env, FOUNDRY_VIA_IR: 'true' }
    const part = await create(4, 'Part', '--constructor-args', '7')
    expectVerified(await verify(part, 'Part'))
    await expectExact(part, { viaIR: true })
  })
})
