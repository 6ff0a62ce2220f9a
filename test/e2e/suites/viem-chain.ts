import {
  type Abi,
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  createTestClient,
  decodeEventLog,
  defineChain,
  type Hex,
  http,
  publicActions,
  type TransactionReceipt,
  walletActions,
} from 'viem'
import { type RunningNode, startDevnet } from '../../support/devnet.ts'
import type { Artifact } from './artifact.ts'
import { SUITE_FLAGS } from './flags.ts'

const clientOf = (node: RunningNode) => {
  const chain = defineChain({
    id: node.chainId,
    name: 'devnet',
    nativeCurrency: { name: 'Token', symbol: 'TOK', decimals: 18 },
    rpcUrls: { default: { http: [node.http] } },
  })
  return createTestClient({ chain, mode: 'hardhat', transport: http(), cacheTime: 0, pollingInterval: 20 })
    .extend(publicActions)
    .extend(walletActions)
}

/** Contract as viem calls it. */
export interface ViemContract {
  readonly address: Address
  readonly abi: Abi
}

/** Development chain of a contract suite, as viem sees it: the node holds the keys. */
export class ViemChain {
  readonly node: RunningNode
  readonly client: ReturnType<typeof clientOf>
  #snapshot: Hex | undefined

  private constructor(node: RunningNode) {
    this.node = node
    this.client = clientOf(node)
  }

  static async start(): Promise<ViemChain> {
    return new ViemChain(await startDevnet([...SUITE_FLAGS, '--execution', 'wasm']))
  }

  account(index: number): Address {
    return this.node.accounts[index]?.address as Address
  }

  /** Reverts to the state at the first call. */
  async clean(): Promise<void> {
    if (this.#snapshot !== undefined) await this.client.revert({ id: this.#snapshot })
    this.#snapshot = await this.client.snapshot()
  }

  async deploy({ abi, bytecode }: Artifact, args: readonly unknown[] = []): Promise<ViemContract> {
    const deployed = { abi: abi as Abi, bytecode, args, account: this.account(0) }
    const hash = await this.client.deployContract(deployed)
    const { contractAddress } = await this.client.waitForTransactionReceipt({ hash })
    return { address: contractAddress as Address, abi: abi as Abi }
  }

  read({ address, abi }: ViemContract, functionName: string, args: readonly unknown[] = []): Promise<unknown> {
    return this.client.readContract({ address, abi, functionName, args })
  }

  /** Calls a function to learn its failure, then sends it; returns the receipt. */
  async send(
    { address, abi }: ViemContract,
    functionName: string,
    args: readonly unknown[] = [],
    { from = 0, value = 0n }: { readonly from?: number; readonly value?: bigint } = {},
  ): Promise<TransactionReceipt> {
    const call = { address, abi, functionName, args, account: this.account(from), value }
    await this.client.simulateContract(call)
    return this.client.waitForTransactionReceipt({ hash: await this.client.writeContract(call) })
  }

  stop(): Promise<unknown> {
    return this.node.stop()
  }
}

/** Returns the events of one contract in a receipt: name and arguments of each. */
export const eventsOf = ({ address, abi }: ViemContract, { logs }: TransactionReceipt): [string, unknown][] =>
  logs
    .filter(log => log.address === address.toLowerCase())
    .map(({ data, topics }) => {
      const { eventName, args } = decodeEventLog({ abi, data, topics })
      return [String(eventName), args]
    })

/** Returns the reason or the custom error with which a call reverts; throws when it does not. */
export const revertOf = async (call: Promise<unknown>): Promise<string> => {
  const error = await call.then(
    () => undefined,
    failure => failure,
  )
  const reverted =
    error instanceof BaseError ? error.walk(cause => cause instanceof ContractFunctionRevertedError) : null
  if (!(reverted instanceof ContractFunctionRevertedError)) throw new Error(`no revert: ${error}`)
  return reverted.reason ?? reverted.data?.errorName ?? reverted.signature ?? ''
}
