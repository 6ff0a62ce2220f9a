import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { run } from '../support/command.ts'
import { eventually, type RunningNode, rpc, startDevnet, startNode, withTempDir } from '../support/devnet.ts'
import { findAnvil } from '../support/foundry.ts'
import { LAUNCHER } from '../support/node-process.ts'

const ALICE = `0x${'a1'.repeat(20)}`
const BOB = `0x${'b0'.repeat(20)}`
const word = (value: number): Hex => `0x${value.toString(16).padStart(64, '0')}`

/** Contract with the hashes of recent blocks (EIP-2935). */
const HISTORY = '0x0000f90827f1c53a10cb7a02335b175320002935'
const toNumber = (block: Record<string, Hex>, ahead: number): Hex =>
  `0x${(Number(block['number']) + ahead).toString(16)}`

const cli = (...args: string[]) => run(process.execPath, [LAUNCHER, ...args])

type AnvilCall = (method: string, params?: readonly unknown[]) => Promise<unknown>

/** Sends one wei without a key, and answers the receipt. */
const send = async (node: RunningNode, from: string, to: string) => {
  const hash = await node.rpc('eth_sendUnsignedTransaction', [{ from, to, value: '0x1' }])
  return await node.rpc<Record<string, unknown>>('eth_getTransactionReceipt', [hash])
}

test('devnet --state keeps accounts, code and storage from one run to the next', async () => {
  await withTempDir(async dir => {
    const file = join(dir, 'state.json.gz')
    const first = await startDevnet(['--block-time', '0', '--state', file])
    await first.rpc('anvil_setBalance', [ALICE, '0xde0b6b3a7640000'])
    await first.rpc('anvil_setCode', [BOB, '0x5f545f5260205ff3'])
    await first.rpc('anvil_setStorageAt', [BOB, '0x0', word(42)])
    await first.rpc('evm_increaseTime', [86_400])
    expect(await send(first, ALICE, BOB)).toMatchObject({ status: '0x1' })
    const spent = await first.rpc('eth_getBalance', [ALICE, 'latest'])
    expect((await first.stop()).code).toBe(0)

    const second = await startDevnet(['--block-time', '0', '--state', file])
    expect(await second.rpc('eth_getBalance', [ALICE, 'latest'])).toBe(spent)
    expect(await second.rpc('eth_getTransactionCount', [ALICE, 'latest'])).toBe('0x1')
    expect(await second.rpc('eth_call', [{ to: BOB }, 'latest'])).toBe(word(42))
    await second.rpc('evm_mine')
    const { timestamp } = await second.rpc<{ timestamp: Hex }>('eth_getBlockByNumber', ['latest', false])
    expect(Number(timestamp) - Date.now() / 1_000).toBeGreaterThan(80_000)
    // A node that is killed leaves the file as it was.
    const kept = readFileSync(file)
    await second.rpc('anvil_setBalance', [ALICE, '0x0'])
    await second.kill()
    expect(readFileSync(file).equals(kept)).toBe(true)
  })
})

const anvil = findAnvil()

// Listed with its reason: a developer on such a platform knows what was not run.
/** Sends a transaction and waits for its block: anvil answers before. */
const sendToBob = async (call: (method: string, params: readonly unknown[]) => Promise<unknown>): Promise<void> => {
  const hash = await call('eth_sendTransaction', [{ from: ALICE, to: BOB, gas: '0x186a0' }])
  await eventually(
    'the transaction in a block',
    () => call('eth_getTransactionReceipt', [hash]),
    receipt => receipt !== null,
  )
}

if ('missing' in anvil) test.skip(`states to and from anvil, not run: ${anvil.missing}`)

