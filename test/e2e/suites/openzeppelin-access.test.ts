import { Contract, type JsonRpcSigner, MaxUint256, Signature, ZeroAddress } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compileSuite, packageArtifact } from './artifact.ts'
import { type EthersChain, eventsOf, fixtureOn, read, revertOf, send, startEthersChain } from './ethers-chain.ts'
import { PERMIT } from './permit.ts'

/*
 * Behaviour of OpenZeppelin Contracts 5.4.0 that its own suite covers in the groups access, token and proxy, in our words, with a client
 * and calls as that suite has them.
 */
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

describe('access: ownership in two steps', () => {
  const fixture = fixtureOn(
    () => chain,
    () => chain.deploy(compiled('Owned'), [owner.address]),
  )

  test('a transfer begins without effect, and ends when the new owner accepts it', async () => {
    const owned = await fixture()
    const begun = await send(owned, 'transferOwnership', [alice.address])
    expect(await eventsOf(owned, begun)).toEqual([['OwnershipTransferStarted', owner.address, alice.address]])
    expect([await read(owned, 'owner'), await read(owned, 'pendingOwner')]).toEqual([owner.address, alice.address])
    const ended = await send(owned, 'acceptOwnership', [], alice)
    expect(await eventsOf(owned, ended)).toEqual([['OwnershipTransferred', owner.address, alice.address]])
    expect([await read(owned, 'owner'), await read(owned, 'pendingOwner')]).toEqual([alice.address, ZeroAddress])
  })

  test('others may neither begin nor accept one', async () => {
    const owned = await fixture()
    expect(await read(owned, 'pendingOwner')).toBe(ZeroAddress)
    await send(owned, 'transferOwnership', [alice.address])
    const refused = ['OwnableUnauthorizedAccount', bob.address]
    expect(await revertOf(send(owned, 'acceptOwnership', [], bob), owned.interface)).toEqual(refused)
    expect(await revertOf(send(owned, 'transferOwnership', [bob.address], bob), owned.interface)).toEqual(refused)
  })

  test('giving up ownership ends a transfer that has begun', async () => {
    const owned = await fixture()
    await send(owned, 'transferOwnership', [alice.address])
    const given = await send(owned, 'renounceOwnership')
    expect(await eventsOf(owned, given)).toEqual([['OwnershipTransferred', owner.address, ZeroAddress]])
    expect([await read(owned, 'owner'), await read(owned, 'pendingOwner')]).toEqual([ZeroAddress, ZeroAddress])
    const late = await revertOf(send(owned, 'acceptOwnership', [], alice), owned.interface)
    expect(late).toEqual(['OwnableUnauthorizedAccount', alice.address])
  })
})

describe('token: a fungible token with permits', () => {
  const SUPPLY = 1_000n
  const fixture = fixtureOn(
    () => chain,
    () => chain.deploy(compiled('Coin'), [owner.address, SUPPLY]),
  )

  test('transfers move balances and are logged; more than the balance is refused', async () => {
    const coin = await fixture()
    const moved = await send(coin, 'transfer', [alice.address, 400n])
    expect(await eventsOf(coin, moved)).toEqual([['Transfer', owner.address, alice.address, 400n]])
    expect([await read(coin, 'balanceOf', [owner]), await read(coin, 'balanceOf', [alice])]).toEqual([600n, 400n])
    const tooMuch = await revertOf(send(coin, 'transfer', [bob.address, 401n], alice), coin.interface)
    expect(tooMuch).toEqual(['ERC20InsufficientBalance', alice.address, 400n, 401n])
    const nobody = await revertOf(send(coin, 'transfer', [ZeroAddress, 1n]), coin.interface)
    expect(nobody).toEqual(['ERC20InvalidReceiver', ZeroAddress])
  })

  test('an allowance is spent, except the largest', async () => {
    const coin = await fixture()
    expect(await read(coin, 'balanceOf', [alice])).toBe(0n)
    await send(coin, 'approve', [alice.address, 10n])
    const over = await revertOf(send(coin, 'transferFrom', [owner.address, bob.address, 11n], alice), coin.interface)
    expect(over).toEqual(['ERC20InsufficientAllowance', alice.address, 10n, 11n])
    await send(coin, 'transferFrom', [owner.address, bob.address, 4n], alice)
    expect(await read(coin, 'allowance', [owner, alice])).toBe(6n)
    await send(coin, 'approve', [alice.address, MaxUint256])
    await send(coin, 'transferFrom', [owner.address, bob.address, 4n], alice)
    expect(await read(coin, 'allowance', [owner, alice])).toBe(MaxUint256)
  })

  test('burning shrinks the supply', async () => {
    const coin = await fixture()
    const burnt = await send(coin, 'burn', [1n])
    expect(await eventsOf(coin, burnt)).toEqual([['Transfer', owner.address, ZeroAddress, 1n]])
    expect(await read(coin, 'totalSupply')).toBe(SUPPLY - 1n)
  })

  test('a permit that the node signed is good once and until its deadline', async () => {
    const coin = await fixture()
    const verifyingContract = await coin.getAddress()
    const domain = { name: 'Coin', version: '1', chainId: chain.node.chainId, verifyingContract }
    const signed = async (deadline: number) => {
      const nonce = await read(coin, 'nonces', [owner])
      const value = { owner: owner.address, spender: alice.address, value: 77n, nonce, deadline }
      const { v, r, s } = Signature.from(await owner.signTypedData(domain, { Permit: [...PERMIT.Permit] }, value))
      return [owner.address, alice.address, 77n, deadline, v, r, s]
    }
    const permit = await signed((await chain.now()) + 3_600)
    await send(coin, 'permit', permit, bob)
    expect(await read(coin, 'allowance', [owner, alice])).toBe(77n)
    expect((await revertOf(send(coin, 'permit', permit, bob), coin.interface))[0]).toBe('ERC2612InvalidSigner')
    const expiring = await signed((await chain.now()) + 60)
    await chain.mineAt((await chain.now()) + 120)
    expect((await revertOf(send(coin, 'permit', expiring, bob), coin.interface))[0]).toBe('ERC2612ExpiredSignature')
  })
})

