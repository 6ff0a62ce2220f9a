import {
  concatHex,
  createPublicClient,
  createWalletClient,
  defineChain,
  getContractAddress,
  type Hex,
  http,
  parseAbi,
  zeroHash,
} from 'viem'
import {
  entryPoint06Abi,
  entryPoint06Address,
  entryPoint07Address,
  entryPoint08Address,
} from 'viem/account-abstraction'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, onTestFinished, test } from 'vitest'
import { startDevnet } from '../support/devnet.ts'

const DEPLOYER = '0x4e59b44847b379578588920cA78FbF26c0B4956C'
const MULTICALL3 = '0xcA11bde05977b3631167028862bE2a173976CA11'
const PERMIT2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3'

const clientsOn = async (...options: string[]) => {
  const node = await startDevnet(['--block-time', '0', ...options])
  onTestFinished(async () => void (await node.stop()))
  const chain = defineChain({
    id: node.chainId,
    name: 'devnet',
    nativeCurrency: { name: 'dTNDM', symbol: 'dTNDM', decimals: 18 },
    rpcUrls: { default: { http: [node.http] } },
    contracts: { multicall3: { address: MULTICALL3 } },
  })
  const account = privateKeyToAccount(node.accounts[0]?.privateKey as Hex)
  const transport = http()
  return { reader: createPublicClient({ chain, transport }), wallet: createWalletClient({ account, chain, transport }) }
}

test('viem finds the well-known contracts on a devnet', async () => {
  const { reader, wallet } = await clientsOn()
  // Returns 42: deployed by CREATE2, as forge scripts do.
  const init: Hex = '0x69602a5f5260205ff300005f52600a6016f3'
  await wallet.sendTransactionSync({ to: DEPLOYER, data: concatHex([zeroHash, init]) })
  const address = getContractAddress({ from: DEPLOYER, salt: zeroHash, bytecode: init, opcode: 'CREATE2' })
  expect(await reader.getCode({ address })).toBe('0x602a5f5260205ff30000')
  const abi = parseAbi(['function DOMAIN_SEPARATOR() view returns (bytes32)'])
  const entryPoints = [entryPoint06Address, entryPoint07Address, entryPoint08Address]
  const [sequences, domain] = await Promise.all([
    reader.multicall({
      contracts: entryPoints.map(
        entryPoint =>
          ({ address: entryPoint, abi: entryPoint06Abi, functionName: 'getNonce', args: [PERMIT2, 7n] }) as const,
      ),
      allowFailure: false,
    }),
    reader.readContract({ address: PERMIT2, abi, functionName: 'DOMAIN_SEPARATOR' }),
  ])
  expect(domain).toMatch(/^0x[0-9a-f]{64}$/)
  expect(sequences).toEqual([7n << 64n, 7n << 64n, 7n << 64n])
})

test('none are there with --no-predeploys', async () => {
  const { reader } = await clientsOn('--no-predeploys')
  for (const address of [DEPLOYER, MULTICALL3, PERMIT2, entryPoint08Address] as const)
    expect(await reader.getCode({ address })).toBeUndefined()
})
