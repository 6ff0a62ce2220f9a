import { concat, type Hex, keccak256, parseEther, parseSignature, toFunctionSelector, zeroHash } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { compileSuite } from './artifact.ts'
import { PERMIT } from './permit.ts'
import { eventsOf, revertOf, ViemChain, type ViemContract } from './viem-chain.ts'

/** Public behaviour of Solady 0.1.26, contracts in assembly, through viem. */
const compiled = compileSuite('Solady.sol')

let chain: ViemChain
let weth: ViemContract
let item: ViemContract
let library: ViemContract

beforeAll(async () => {
  chain = await ViemChain.start()
  weth = await chain.deploy(compiled('Wrapped'))
  item = await chain.deploy(compiled('Item'))
  library = await chain.deploy(compiled('Library'))
})
afterAll(() => chain?.stop())
beforeEach(() => chain.clean())

describe('WETH', () => {
  test('wraps what is sent, by function or plainly, and unwraps it', async () => {
    const [alice, client] = [chain.account(1), chain.client]
    await chain.send(weth, 'deposit', [], { from: 1, value: parseEther('2') })
    await client.waitForTransactionReceipt({
      hash: await client.sendTransaction({ account: alice, to: weth.address, value: parseEther('1') }),
    })
    expect(await chain.read(weth, 'balanceOf', [alice])).toBe(parseEther('3'))
    expect(await client.getBalance({ address: weth.address })).toBe(parseEther('3'))
    const before = await client.getBalance({ address: alice })
    const { gasUsed, effectiveGasPrice } = await chain.send(weth, 'withdraw', [parseEther('3')], { from: 1 })
    expect(await client.getBalance({ address: alice })).toBe(before + parseEther('3') - gasUsed * effectiveGasPrice)
    expect(await revertOf(chain.send(weth, 'withdraw', [1n], { from: 1 }))).toBe('InsufficientBalance')
  })

  test('does not pay a contract that takes no coins', async () => {
    const { client } = chain
    await client.impersonateAccount({ address: item.address })
    await client.setBalance({ address: item.address, value: parseEther('9') })
    const call = { address: weth.address, abi: weth.abi, account: item.address } as const
    const hash = await client.writeContract({ ...call, functionName: 'deposit', value: 7n, args: [] })
    expect((await client.waitForTransactionReceipt({ hash })).status).toBe('success')
    const refused = client.simulateContract({ ...call, functionName: 'withdraw', args: [7n] })
    expect(await revertOf(refused)).toBe('ETHTransferFailed')
  })

  test('spends allowances, of a permit too', async () => {
    const [owner, spender] = [chain.account(0), chain.account(1)]
    await chain.send(weth, 'deposit', [], { value: 100n })
    expect(await revertOf(chain.send(weth, 'transferFrom', [owner, spender, 1n], { from: 1 }))).toBe(
      'InsufficientAllowance',
    )
    const domain = { name: 'Wrapped Ether', version: '1', chainId: chain.node.chainId, verifyingContract: weth.address }
    const message = { owner, spender, value: 60n, nonce: 0n, deadline: 2n ** 255n }
    const signed = { domain, types: PERMIT, primaryType: 'Permit', message, account: owner } as const
    const { r, s, yParity } = parseSignature(await chain.client.signTypedData(signed))
    const permit = [owner, spender, 60n, message.deadline, yParity + 27, r, s]
    await chain.send(weth, 'permit', permit, { from: 1 })
    expect(await revertOf(chain.send(weth, 'permit', permit, { from: 1 }))).toBe('InvalidPermit')
    const receipt = await chain.send(weth, 'transferFrom', [owner, spender, 60n], { from: 1 })
    expect(eventsOf(weth, receipt)).toEqual([['Transfer', { from: owner, to: spender, amount: 60n }]])
    expect(await chain.read(weth, 'allowance', [owner, spender])).toBe(0n)
  })
})

describe('ERC721', () => {
  test('a token has one owner, who may approve others', async () => {
    const [owner, alice, bob] = [chain.account(0), chain.account(1), chain.account(2)]
    await chain.send(item, 'mint', [owner, 7n])
    expect(await revertOf(chain.send(item, 'mint', [alice, 7n]))).toBe('TokenAlreadyExists')
    expect(await revertOf(chain.read(item, 'ownerOf', [8n]))).toBe('TokenDoesNotExist')
    expect(await revertOf(chain.send(item, 'transferFrom', [owner, bob, 7n], { from: 1 }))).toBe('NotOwnerNorApproved')
    await chain.send(item, 'approve', [alice, 7n])
    const receipt = await chain.send(item, 'transferFrom', [owner, bob, 7n], { from: 1 })
    expect(eventsOf(item, receipt)).toEqual([['Transfer', { from: owner, to: bob, id: 7n }]])
    expect([await chain.read(item, 'ownerOf', [7n]), await chain.read(item, 'balanceOf', [owner])]).toEqual([bob, 0n])
  })

  test('is not minted safely to a contract that does not answer', async () => {
    expect(await revertOf(chain.send(item, 'mint', [weth.address, 1n]))).toBe('TransferToNonERC721ReceiverImplementer')
  })
})

describe('libraries', () => {
  test('a clone carries its arguments and stands where it was predicted', async () => {
    // The interface of the caller does not list errors of a library in assembly.
    const args: Hex = '0x00112233445566778899'
    const salt: Hex = `${chain.account(0).toLowerCase() as Hex}${'00'.repeat(12)}`
    const predicted = await chain.read(library, 'predict', [item.address, args, salt])
    const receipt = await chain.send(library, 'clone', [item.address, args, salt])
    expect(eventsOf(library, receipt)).toEqual([['Cloned', { instance: predicted }]])
    expect(await chain.read(library, 'argsOf', [predicted])).toBe(args)
    const clone = { address: predicted as Hex, abi: item.abi }
    expect(await chain.read(clone, 'name')).toBe('Item')
    expect(await revertOf(chain.send(library, 'clone', [item.address, args, salt]))).toBe(
      toFunctionSelector('DeploymentFailed()'),
    )
  })

  test('proves leaves of a Merkle tree', async () => {
    const leaves = [1, 2, 3, 4].map(n => keccak256(`0x0${n}`))
    const pair = (a: Hex, b: Hex) => keccak256(concat(a < b ? [a, b] : [b, a]))
    const [a, b, c, d] = leaves as [Hex, Hex, Hex, Hex]
    const root = pair(pair(a, b), pair(c, d))
    expect(await chain.read(library, 'verify', [[b, pair(c, d)], root, a])).toBe(true)
    expect(await chain.read(library, 'verify', [[b, pair(c, d)], root, c])).toBe(false)
    expect(await chain.read(library, 'verify', [[], root, zeroHash])).toBe(false)
  })

  test('multiplies and divides at full width', async () => {
    const max = 2n ** 256n - 1n
    expect(await chain.read(library, 'fullMulDiv', [max, max, max])).toBe(max)
    expect(await chain.read(library, 'fullMulDiv', [max, 3n, 7n])).toBe((max * 3n) / 7n)
    expect(await revertOf(chain.read(library, 'fullMulDiv', [max, max, 1n]))).toBe(
      toFunctionSelector('FullMulDivFailed()'),
    )
    expect(await chain.read(library, 'sqrt', [max])).toBe(2n ** 128n - 1n)
  })
})