describe.runIf('found' in anvil)('states to and from anvil', () => {
  const binary = 'found' in anvil ? anvil.found.anvil : ''

  /** Starts anvil on a free port, uses it, and stops it as Ctrl-C does. */
  const withAnvil = async (args: readonly string[], use: (call: AnvilCall) => Promise<void>): Promise<void> => {
    const child = spawn(binary, ['--port', '0', ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
    const exit = once(child, 'exit')
    try {
      let text = ''
      child.stdout.on('data', data => {
        text += String(data)
      })
      const listening = await eventually(
        'anvil',
        async () => /Listening on (\S+)/.exec(text)?.[1],
        url => url !== undefined,
      )
      await use((method, params = []) => rpc(`http://${listening}`, method, params))
    } finally {
      child.kill('SIGINT')
      await exit
    }
  }

  /** Content of the account and of the contract, as both tools tell it. */
  const contentOf = (call: AnvilCall) =>
    Promise.all([
      call('eth_getBalance', [ALICE, 'latest']),
      call('eth_getTransactionCount', [ALICE, 'latest']),
      call('eth_getCode', [BOB, 'latest']),
      call('eth_getStorageAt', [BOB, '0x3', 'latest']),
      call('eth_call', [{ to: BOB }, 'latest']),
    ])

  /** Content that comes from a block, an edit and a contract. */
  const fill = async (node: RunningNode): Promise<void> => {
    await node.rpc('anvil_setBalance', [ALICE, '0xde0b6b3a7640000'])
    // Adds one to slot 3, and returns slot 0.
    await node.rpc('anvil_setCode', [BOB, '0x6001600354016003555f545f5260205ff3'])
    await node.rpc('anvil_setStorageAt', [BOB, '0x0', word(42)])
    for (let i = 0; i < 3; i++)
      expect(
        await node.rpc('eth_getTransactionReceipt', [
          await node.rpc('eth_sendUnsignedTransaction', [{ from: ALICE, to: BOB, gas: '0x186a0' }]),
        ]),
      ).toMatchObject({ status: '0x1' })
  }

  test('anvil_dumpState of this node, and the file of --state', async () => {
    await withTempDir(async dir => {
      const file = join(dir, 'state.json')
      const node = await startDevnet(['--block-time', '0', '--state', file])
      await fill(node)
      const content = await contentOf(node.rpc)
      const head = await node.rpc<{ hash: Hex; number: Hex }>('eth_getBlockByNumber', ['latest', false])
      const dump = await node.rpc('anvil_dumpState')
      expect((await node.stop()).code).toBe(0)
      await withAnvil([], async call => {
        expect(await call('anvil_loadState', [dump])).toBe(true)
        expect(await contentOf(call)).toEqual(content)
      })
      await withAnvil(['--load-state', file], async call => {
        expect(await contentOf(call)).toEqual(content)
        // It goes on from the head.
        expect(await call('eth_getBlockByNumber', ['latest', false])).toMatchObject({ hash: head.hash })
        await call('anvil_impersonateAccount', [ALICE])
        await sendToBob(call)
        expect(await call('eth_getStorageAt', [BOB, '0x3', 'latest'])).toBe(word(4))
        expect(await call('eth_blockNumber')).toBe(`0x${(Number(head.number) + 1).toString(16)}`)
      })
    })
  })

  test('anvil_dumpState and --dump-state of anvil, and back', async () => {
    await withTempDir(async dir => {
      const file = join(dir, 'anvil.json')
      let dump: unknown
      let content: unknown
      await withAnvil(['--dump-state', file], async call => {
        await call('anvil_setBalance', [ALICE, '0xde0b6b3a7640000'])
        await call('anvil_setCode', [BOB, '0x6001600354016003555f545f5260205ff3'])
        await call('anvil_setStorageAt', [BOB, '0x0', word(42)])
        await call('anvil_impersonateAccount', [ALICE])
        await sendToBob(call)
        dump = await call('anvil_dumpState')
        content = await contentOf(call)
      })
      const node = await startDevnet(['--block-time', '0', '--state', file])
      expect(await contentOf(node.rpc)).toEqual(content)
      const back = await node.rpc('anvil_dumpState')
      await node.rpc('hardhat_reset')
      expect(await node.rpc('anvil_loadState', [dump])).toBe(true)
      expect(await contentOf(node.rpc)).toEqual(content)
      expect((await node.stop()).code).toBe(0)
      await withAnvil([], async call => {
        expect(await call('anvil_loadState', [back])).toBe(true)
        expect(await contentOf(call)).toEqual(content)
      })
    })
  })
})

test('a state that anvil wrote is read, and a file that is no state is refused in words', async () => {
  await withTempDir(async dir => {
    const file = join(dir, 'anvil.json')
    const accounts = { [ALICE]: { nonce: 3, balance: '0x64', code: '0x', storage: { '0x0': '0x7' } } }
    writeFileSync(
      file,
      JSON.stringify({ block: { number: '0x5', timestamp: '0x6b49d200' }, accounts, best_block_number: 5 }),
    )
    const node = await startDevnet(['--block-time', '0', '--state', file])
    expect(await node.rpc('eth_getTransactionCount', [ALICE, 'latest'])).toBe('0x3')
    expect(await node.rpc('eth_getStorageAt', [ALICE, '0x0', 'latest'])).toBe(word(7))
    await node.stop()
    writeFileSync(file, '{"accounts":[]}')
    const { code, stderr } = await cli('devnet', '--port', '0', '--state', file)
    expect(code).toBe(1)
    expect(stderr).toContain('The state file is not usable: accounts must be an object')
  })
})

test('edits, rewinds and transactions without a signature survive kills, and db verify understands them', async () => {
  await withTempDir(async dir => {
    const options = ['--block-time', '0', '--datadir', dir]
    let node = await startDevnet(options)
    await node.rpc('hardhat_setBalance', [ALICE, '0xde0b6b3a7640000'])
    await node.rpc('hardhat_setNextBlockBaseFeePerGas', ['0x9'])
    await node.rpc('hardhat_setCoinbase', [BOB])
    await node.rpc('evm_setBlockGasLimit', ['0x1c9c380'])
    await node.rpc('evm_setNextBlockTimestamp', [1_900_000_000])
    const receipt = await send(node, ALICE, BOB)
    const kept = await node.rpc<{ hash: Hex }>('eth_getBlockByNumber', ['latest', true])
    const snapshot = await node.rpc('evm_snapshot')
    for (let i = 0; i < 3; i++) await send(node, ALICE, BOB)
    await node.rpc('hardhat_mine', ['0x10'])
    await node.rpc('evm_revert', [snapshot])
    await node.rpc('hardhat_setBalance', [BOB, '0x7'])
    await node.kill()

    // The log of blocks that were taken back must not bring them again.
    node = await startDevnet(options)
    expect(await node.rpc('eth_getBlockByNumber', ['latest', true])).toEqual(kept)
    expect(await node.rpc('eth_getTransactionReceipt', [receipt['transactionHash']])).toEqual(receipt)
    expect(await node.rpc('eth_getBalance', [BOB, 'latest'])).toBe('0x7')
    await node.rpc('evm_mine')
    expect(await send(node, ALICE, BOB)).toMatchObject({ status: '0x1' })
    // Waiting in the pool, without a signature.
    await node.rpc('evm_setAutomine', [false])
    const waiting = await node.rpc('eth_sendUnsignedTransaction', [{ from: ALICE, to: BOB, value: '0x1' }])
    await node.kill()

    node = await startDevnet(options)
    expect(await send(node, ALICE, BOB)).toMatchObject({ status: '0x1' })
    expect(await node.rpc('eth_getTransactionReceipt', [waiting])).toMatchObject({ from: ALICE, status: '0x1' })
    expect((await node.stop()).code).toBe(0)
    const { code, stdout } = await cli('db', 'verify', '--datadir', dir)
    expect(stdout).toContain('consistent')
    expect(code).toBe(0)
  })
})

test('a kill while many blocks are made leaves whole blocks, and the next start goes on', async () => {
  await withTempDir(async dir => {
    const options = ['--block-time', '0', '--datadir', dir, '--execution', 'wasm']
    let node = await startDevnet(options)
    const mining = node.rpc('hardhat_mine', ['0x186a0', '0x1']).catch(() => 'cut')
    const block = (number: Hex | 'latest') => node.rpc<Record<string, Hex>>('eth_getBlockByNumber', [number, true])
    await eventually(
      'blocks',
      async () => Number(await node.rpc('eth_blockNumber')),
      number => number > 700,
    )
    const seen = await block('latest')
    await node.kill()
    expect(await mining).toBe('cut')

    node = await startDevnet(options)
    const head = await block('latest')
    expect(Number(head['number'])).toBeGreaterThanOrEqual(Number(seen['number']))
    expect(await block(seen['number'] as Hex)).toEqual(seen)
    const slot = word((Number(head['number']) - 1) % 8_191)
    const [parentHash, earlier] = await Promise.all([
      node.rpc('eth_getStorageAt', [HISTORY, slot, head['number']]),
      node.rpc('eth_getStorageAt', [HISTORY, slot, toNumber(head, -1)]),
    ])
    expect([parentHash, earlier]).toEqual([head['parentHash'], word(0)])
    await node.rpc('hardhat_mine', ['0x64'])
    expect(await block(toNumber(head, 100))).not.toBeNull()
    expect((await node.stop()).code).toBe(0)
    const { code, stdout } = await cli('db', 'verify', '--datadir', dir)
    expect([code, stdout]).toEqual([0, expect.stringContaining('consistent')])
  })
})

test('where more than one validator decides, and on other networks, the helpers do not exist', async () => {
  await withTempDir(async dir => {
    const validators = [1, 2].map(i => `0x${i.toString(16).padStart(40, '0')}`)
    const genesis = (network: string, of: readonly string[]) => {
      const file = join(dir, `${network}-${of.length}.json`)
      const council = of.map((validator, i) => ({
        name: `v${i}`,
        validator,
        reward: validator,
        stake: `${35_000_000n * 10n ** 18n}`,
      }))
      writeFileSync(
        file,
        JSON.stringify({
          format: 'tandem/1',
          network,
          timestamp: 1_735_689_600,
          council,
          foundation: ALICE,
          alloc: {},
        }),
      )
      return file
    }
    for (const [network, of] of [
      ['devnet', validators],
      ['testnet', validators.slice(1)],
    ] as const) {
      const args = ['--network', network, '--genesis', genesis(network, of), '--datadir', join(dir, network)]
      const node = await startNode(['start', ...args, '--port', '0', '--operator-port', '0'])
      for (const method of ['evm_mine', 'hardhat_setBalance', 'anvil_reset', 'eth_sendUnsignedTransaction']) {
        await expect(node.rpc(method, [])).rejects.toMatchObject({ rpcCode: -32601 })
      }
      const answer = await fetch(node.operator as string, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"jsonrpc":"2.0","id":1,"method":"evm_snapshot"}',
      })
      expect(await answer.json()).toMatchObject({ error: { code: -32601 } })
      await node.stop()
    }
  })
})
