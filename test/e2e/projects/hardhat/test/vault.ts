import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { network } from 'hardhat'
import VaultModule from '../ignition/modules/Vault.ts'

describe('Vault on a Tandem node', () => {
  let connection: Awaited<ReturnType<typeof connect>>
  const connect = () => network.create('tandem')
  before(async () => {
    connection = await connect()
  })
  after(() => connection.close())

  it('knows the chain', async () => {
    const { ethers } = connection
    assert.equal((await ethers.provider.getNetwork()).chainId, BigInt(process.env.TANDEM_CHAIN_ID ?? 1998999))
    const block = await ethers.provider.getBlock('latest')
    assert.ok(block !== null && block.baseFeePerGas !== null && block.baseFeePerGas >= 25_000_000_000n)
  })

  it('deploys through ignition, takes deposits, and shows why it refuses one', async () => {
    const { ethers, ignition } = connection
    const [owner, guest] = await ethers.getSigners()
    const { vault } = await ignition.deploy(VaultModule, {
      deploymentId: 'of-the-test',
      parameters: { Vault: { minimum: 2_000n } },
    })
    assert.equal(await vault.getFunction('owner')(), owner.address)
    assert.equal(await vault.getFunction('open')(), true)
    assert.equal(await vault.getFunction('sharesOf')(owner.address), 5_000n)

    const response = await vault.connect(guest).getFunction('deposit')({ value: 3_000n })
    const receipt = await response.wait()
    assert.equal(receipt.status, 1)
    const [event] = await vault.queryFilter('Deposited', receipt.blockNumber, receipt.blockNumber)
    assert.deepEqual([...event.args], [guest.address, 3_000n, 3_000n])
    assert.equal(await ethers.provider.getBalance(vault), 8_000n)

    await assert.rejects(vault.connect(guest).getFunction('deposit')({ value: 1_999n }), error => {
      const { name, args } = vault.interface.parseError((error as { data: string }).data) ?? {}
      assert.deepEqual([name, ...(args ?? [])], ['TooLittle', 1_999n, 2_000n])
      return true
    })
    await assert.rejects(vault.connect(guest).getFunction('openDoors')(), /only the owner/)
  })

  it('sends a legacy transaction and deploys a compiled contract by its name', async () => {
    const { ethers } = connection
    const [owner, guest] = await ethers.getSigners()
    const { gasPrice } = await ethers.provider.getFeeData()
    const response = await owner.sendTransaction({ to: guest.address, value: 1n, type: 0, gasPrice })
    assert.equal((await response.wait())?.type, 0)
    const Shares = await ethers.getContractFactory('Shares')
    const deployed = await Shares.deploy()
    await deployed.waitForDeployment()
    assert.notEqual(await ethers.provider.getCode(deployed), '0x')
  })
})
