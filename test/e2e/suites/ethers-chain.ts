import {
  Contract,
  ContractFactory,
  type ContractTransactionReceipt,
  type Interface,
  type InterfaceAbi,
  JsonRpcProvider,
  type JsonRpcSigner,
} from 'ethers'
import { type RunningNode, startDevnet } from '../../support/devnet.ts'
import type { Artifact } from './artifact.ts'
import { SUITE_FLAGS } from './flags.ts'

/** Development chain of a contract suite, as ethers sees it: the node holds the keys. */
export interface EthersChain {
  readonly node: RunningNode
  readonly provider: JsonRpcProvider
  signer(index: number): Promise<JsonRpcSigner>
  deploy(artifact: Artifact, args?: readonly unknown[], signer?: JsonRpcSigner): Promise<Contract>
  /** Timestamp of the latest block. */
  now(): Promise<number>
  /** Makes a block at a timestamp. */
  mineAt(timestamp: number): Promise<void>
  stop(): Promise<void>
}

export const startEthersChain = async (flags: readonly string[] = []): Promise<EthersChain> => {
  const node = await startDevnet([...SUITE_FLAGS, '--execution', 'wasm', ...flags])
  const provider = new JsonRpcProvider(node.http, node.chainId, { cacheTimeout: -1, staticNetwork: true })
  return {
    node,
    provider,
    signer: index => provider.getSigner(index),
    async deploy({ abi, bytecode }, args = [], signer = undefined) {
      const factory = new ContractFactory(abi as InterfaceAbi, bytecode, signer ?? (await provider.getSigner(0)))
      const contract = await factory.deploy(...args)
      return new Contract(await contract.getAddress(), abi as InterfaceAbi, contract.runner)
    },
    now: async () => Number((await provider.send('eth_getBlockByNumber', ['latest', false])).timestamp),
    async mineAt(timestamp) {
      await provider.send('evm_setNextBlockTimestamp', [timestamp])
      await provider.send('evm_mine', [])
    },
    async stop() {
      provider.destroy()
      await node.stop()
    },
  }
}

/** Returns a function that gives each caller the chain as `build` left it: built once, then reverted to a snapshot. */
export const fixtureOn = <T>(chain: () => EthersChain, build: () => Promise<T>): (() => Promise<T>) => {
  let built: T
  let snapshot: string | undefined
  return async () => {
    const { provider } = chain()
    if (snapshot === undefined) built = await build()
    else if (!(await provider.send('evm_revert', [snapshot]))) throw new Error('the snapshot is gone')
    snapshot = await provider.send('evm_snapshot', [])
    return built
  }
}

/** Sends a transaction to a contract; returns its receipt. */
export const send = async (
  contract: Contract,
  name: string,
  args: readonly unknown[] = [],
  from?: JsonRpcSigner,
): Promise<ContractTransactionReceipt> => {
  const sent = await (from === undefined ? contract : (contract.connect(from) as Contract)).getFunction(name)(...args)
  return (await sent.wait()) as ContractTransactionReceipt
}

/** Calls a function of a contract. */
export const read = (contract: Contract, name: string, args: readonly unknown[] = []): Promise<unknown> =>
  contract.getFunction(name).staticCall(...args)

/** Returns the events of one contract in a receipt: name and arguments of each. */
export const eventsOf = async (contract: Contract, receipt: ContractTransactionReceipt): Promise<unknown[][]> => {
  const address = await contract.getAddress()
  return receipt.logs
    .filter(log => log.address === address)
    .map(log => {
      const event = contract.interface.parseLog(log)
      return [event?.name, ...(event?.args ?? [])]
    })
}

/** Returns the name and the arguments of the error with which a call reverts; throws when it does not. */
export const revertOf = async (call: Promise<unknown>, abi: Interface): Promise<unknown[]> => {
  const error = await call.then(
    () => undefined,
    failure => failure,
  )
  const data = error?.data ?? error?.info?.error?.data
  if (typeof data !== 'string') throw new Error(`no revert: ${error}`)
  const parsed = abi.parseError(data)
  return parsed === null ? [data] : [parsed.name, ...parsed.args]
}
