import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { getCreateAddress, Interface, Wallet } from 'ethers'
import { expect, test } from 'vitest'
import { eventually, type RunningNode, startDevnet, withTempDir } from '../support/devnet.ts'
import { ROOT, SOURCE_LAUNCHER } from '../support/node-process.ts'
import { compileSolidity } from '../support/solidity.ts'

const SINK = '0x000000000000000000000000000000000000dead'

/** Creation code that reverts with Error("not today"). */
const REVERTING = `0x6064600c60003960646000fd08c379a0${'20'.padStart(64, '0')}${'9'.padStart(64, '0')}${Buffer.from('not today').toString('hex').padEnd(64, '0')}`

const send = async (node: RunningNode, nonce: number, fields: { to?: string; data?: string }): Promise<Hex> => {
  const raw = await new Wallet(node.accounts[0]?.privateKey as string).signTransaction({
    ...{ chainId: node.chainId, nonce, gasLimit: 2_000_000n, gasPrice: 50n * 10n ** 9n, type: 0 },
    ...fields,
  })
  return node.rpc<Hex>('eth_sendRawTransaction', [raw])
}

const linesOf = (node: RunningNode): Record<string, unknown>[] =>
  node
    .output()
    .split('\n')
    .filter(line => line.includes('"module":"devnet"'))
    .map(line => JSON.parse(line) as Record<string, unknown>)

test('a devnet shows each transaction and each refused request', async () => {
  const node = await startDevnet(['--block-time', '0'])
  try {
    const from = node.accounts[0]?.address.toLowerCase()
    const plain = await send(node, 0, { to: SINK })
    const called = await send(node, 1, { to: SINK, data: `0xa9059cbb${'0'.repeat(128)}` })
    const created = await send(node, 2, { data: '0x00' })
    const failed = await send(node, 3, { data: REVERTING })
    await expect(send(node, 0, { to: SINK })).rejects.toThrow('nonce too low')
    await expect(node.rpc('foo_bar')).rejects.toThrow('does not exist')
    const lines = await eventually(
      'six lines',
      async () => linesOf(node),
      found => found.length === 6,
    )
    const lineOf = (hash: Hex) => lines.find(line => line['hash'] === hash)
    expect(lineOf(plain)).toMatchObject({ msg: 'transaction', from, to: SINK, gas: '21000' })
    expect(lineOf(plain)).not.toHaveProperty('method')
    expect(lineOf(called)).toMatchObject({ msg: 'transaction', from, to: SINK, method: '0xa9059cbb' })
    expect(lineOf(created)).toMatchObject({ msg: 'transaction', created: expect.stringMatching(/^0x[0-9a-f]{40}$/) })
    expect(lineOf(failed)).toMatchObject({ msg: 'transaction failed', reason: 'not today' })
    expect(lines.filter(({ msg }) => msg === 'request refused')).toMatchObject([
      { method: 'eth_sendRawTransaction', code: -32000, error: 'nonce too low' },
      { method: 'foo_bar', code: -32601 },
    ])
  } finally {
    await node.stop()
  }
})

const WRITER = `
import "hardhat/console.sol";
contract Inner { error TooMuch(uint256 asked, string why); function run(uint256 n) external pure { if (n > 9) revert TooMuch(n, "limit"); } }
contract Writer {
  Inner inner = new Inner();
  constructor() { console.log("made by", msg.sender); }
  function run(uint256 n) external { console.log("n is %d", n); inner.run(n); n = n + 1; }
}`

test('a devnet shows what contracts write with console.log, and custom errors by --abi', () =>
  withTempDir(async dir => {
    const { Writer, Inner } = compileSolidity(WRITER)
    writeFileSync(join(dir, 'Inner.json'), JSON.stringify({ abi: Inner?.abi }))
    const node = await startDevnet(['--block-time', '0', '--abi', dir])
    try {
      const from = node.accounts[0]?.address as string
      const created = await send(node, 0, { data: bytesToHex(Writer?.bytecode as Uint8Array) })
      const to = getCreateAddress({ from, nonce: 0 })
      const run = (n: number) => new Interface(['function run(uint256)']).encodeFunctionData('run', [n])
      const called = await send(node, 1, { to, data: run(7) })
      const failed = await send(node, 2, { to, data: run(70) })
      const lines = await eventually(
        'three lines',
        async () => linesOf(node),
        found => found.length === 3,
      )
      const lineOf = (hash: Hex) => lines.find(line => line['hash'] === hash)
      expect(lineOf(created)).toMatchObject({ msg: 'transaction', logs: [`made by ${from.toLowerCase()}`] })
      expect(lineOf(called)).toMatchObject({ msg: 'transaction', logs: ['n is 7'] })
      expect(lineOf(failed)).toMatchObject({
        msg: 'transaction failed',
        reason: 'TooMuch(70, "limit")',
        logs: ['n is 70'],
      })
      expect(await node.rpc('debug_traceTransaction', [failed, { tracer: 'consoleTracer' }])).toEqual(['n is 70'])
    } finally {
      await node.stop()
    }
  }))

/** Resolves when a process is gone. */
const gone = (pid: number) =>
  eventually(
    'the end of the node',
    async () => {
      try {
        process.kill(pid, 0)
        return false
      } catch {
        return true
      }
    },
    isGone => isGone,
  )

const LAUNCHER = `'${process.execPath}' --import 'data:text/javascript,process.execve=undefined' '${SOURCE_LAUNCHER}'`

test.each([
  ['the launcher', `exec ${LAUNCHER} devnet --port 0 --json`, {}],
  ['npm', `'${process.execPath}' '${SOURCE_LAUNCHER}' devnet --port 0 --json; true`, { npm_lifecycle_event: 'devnet' }],
])('SIGKILL of %s ends the node that it started', async (_, script, env) => {
  const parent = spawn('bash', ['-c', script], {
    cwd: ROOT,
    env: { ...process.env, npm_lifecycle_event: undefined, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(createInterface({ input: parent.stdout as NodeJS.ReadableStream }), 'line')) as [string]
  const { http } = JSON.parse(line) as { http: string }
  const port = new URL(http).port
  const listening = spawn('bash', ['-c', `ss -ltnpH 'sport = :${port}' 2>/dev/null || true`])
  let text = ''
  listening.stdout.on('data', data => {
    text += String(data)
  })
  await once(listening, 'close')
  const pid = Number(/pid=(\d+)/.exec(text)?.[1] ?? 0)
  expect(pid, 'the node is a process of its own').not.toBe(parent.pid)
  parent.kill('SIGKILL')
  if (pid > 0) await gone(pid)
  else
    await eventually(
      'the end of the node',
      () =>
        fetch(`${http}/health`).then(
          () => false,
          () => true,
        ),
      isGone => isGone,
    )
})
