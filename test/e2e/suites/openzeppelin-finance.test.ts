import { Contract, getCreate2Address, type JsonRpcSigner, keccak256, parseEther, ZeroHash } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compileSuite, packageArtifact } from './artifact.ts'
import { type EthersChain, eventsOf, fixtureOn, read, revertOf, send, startEthersChain } from './ethers-chain.ts'

/** Behaviour of OpenZeppelin Contracts 5.4.0 that its own suite covers in the groups finance, metatx and utils, in our words. */
const compiled = compileSuite('OpenZeppelin.sol')
const prebuilt = (name: string) => packageArtifact(`@openzeppelin/contracts/build/contracts/${name}.json`)

let chain: EthersChain
let owner: JsonRpcSigner
let alice: JsonRpcSigner
let bob: JsonRpcSigner
beforeAll(async () => {
  chain = await startEthersChain()
  owner = await chain.signer(0)
  alice = await chain.signer(1)
  bob = await chain.signer(2)
})
afterAll(() => chain?.stop())

describe('finance: a wallet that vests', () => {
  const AMOUNT = parseEther('100')
  const DURATION = 4 * 365 * 86_400
  const fixture = fixtureOn(
    () => chain,
    async () => {
      const start = (await chain.now()) + 3_600
      const wallet = await chain.deploy(prebuilt('VestingWallet'), [alice.address, start, DURATION])
      const coin = await chain.deploy(compiled('Coin'), [owner.address, AMOUNT])
      await send(coin, 'transfer', [await wallet.getAddress(), AMOUNT])
      await (await owner.sendTransaction({ to: wallet, value: AMOUNT })).wait()
      return { wallet, coin, start }
    },
  )
  const vestedAt = (start: number, timestamp: number): bigint => {
    const share = (AMOUNT * BigInt(Math.max(0, timestamp - start))) / BigInt(DURATION)
    return share > AMOUNT ? AMOUNT : share
  }

  test('follows its schedule at every step, in coins and in tokens', async () => {
    const { wallet, coin, start } = await fixture()
    for (let step = 0; step <= 16; step++) {
      const timestamp = start + Math.floor((step * DURATION) / 15)
      await chain.mineAt(timestamp)
      expect(await read(wallet, 'releasable()'), `step ${step}`).toBe(vestedAt(start, timestamp))
      expect(await read(wallet, 'vestedAmount(address,uint64)', [coin, timestamp])).toBe(vestedAt(start, timestamp))
    }
  })

  test('pays what has vested since the last time, to the owner', async () => {
    const { wallet, coin, start } = await fixture()
    let released = 0n
    for (const part of [4, 2]) {
      const timestamp = start + DURATION / part
      await chain.provider.send('evm_setNextBlockTimestamp', [timestamp])
      const before = await chain.provider.getBalance(alice)
      const receipt = await send(wallet, 'release()')
      const due = vestedAt(start, timestamp) - released
      expect(await eventsOf(wallet, receipt)).toEqual([['EtherReleased', due]])
      expect((await chain.provider.getBalance(alice)) - before).toBe(due)
      released += due
    }
    await chain.mineAt(start + DURATION)
    await send(wallet, 'release(address)', [coin])
    expect(await read(coin, 'balanceOf', [alice])).toBe(AMOUNT)
  })

  test('no owner, no wallet', async () => {
    const { wallet, start } = await fixture()
    const nobody = chain.deploy(prebuilt('VestingWallet'), [`0x${'0'.repeat(40)}`, start, DURATION])
    expect((await revertOf(nobody, wallet.interface))[0]).toBe('OwnableInvalidOwner')
  })
})

