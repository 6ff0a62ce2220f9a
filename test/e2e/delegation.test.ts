import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Hex, toQuantity, toWord } from '@tandem/base/bytes.ts'
import { JsonRpcProvider, Wallet } from 'ethers'
import { createWalletClient, defineChain, http, publicActions } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../support/command.ts'
import { type RunningNode, startDevnet } from '../support/devnet.ts'
import { findFoundry } from '../support/foundry.ts'

/** Keeps the first word of its data in slot 0, and answers its caller and its own address. */
const KEEPER: Hex = '0xde1e9a7e00000000000000000000000000000001'
const KEEPER_CODE: Hex = '0x5f355f55335f523060205260405ff3'
const NOBODY: Hex = '0x0000000000000000000000000000000000000000'
const SHA256: Hex = '0x0000000000000000000000000000000000000002'
const codeOf = (target: string): Hex => `0xef0100${target.slice(2).toLowerCase()}`

/** Delegation of accounts (EIP-7702) as wallets make it, on the rules of a network. */
describe.each([
  ['wasm', '0'],
  ['shadow', '1'],
])('on a devnet with --execution %s, blocks of %s s', (execution, blockTime) => {
  let node: RunningNode
  beforeAll(async () => {
    node = await startDevnet(['--block-time', blockTime, '--unlock', '--execution', execution])
    await node.rpc('anvil_setCode', [KEEPER, KEEPER_CODE])
  })
  afterAll(() => node?.stop())

  const keyOf = (index: number): Hex => node.accounts[index]?.privateKey as Hex
  const clientOf = (key: Hex) =>
    createWalletClient({
      account: privateKeyToAccount(key),
      chain: defineChain({
        id: node.chainId,
        name: 'devnet',
        nativeCurrency: { name: 'd', symbol: 'd', decimals: 18 },
        rpcUrls: { default: { http: [node.http] } },
      }),
      transport: http(),
      pollingInterval: 20,
    }).extend(publicActions)
  const code = (address: string) => node.rpc<Hex>('eth_getCode', [address, 'latest'])
  const slot = (address: string) => node.rpc<Hex>('eth_getStorageAt', [address, '0x0', 'latest'])

  test('viem: sponsored, used by others, chained, to a precompile, revoked', async () => {
    const sponsor = clientOf(keyOf(0))
    // It owns nothing: another account pays.
    const owner = clientOf(generatePrivateKey())
    const { address } = owner.account
    const send = async (signer: typeof owner, contractAddress: Hex, data: Hex) => {
      const authorization = await signer.signAuthorization({ account: signer.account, contractAddress })
      const hash = await sponsor.sendTransaction({ authorizationList: [authorization], to: address, data })
      const receipt = await sponsor.waitForTransactionReceipt({ hash })
      expect(receipt).toMatchObject({ status: 'success', type: 'eip7702' })
      return { hash, authorization, receipt }
    }
    const first = await send(owner, KEEPER, toWord(7n))
    expect([await code(address), await slot(address), await slot(KEEPER)]).toEqual([
      codeOf(KEEPER),
      toWord(7n),
      toWord(0n),
    ])
    expect(await owner.getTransactionCount({ address })).toBe(1)
    expect(await node.rpc('eth_getTransactionByHash', [first.hash])).toMatchObject({
      type: '0x4',
      authorizationList: [{ address: KEEPER, chainId: toQuantity(node.chainId), nonce: '0x0' }],
    })
    // State differences show the delegation.
    const tracer = { tracer: 'prestateTracer', tracerConfig: { diffMode: true } }
    const { pre, post } = await node.rpc<Record<'pre' | 'post', Record<string, { code?: Hex; nonce?: number }>>>(
      'debug_traceTransaction',
      [first.hash, tracer],
    )
    expect(pre[address.toLowerCase()]?.code).toBeUndefined()
    expect(post[address.toLowerCase()]).toMatchObject({ code: codeOf(KEEPER), nonce: 1 })
    // Anyone calls it from now on.
    const { data } = await sponsor.call({ to: address, data: toWord(1n) })
    expect(data?.slice(2)).toBe(toWord(BigInt(sponsor.account.address)).slice(2) + toWord(BigInt(address)).slice(2))
    // One hop alone: a chain runs the code of the delegation itself, which is invalid.
    const second = clientOf(generatePrivateKey())
    const chained = await second.signAuthorization({ account: second.account, contractAddress: address })
    const hash = await sponsor.sendTransaction({
      authorizationList: [chained],
      to: second.account.address,
      gas: 200_000n,
    })
    expect(await sponsor.waitForTransactionReceipt({ hash })).toMatchObject({ status: 'reverted', gasUsed: 200_000n })
    expect(await code(second.account.address)).toBe(codeOf(address))
    // A precompile has no code.
    await send(owner, SHA256, '0x1234')
    expect((await sponsor.call({ to: address, data: '0x1234' })).data).toBeUndefined()
    await send(owner, NOBODY, '0x')
    expect(await code(address)).toBe('0x')
    expect(await owner.getTransactionCount({ address })).toBe(3)
    // An authorization that held once is used: it changes nothing.
    const again = await sponsor.sendTransaction({ authorizationList: [first.authorization], to: NOBODY })
    await sponsor.waitForTransactionReceipt({ hash: again })
    expect(await code(address)).toBe('0x')
  })

  test('a delegated account calls itself, and has one transaction in flight', async () => {
    const own = clientOf(keyOf(1))
    const { address } = own.account
    const authorization = await own.signAuthorization({ contractAddress: KEEPER, executor: 'self' })
    const hash = await own.sendTransaction({ authorizationList: [authorization], to: address, data: toWord(9n) })
    expect(await own.waitForTransactionReceipt({ hash })).toMatchObject({ status: 'success' })
    expect([await code(address), await slot(address)]).toEqual([codeOf(KEEPER), toWord(9n)])
    const nonce = await own.getTransactionCount({ address })
    const gapped = own.sendTransaction({ to: NOBODY, gas: 21_000n, nonce: nonce + 1 })
    await expect(gapped).rejects.toThrow('gapped-nonce tx from delegated accounts')
  })

  test('the node signs for its accounts, simulates and estimates', async () => {
    const [from = '', other = ''] = node.accounts.slice(2).map(({ address }) => address.toLowerCase())
    const { nonce, ...signed } = await clientOf(keyOf(3)).signAuthorization({ contractAddress: KEEPER })
    const authorization = {
      chainId: toQuantity(signed.chainId),
      address: KEEPER,
      nonce: toQuantity(nonce),
      yParity: toQuantity(signed.yParity ?? 0),
      r: signed.r,
      s: signed.s,
    }
    const call = { from, to: other, input: toWord(5n), authorizationList: [authorization] }
    const output = `${toWord(BigInt(from))}${toWord(BigInt(other)).slice(2)}`
    expect(await node.rpc('eth_call', [call, 'latest'])).toBe(output)
    const simulated = await node.rpc<{ calls: unknown[]; transactions: unknown[] }[]>('eth_simulateV1', [
      { blockStateCalls: [{ calls: [call, { from, to: other, input: toWord(6n) }] }], returnFullTransactions: true },
      'latest',
    ])
    expect(simulated[0]).toMatchObject({
      calls: [{ returnData: output }, { returnData: output }],
      transactions: [{ type: '0x4', authorizationList: [authorization] }, { type: '0x2' }],
    })
    const gas = await node.rpc<Hex>('eth_estimateGas', [call])
    const none = { ...call, authorizationList: [] }
    await expect(node.rpc('eth_sendTransaction', [none])).rejects.toThrow('empty auth list')
    await expect(node.rpc('eth_call', [{ ...call, to: null }, 'latest'])).rejects.toThrow('create contract')
    const raw = await node.rpc<Hex>('eth_signTransaction', [{ ...call, gas, gasPrice: '0xba43b7400' }])
    expect(raw.slice(0, 4)).toBe('0x04')
    const hash = await node.rpc<Hex>('eth_sendTransaction', [{ ...call, gas }])
    // An account that exists gets back half of the price of its authorization.
    await expect
      .poll(() => node.rpc('eth_getTransactionReceipt', [hash]))
      .toMatchObject({ status: '0x1', type: '0x4', gasUsed: toQuantity(Number(gas) - 12_500) })
    expect(await slot(other)).toBe(toWord(5n))
  })

  test('ethers: authorizes and sends', async () => {
    const provider = new JsonRpcProvider(node.http, undefined, { cacheTimeout: -1, pollingInterval: 50 })
    try {
      const [owner, payer] = [new Wallet(keyOf(4), provider), new Wallet(keyOf(5), provider)]
      const authorization = await owner.authorize({ address: KEEPER })
      const sent = await payer.sendTransaction({
        type: 4,
        to: owner.address,
        data: toWord(3n),
        authorizationList: [authorization],
      })
      expect(await sent.wait()).toMatchObject({ status: 1, type: 4 })
      expect([await code(owner.address), await slot(owner.address)]).toEqual([codeOf(KEEPER), toWord(3n)])
      const read = await provider.getTransaction(sent.hash)
      expect(read?.authorizationList).toMatchObject([{ address: expect.stringMatching(/^0xde1e9a7e/i), nonce: 0n }])
    } finally {
      provider.destroy()
    }
  })

  const foundry = findFoundry()
  test.runIf('found' in foundry)('cast send --auth', async () => {
    const { cast } = (foundry as { found: { cast: string } }).found
    const folder = mkdtempSync(join(tmpdir(), 'tandem-auth-'))
    try {
      const options = { cwd: folder, env: { ETH_RPC_URL: node.http, HOME: folder, NO_COLOR: '1' } }
      const { address } = privateKeyToAccount(keyOf(6))
      const args = ['send', address, '--auth', KEEPER, '--private-key', keyOf(6), '--json', toWord(4n)]
      const { code: status, stdout, stderr } = await run(cast, args, options)
      expect(status, stderr).toBe(0)
      expect(JSON.parse(stdout)).toMatchObject({ status: '0x1', type: '0x4' })
      expect([await code(address), await slot(address)]).toEqual([codeOf(KEEPER), toWord(4n)])
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
