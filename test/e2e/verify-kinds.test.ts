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

const VERIFIERS = ['etherscan', 'blockscout', 'sourcify'] as const
type Verifier = (typeof VERIFIERS)[number]
/** The long form verifies each kind by each of them, and prints how long it took. */
const isLong = process.env['VERIFY_ALL'] === '1'
const verifiersOf = (usual: Verifier): readonly Verifier[] => (isLong ? VERIFIERS : [usual])

// The node's compiler has a low priority: a busy machine leaves it little time.
const VERIFYING = { timeout: 600_000 }

describe.runIf('found' in foundry)('forge verify-contract', VERIFYING, () => {
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
    node = await startDevnet(['--block-time', '0.25', '--execution', 'wasm'])
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
  const verify = async (address: string, name: string, verifier: Verifier, ...args: readonly string[]) => {
    const url = verifier === 'sourcify' ? `${node.http}/api/` : `${node.http}/api`
    const where = ['--chain', String(node.chainId), '--watch', '--verifier', verifier, '--verifier-url', url]
    const began = performance.now()
    const result = await tool(forge, ['verify-contract', address, `${FILE}:${name}`, ...where, ...args])
    return { ...result, seconds: (performance.now() - began) / 1_000 }
  }
  const expectExact = async (address: string, expected: object = {}): Promise<void> => {
    const body = await (await fetch(`${node.http}/api/contracts/${address}/verify`)).json()
    expect(body).toMatchObject({ verified: true, match: 'exact', ...expected })
  }
  const expectVerified = ({ code, text, seconds }: Awaited<ReturnType<typeof verify>>): void => {
    expect(code, text).toBe(0)
    if (isLong) process.stdout.write(`${expect.getState().currentTestName}: ${seconds.toFixed(1)} s\n`)
  }
  const expectRefused = ({ code, text }: Awaited<ReturnType<typeof verify>>, reason: string): void => {
    expect(text).toContain(reason)
    expect(code).toBe(1)
  }

  test.each(verifiersOf('sourcify'))('plain: %s', async verifier => {
    const counter = await create(0, 'Sums')
    expectVerified(await verify(counter, 'Sums', verifier))
    await expectExact(counter)
  })

  test.each(verifiersOf('etherscan'))('library, immutable and arguments of two types: %s', async verifier => {
    const sums = await create(0, 'Sums')
    const links = ['--libraries', `${FILE}:Sums:${sums}`]
    const tally = await create(1, 'Tally', ...links, '--constructor-args', '5', 'votes')
    const encoded = (await tool(cast, ['abi-encode', 'f(uint256,string)', '5', 'votes'])).stdout.trim()
    expectVerified(await verify(tally, 'Tally', verifier, ...links, '--constructor-args', encoded))
    const libraries = { [`${FILE}:Sums`]: expect.stringMatching(new RegExp(sums, 'i')) }
    await expectExact(tally, { constructorArguments: encoded, libraries })
  })

  test.each(verifiersOf('etherscan'))('a contract that a contract created, and a proxy: %s', async verifier => {
    const factory = await create(2, 'PartFactory')
    const sent = await tool(cast, ['send', factory, 'make(uint256)', '9', '--json', ...key(2)])
    const { logs } = JSON.parse(sent.stdout) as { logs: readonly { data: string }[] }
    const part = `0x${logs[0]?.data.slice(26)}`
    expectVerified(await verify(part, 'Part', verifier))
    await expectExact(part, { constructorArguments: `0x${'9'.padStart(64, '0')}` })
    const forwarder = await create(3, 'Forwarder', '--constructor-args', part)
    const guess = verifier === 'etherscan' ? ['--guess-constructor-args'] : []
    expectVerified(await verify(forwarder, 'Forwarder', verifier, ...guess))
    const implementation = expect.stringMatching(new RegExp(part, 'i'))
    await expectExact(forwarder, { proxy: { isProxy: true, kind: 'EIP-1967', implementation } })
  })

  test.each(verifiersOf('etherscan'))('tampered source, another compiler and other arguments: %s', async verifier => {
    const factory = await create(2, 'PartFactory')
    const path = join(temporary, 'project', FILE)
    const source = readFileSync(path, 'utf8')
    writeFileSync(path, source.replace('emit Made(new Part(value))', 'emit Made(new Part(value + 1))'))
    const tampered = await verify(factory, 'PartFactory', verifier)
    writeFileSync(path, source)
    expectRefused(tampered, 'the code')
    const part = await create(3, 'Part', '--constructor-args', '7')
    // forge refuses it by itself, and sends nothing; verification-api.test.ts has the answer of the API.
    const older = ['--compiler-version', '0.8.28+commit.7893614a']
    expectRefused(await verify(part, 'Part', verifier, ...older), 'compiler version 0.8.28')
    // Sourcify takes no arguments: the chain has them.
    if (verifier === 'sourcify') return
    const eight = ['--constructor-args', `0x${'8'.padStart(64, '0')}`]
    expectRefused(await verify(part, 'Part', verifier, ...eight), 'wrong constructor arguments')
  })

  test.each(verifiersOf('blockscout'))('via-IR: %s', async verifier => {
    env = { ...env, FOUNDRY_VIA_IR: 'true' }
    const part = await create(4, 'Part', '--constructor-args', '7')
    expectVerified(await verify(part, 'Part', verifier))
    await expectExact(part, { viaIR: true })
  })
})