describe('metatx: calls that another pays for', () => {
  const fixture = fixtureOn(
    () => chain,
    async () => {
      const forwarder = await chain.deploy(prebuilt('ERC2771Forwarder'), ['Forwarder'])
      const recipient = await chain.deploy(compiled('Recipient'), [await forwarder.getAddress()])
      return { forwarder, recipient }
    },
  )
  type Parts = Awaited<ReturnType<typeof fixture>>

  const requestOf = async ({ forwarder, recipient }: Parts, name: string, args: readonly unknown[] = []) => {
    const request = {
      from: alice.address,
      to: await recipient.getAddress(),
      value: 0n,
      gas: 200_000n,
      nonce: await read(forwarder, 'nonces', [alice]),
      deadline: (await chain.now()) + 60,
      data: recipient.interface.encodeFunctionData(name, args),
    }
    const verifyingContract = await forwarder.getAddress()
    const domain = { name: 'Forwarder', version: '1', chainId: chain.node.chainId, verifyingContract }
    return { ...request, signature: await alice.signTypedData(domain, FORWARD_REQUEST, request) }
  }

  test('the recipient sees the signer, not the sender', async () => {
    const parts = await fixture()
    const { forwarder, recipient } = parts
    const request = await requestOf(parts, 'touch', [9n])
    expect(await read(forwarder, 'verify', [request])).toBe(true)
    const receipt = await send(forwarder, 'execute', [request], bob)
    expect(await eventsOf(recipient, receipt)).toEqual([['Called', alice.address, request.data, 0n]])
    expect(await eventsOf(forwarder, receipt)).toEqual([['ExecutedForwardRequest', alice.address, 0n, true]])
  })

  test('a request is good once, unchanged and in time', async () => {
    const parts = await fixture()
    const { forwarder } = parts
    const request = await requestOf(parts, 'touch', [9n])
    const changed = { ...request, gas: request.gas + 1n }
    expect(await read(forwarder, 'verify', [changed])).toBe(false)
    const tampered = await revertOf(send(forwarder, 'execute', [changed], bob), forwarder.interface)
    expect(tampered[0]).toBe('ERC2771ForwarderInvalidSigner')
    await send(forwarder, 'execute', [request], bob)
    const repeated = await revertOf(send(forwarder, 'execute', [request], bob), forwarder.interface)
    expect(repeated[0]).toBe('ERC2771ForwarderInvalidSigner')
    const late = await requestOf(parts, 'touch', [9n])
    await chain.mineAt(late.deadline + 1)
    const expired = await revertOf(send(forwarder, 'execute', [late], bob), forwarder.interface)
    expect(expired).toEqual(['ERC2771ForwarderExpiredRequest', BigInt(late.deadline)])
  })

  test('a batch pays back what failed calls did not use', async () => {
    const parts = await fixture()
    const { forwarder } = parts
    const request = await requestOf(parts, 'refuse')
    const receipt = await send(forwarder, 'executeBatch', [[request], bob.address], bob)
    expect(await eventsOf(forwarder, receipt)).toEqual([['ExecutedForwardRequest', alice.address, 0n, false]])
  })
})

const FORWARD_REQUEST = {
  ForwardRequest: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'gas', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint48' },
    { name: 'data', type: 'bytes' },
  ],
}

describe('utils: addresses, batches, guards', () => {
  const fixture = fixtureOn(
    () => chain,
    () => chain.deploy(compiled('Tools')),
  )

  test('CREATE2 deploys where it was computed, once, with coins', async () => {
    const tools = await fixture()
    const { bytecode } = compiled('Recipient')
    const code = `${bytecode}${bob.address.slice(2).padStart(64, '0')}`
    const address = getCreate2Address(await tools.getAddress(), ZeroHash, keccak256(code))
    expect(await read(tools, 'addressOf', [ZeroHash, keccak256(code)])).toBe(address)
    await send(tools, 'deploy', [0n, ZeroHash, code])
    expect(await chain.provider.getCode(address)).not.toBe('0x')
    const again = await revertOf(send(tools, 'deploy', [0n, ZeroHash, code]), tools.interface)
    expect(again[0]).toBe('FailedDeployment')
    const poor = await revertOf(send(tools, 'deploy', [1n, `0x${'1'.repeat(64)}`, code]), tools.interface)
    expect(poor).toEqual(['InsufficientBalance', 0n, 1n])
  })

  test('a clone has its predicted address and runs the code of its origin', async () => {
    const tools = await fixture()
    const origin = await tools.getAddress()
    const clone = (await read(tools, 'cloneOf', [origin, ZeroHash])) as string
    await send(tools, 'clone', [origin, ZeroHash])
    const cloned = new Contract(clone, tools.interface, owner)
    await send(cloned, 'store', [3n])
    expect([await read(cloned, 'total'), await read(tools, 'total')]).toEqual([3n, 0n])
    expect((await chain.provider.getCode(clone)).length).toBe(2 + 2 * 45)
  })

  test('a batch of calls takes effect as a whole', async () => {
    const tools = await fixture()
    const call = (value: bigint) => tools.interface.encodeFunctionData('store', [value])
    const receipt = await send(tools, 'multicall', [[call(1n), call(2n)]])
    expect(await eventsOf(tools, receipt)).toEqual([
      ['Stored', 1n],
      ['Stored', 2n],
    ])
    const failed = await revertOf(send(tools, 'multicall', [[call(1n), call(0n)]]), tools.interface)
    expect(failed).toEqual(['TooSmall', 0n])
    expect(await read(tools, 'total')).toBe(3n)
  })

  test('a guarded function does not call itself', async () => {
    const tools = await fixture()
    await send(tools, 'guarded', [0n])
    const nested = await revertOf(send(tools, 'guarded', [1n]), tools.interface)
    expect(nested).toEqual(['ReentrancyGuardReentrantCall'])
    expect(await read(tools, 'total')).toBe(1n)
  })
})