describe('proxy: code that is replaced behind an address', () => {
  const fixture = fixtureOn(
    () => chain,
    async () => {
      const [one, two] = [await chain.deploy(compiled('Counter')), await chain.deploy(compiled('CounterTwo'))]
      const begin = one.interface.encodeFunctionData('initialize', [owner.address, 5n])
      const proxy = await chain.deploy(prebuilt('ERC1967Proxy'), [await one.getAddress(), begin])
      const beacon = await chain.deploy(prebuilt('UpgradeableBeacon'), [await one.getAddress(), owner.address])
      const follower = await chain.deploy(prebuilt('BeaconProxy'), [await beacon.getAddress(), begin])
      const behind = async (address: Contract) => new Contract(await address.getAddress(), two.interface, owner)
      return { two, beacon, proxy: await behind(proxy), follower: await behind(follower) }
    },
  )
  /** keccak256('eip1967.proxy.implementation') - 1. */
  const IMPLEMENTATION = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'

  test('state is kept over an upgrade, and the slot of ERC-1967 shows the code', async () => {
    const { two, proxy } = await fixture()
    await send(proxy, 'add', [2n])
    expect(await read(proxy, 'version')).toBe('one')
    const double = two.interface.encodeFunctionData('double')
    const upgraded = await send(proxy, 'upgradeToAndCall', [await two.getAddress(), double])
    expect(await eventsOf(proxy, upgraded)).toEqual([['Upgraded', await two.getAddress()]])
    expect([await read(proxy, 'version'), await read(proxy, 'count')]).toEqual(['two', 14n])
    const slot = await chain.provider.getStorage(proxy, IMPLEMENTATION)
    expect(`0x${slot.slice(26)}`).toBe((await two.getAddress()).toLowerCase())
  })

  test('only the owner upgrades, only to code that can be upgraded, and it begins once', async () => {
    const { two, beacon, proxy } = await fixture()
    const address = await two.getAddress()
    const stranger = await revertOf(send(proxy, 'upgradeToAndCall', [address, '0x'], alice), proxy.interface)
    expect(stranger).toEqual(['NotOwner', alice.address])
    const wrong = await revertOf(send(proxy, 'upgradeToAndCall', [await beacon.getAddress(), '0x']), proxy.interface)
    expect(wrong).toEqual(['ERC1967InvalidImplementation', await beacon.getAddress()])
    const again = await revertOf(send(proxy, 'initialize', [alice.address, 1n]), proxy.interface)
    expect(again).toEqual(['InvalidInitialization'])
  })

  test('a beacon upgrades what follows it', async () => {
    const { two, beacon, follower } = await fixture()
    expect(await read(follower, 'version')).toBe('one')
    const stranger = await revertOf(send(beacon, 'upgradeTo', [await two.getAddress()], bob), beacon.interface)
    expect(stranger).toEqual(['OwnableUnauthorizedAccount', bob.address])
    await send(beacon, 'upgradeTo', [await two.getAddress()])
    expect([await read(follower, 'version'), await read(follower, 'count')]).toEqual(['two', 5n])
  })
})
