import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CommandResult, copyProject, run, writeSolcWrapper } from '../support/command.ts'
import { type RunningNode, startDevnet } from '../support/devnet.ts'
import { type Foundry, findFoundry } from '../support/foundry.ts'

const SINK = '0x000000000000000000000000000000000000dEaD'
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const foundry = findFoundry()

if ('missing' in foundry) {
  // Listed with its reason: a developer on such a platform knows what was not run.
  test.skip(`forge and cast, not run: ${foundry.missing}`)
}

describe.runIf('found' in foundry)('forge and cast, with their defaults', () => {
  const { forge, cast } = 'found' in foundry ? foundry.found : ({} as Foundry)
  let node: RunningNode
  // The folder that is removed is never computed: only what mkdtemp answered.
  let temporary: string | undefined
  let dir: string
  let env: NodeJS.ProcessEnv
  let ledger: Hex

  const runTool = async (tool: string, args: readonly string[], expected: number): Promise<CommandResult> => {
    const result = await run(tool, args, { cwd: dir, env })
    if (result.code !== expected)
      throw new Error(`${args.slice(0, 2).join(' ')} ended with ${result.code}\n${result.stdout}\n${result.stderr}`)
    return result
  }
  const ask = async (...args: string[]): Promise<string> => (await runTool(cast, args, 0)).stdout.trim()
  const refused = async (...args: string[]): Promise<string> => (await runTool(cast, args, 1)).stderr
  const account = (index: number) => node.accounts[index] as RunningNode['accounts'][number]
  const from = (index: number): string[] => ['--private-key', account(index).privateKey]
  const send = async (...args: string[]) =>
    JSON.parse(await ask('send', '--json', ...args)) as Record<string, Hex> & { logs: { topics: Hex[] }[] }

  beforeAll(async () => {
    temporary = mkdtempSync(join(tmpdir(), 'tandem-foundry-'))
    dir = join(temporary, 'project')
    copyProject('foundry', dir)
    node = await startDevnet(['--block-time', '0.25'])
    env = { FOUNDRY_SOLC: writeSolcWrapper(temporary), ETH_RPC_URL: node.http, HOME: temporary, NO_COLOR: '1' }
  })
  afterAll(async () => {
    await node?.stop()
    if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true })
  })

  test('forge create deploys', async () => {
    const args = ['create', 'src/Ledger.sol:Ledger', '--broadcast', '--json', ...from(0), '--constructor-args', '1000']
    const { stdout } = await runTool(forge, args, 0)
    const created = JSON.parse(stdout) as { deployedTo: Hex; transactionHash: Hex }
    ledger = created.deployedTo
    const receipt = await node.rpc<Record<string, Hex>>('eth_getTransactionReceipt', [created.transactionHash])
    expect(receipt).toMatchObject({ status: '0x1', type: '0x2', contractAddress: ledger.toLowerCase() })
    expect((await ask('code', ledger)).length).toBeGreaterThan(100)
  })

  test('cast send: default, legacy, value alone, with an access list, a creation', async () => {
    const call = [ledger, 'transfer(address,uint256)', SINK, '7', ...from(0)]
    expect(await send(...call)).toMatchObject({ status: '0x1', type: '0x2', logs: [{ topics: { length: 3 } }] })
    expect(await send(...call, '--legacy')).toMatchObject({ status: '0x1', type: '0x0' })
    // Without a value the tool asks the node for the list (eth_createAccessList).
    const listed = await send(...call, '--access-list')
    expect(listed).toMatchObject({ status: '0x1', type: '0x2' })
    const { accessList } = await node.rpc<{ accessList: { address: Hex }[] }>('eth_getTransactionByHash', [
      listed['transactionHash'],
    ])
    expect(accessList.map(({ address }) => address)).toContain(ledger.toLowerCase())
    expect(await send(SINK, '--value', '1ether', ...from(0))).toMatchObject({ status: '0x1', gasUsed: '0x5208' })
    const created = await send(...from(0), '--create', '0x6001600c60003960016000f300')
    expect(await ask('code', created['contractAddress'] as string)).toBe('0x00')
    expect(await ask('call', ledger, 'balanceOf(address)(uint256)', SINK)).toBe('21')
  })

  test('cast call decodes, and shows why a call reverts', async () => {
    expect(await ask('call', ledger, 'totalSupply()(uint256)')).toMatch(/^1000\b/)
    expect(await ask('call', ledger, 'divide(uint256,uint256)(uint256)', '42', '6')).toBe('7')
    expect(await refused('call', ledger, 'refuse()')).toContain('refused as asked')
    expect(await refused('call', ledger, 'divide(uint256,uint256)', '1', '0')).toMatch(/panic|0x12|4e487b71/i)
  })

  test('cast send refuses what would revert', async () => {
    const before = await ask('nonce', account(0).address)
    expect(await refused('send', ledger, 'refuse()', ...from(0))).toContain('refused as asked')
    expect(await refused('send', ledger, 'transfer(address,uint256)', SINK, '99999', ...from(0))).toMatch(
      /InsufficientBalance|0xcf479181|custom error/,
    )
    expect(await ask('nonce', account(0).address)).toBe(before)
  })

  test('cast estimate, balance, nonce', async () => {
    expect(await ask('estimate', SINK, '--value', '1', '--from', account(0).address)).toBe('21000')
    const estimate = await ask('estimate', ledger, 'transfer(address,uint256)', SINK, '1', '--from', account(0).address)
    expect(Number(estimate)).toBeGreaterThan(21_000)
    expect(await ask('balance', SINK, '--ether')).toBe('1.000000000000000000')
    expect(Number(await ask('nonce', account(0).address))).toBe(6)
    expect(await ask('balance', '--erc20', ledger, SINK)).toMatch(/^21\b/)
  })

  test('cast logs by event, by topic and by range', async () => {
    const logs = JSON.parse(
      await ask('logs', '--json', '--from-block', '0', '--address', ledger, 'Transfer(address,address,uint256)'),
    ) as { topics: Hex[] }[]
    expect(logs).toHaveLength(4)
    expect(logs[0]?.topics[0]).toBe(TRANSFER)
    const paid = ['logs', '--json', '--from-block', '0', 'Transfer(address indexed,address indexed,uint256)', '', SINK]
    expect(JSON.parse(await ask(...paid))).toHaveLength(3)
  })

  test('cast block, block-number, tx, receipt, storage, gas-price, base-fee, chain-id, client', async () => {
    const block = JSON.parse(await ask('block', 'latest', '--json')) as Record<string, Hex>
    expect(block).toMatchObject({ nonce: '0x0000000000000000', baseFeePerGas: '0x5d21dba00' })
    expect(Number(await ask('block-number'))).toBeGreaterThanOrEqual(Number(block['number']))
    expect(await ask('chain-id')).toBe(String(node.chainId))
    expect(await ask('gas-price')).toBe('27500000000')
    expect(await ask('base-fee')).toBe('25000000000')
    expect(await ask('client')).toMatch(/^tandem\//)
    expect(BigInt(await ask('storage', ledger, '1'))).toBe(1_000n)
    const { transactionHash } = await send(SINK, '--value', '1', ...from(1))
    expect(await ask('tx', transactionHash as string, 'value')).toBe('1')
    expect(await ask('receipt', transactionHash as string, 'status')).toMatch(/true|^1\b/)
    expect(await ask('age', 'latest')).toMatch(/20\d\d/)
    const proof = JSON.parse(await ask('proof', ledger, '0x01')) as { storageProof: { value: Hex }[] }
    expect(proof.storageProof[0]?.value).toBe('0x3e8')
  })

  test.each(['finalized', 'safe'])('cast block %s says that the tag is refused', async tag => {
    expect(await refused('block', tag)).toContain('invalid argument 1: hex string without 0x prefix')
  })

  test('cast mktx and publish, by way of the raw transaction', async () => {
    const raw = await ask('mktx', SINK, '--value', '3', ...from(1))
    const receipt = JSON.parse(await ask('publish', raw)) as Record<string, Hex>
    expect(receipt).toMatchObject({ status: '0x1', from: account(1).address.toLowerCase() })
    expect(await refused('publish', raw)).toMatch(/nonce too low|already known/)
  })

  test('forge test --fork-url reads the chain, and rolls to earlier blocks of it, also after blocks were taken back', async () => {
    const COUNTER = '0x00000000000000000000000000000000000c0de5'
    const { stdout } = await runTool(forge, ['inspect', 'src/Counter.sol:Counter', 'deployedBytecode'], 0)
    await node.rpc('anvil_setCode', [COUNTER, stdout.trim()])
    const number = async () => Number(await node.rpc('eth_blockNumber'))
    const count = async (to: number) => {
      await node.rpc('evm_mine')
      await node.rpc('anvil_setStorageAt', [COUNTER, '0x0', `0x${to.toString(16).padStart(64, '0')}`])
    }
    await node.rpc('evm_setIntervalMining', [0])
    try {
      const snapshot = await node.rpc('evm_snapshot')
      await count(7)
      await node.rpc('evm_revert', [snapshot])
      const first = (await number()) + 1
      for (const value of [1, 2, 3]) await count(value)
      await node.rpc('evm_mine')
      const result = await run(forge, ['test', '--fork-url', node.http, '--match-path', 'test/Fork.t.sol'], {
        cwd: dir,
        env: { ...env, COUNTER, FIRST_BLOCK: String(first) },
      })
      expect(`${result.stdout}${result.stderr}`).toContain('2 passed; 0 failed')
    } finally {
      await node.rpc('evm_setIntervalMining', [250])
    }
  })

  const script = async (contract: string, key: number, ...args: string[]): Promise<string> => {
    const program = ['script', `script/${contract}.s.sol`, '--rpc-url', node.http, '--broadcast', ...from(key), ...args]
    const { stdout } = await runTool(forge, program, 0)
    expect(stdout).toContain('ONCHAIN EXECUTION COMPLETE & SUCCESSFUL')
    const record = join(dir, 'broadcast', `${contract}.s.sol`, String(node.chainId), 'run-latest.json')
    const { transactions } = JSON.parse(readFileSync(record, 'utf8')) as { transactions: { contractAddress: Hex }[] }
    return transactions[0]?.contractAddress as Hex
  }

  test('forge script simulates on the chain, then broadcasts in nonce order', async () => {
    const deployed = await script('Count', 2)
    expect(await ask('call', deployed, 'number()(uint256)')).toBe('43')
    expect(await ask('nonce', account(2).address)).toBe('3')
  })

  /*
   * forge's own simulation prices calldata as Ethereum does and adds 30 %. A byte of init code costs 100 gas here, so for more
   * than about 1 KB of it the node must be asked instead.
   */
  test('forge script --skip-simulation lets the node estimate, for contracts of any size', async () => {
    const [first, second] = [account(5).address, account(6).address]
    const deployed = await script('Deploy', 3, '--skip-simulation', '--sig', 'run(address,address)', first, second)
    expect(await ask('call', deployed, 'balanceOf(address)(uint256)', first)).toBe('300')
    expect(await ask('call', deployed, 'balanceOf(address)(uint256)', second)).toBe('200')
    expect(await ask('balance', deployed)).toBe('7')
    expect(await ask('nonce', account(3).address)).toBe('4')
  })
})
