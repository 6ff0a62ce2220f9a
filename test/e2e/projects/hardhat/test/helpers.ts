import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { network } from 'hardhat'

/** Suite written for hardhat's own network, run on a Tandem development chain. */
describe('hardhat-network-helpers on a Tandem node', () => {
  const connect = () => network.create('unlocked')
  let connection: Awaited<ReturnType<typeof connect>>
  before(async () => {
    connection = await connect()
  })
  after(() => connection.close())

  const deployVault = async () => {
    const { ethers } = connection
    const shares = await ethers.deployContract('Shares')
    const vault = await ethers.deployContract('Vault', [2_000n], { libraries: { Shares: shares } })
    await vault.getFunction('openDoors')()
    return { vault, number: await ethers.provider.getBlockNumber() }
  }

  it('loadFixture gives each test the chain as the fixture left it', async () => {
    const { ethers, networkHelpers } = connection
    const first = await networkHelpers.loadFixture(deployVault)
    await first.vault.getFunction('deposit')({ value: 5_000n })
    // Without waiting: automine answers when the block stands.
    assert.equal(await ethers.provider.getBalance(first.vault), 5_000n)
    assert.equal(await ethers.provider.getBlockNumber(), first.number + 1)
    const second = await networkHelpers.loadFixture(deployVault)
    assert.equal(second.vault, first.vault)
    assert.equal(await ethers.provider.getBalance(second.vault), 0n)
    assert.equal(await ethers.provider.getBlockNumber(), second.number)
  })

  it('shows reasons and custom errors', async () => {
    const { ethers, networkHelpers } = connection
    const [, guest] = await ethers.getSigners()
    const { vault } = await networkHelpers.loadFixture(deployVault)
    await assert.rejects(vault.connect(guest).getFunction('openDoors')(), /only the owner/)
    await assert.rejects(vault.connect(guest).getFunction('deposit')({ value: 1n }), error => {
      const { name, args } = vault.interface.parseError((error as { data: string }).data) ?? {}
      assert.deepEqual([name, ...(args ?? [])], ['TooLittle', 1n, 2_000n])
      return true
    })
  })

  it('moves time', async () => {
    const { time } = connection.networkHelpers
    const before = await time.latest()
    assert.equal(await time.increase(3_600), before + 3_600)
    assert.equal(await time.latest(), before + 3_600)
    await time.increaseTo(before + 10_000)
    assert.equal(await time.latest(), before + 10_000)
    await time.setNextBlockTimestamp(before + 20_000)
    await connection.networkHelpers.mine()
    assert.equal(await time.latest(), before + 20_000)
  })

  it('mines', async () => {
    const { ethers, networkHelpers } = connection
    const number = await ethers.provider.getBlockNumber()
    const timestamp = await networkHelpers.time.latest()
    await networkHelpers.mine(100, { interval: 12 })
    assert.equal(await ethers.provider.getBlockNumber(), number + 100)
    assert.ok((await networkHelpers.time.latest()) - timestamp >= 99 * 12)
    await networkHelpers.mineUpTo(number + 150)
    assert.equal(await ethers.provider.getBlockNumber(), number + 150)
  })

  it('impersonates a contract and sets balances, code, storage, nonces, fees', async () => {
    const { ethers, networkHelpers } = connection
    const { vault } = await networkHelpers.loadFixture(deployVault)
    const address = await vault.getAddress()
    await networkHelpers.setBalance(address, 10n ** 18n)
    await networkHelpers.impersonateAccount(address)
    const sender = await ethers.getImpersonatedSigner(address)
    const receipt = await (await sender.sendTransaction({ to: vault, data: '0xd0e30db0', value: 3_000n })).wait()
    assert.equal(receipt?.status, 1)
    assert.equal(await vault.getFunction('sharesOf')(address), 3_000n)
    await networkHelpers.stopImpersonatingAccount(address)
    await assert.rejects(sender.sendTransaction({ to: '0x00000000000000000000000000000000000005af', value: 1n }), /unknown account/)

    const other = '0x00000000000000000000000000000000000c0de5'
    await networkHelpers.setCode(other, '0x5f545f5260205ff3')
    await networkHelpers.setStorageAt(other, 0, 42)
    assert.equal(BigInt(await ethers.provider.call({ to: other })), 42n)
    await networkHelpers.setNonce(other, 7)
    assert.equal(await ethers.provider.getTransactionCount(other), 7)
    await networkHelpers.setNextBlockBaseFeePerGas(26_000_000_000n)
    await networkHelpers.setCoinbase(other)
    await networkHelpers.mine()
    const block = await ethers.provider.getBlock('latest')
    assert.deepEqual([block?.baseFeePerGas, block?.miner.toLowerCase()], [26_000_000_000n, other])
  })

  it('takes snapshots and restores them, more than once', async () => {
    const { ethers, networkHelpers } = connection
    const [owner] = await ethers.getSigners()
    const to = '0x00000000000000000000000000000000000005af'
    const snapshot = await networkHelpers.takeSnapshot()
    for (let i = 0; i < 3; i++) {
      await owner.sendTransaction({ to, value: 1n })
      assert.equal(await ethers.provider.getBalance(to), 1n)
      await snapshot.restore()
      assert.equal(await ethers.provider.getBalance(to), 0n)
    }
  })
})
