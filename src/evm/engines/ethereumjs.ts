import type { Common } from '@ethereumjs/common'
import { EVMError, type EVMMockBlockchainInterface, type EVMResult } from '@ethereumjs/evm'
import { Address } from '@ethereumjs/util'
import type { Log } from '../../primitives/log.ts'
import type { Journal } from '../../state/journal.ts'
import { bytesToHex, type Hex, hexToBytes, ZERO_HASH } from '../../util/bytes.ts'
import type { Engine, EngineFailure, EngineMessage, EngineOptions, EngineResult } from '../engine.ts'
import type { BlockEnv } from '../env.ts'
import { commonAt } from './common.ts'
import { FastEvm, prepareFastEvm } from './fast-evm.ts'
import { JournalAdapter } from './journal-adapter.ts'
import { asSets, isFailed, type MessageEffects, NOTHING_DONE, type RawLog } from './message-effects.ts'
import { isTransferLog } from './transfer-logs.ts'

/** An EVM, the block its BLOCKHASH answers for, and what the message was given besides. */
interface Instance {
  readonly evm: FastEvm
  env: BlockEnv | undefined
  options: EngineOptions
}

type EvmClass = typeof FastEvm

const createInstance = (Evm: EvmClass, common: Common): Instance => {
  const blockchain: EVMMockBlockchainInterface = {
    getBlock: async number => {
      const { env, options } = instance
      const hash = hexToBytes((await options.blockHash?.(number)) ?? env?.blockHash(number) ?? ZERO_HASH)
      return { hash: () => hash }
    },
    putBlock: async () => {},
    shallowCopy: () => blockchain,
  }
  const instance: Instance = { evm: new Evm(common, blockchain, new JournalAdapter()), env: undefined, options: {} }
  return instance
}

const addressFrom = (hex: Hex): Address => new Address(hexToBytes(hex))

/** The block as the opcodes ask for it. DIFFICULTY and PREVRANDAO answer alike (DESIGN 2). */
const blockFrom = (env: BlockEnv) => ({
  header: {
    number: BigInt(env.number),
    coinbase: addressFrom(env.miner),
    timestamp: BigInt(env.timestamp),
    difficulty: BigInt(env.prevRandao),
    prevRandao: hexToBytes(env.prevRandao),
    gasLimit: env.gasLimit,
    baseFeePerGas: env.baseFeePerGas,
    getBlobGasPrice: () => env.blobs?.baseFeePerGas ?? 0n,
  },
})

const blocks = new WeakMap<BlockEnv, ReturnType<typeof blockFrom>>()
const blockOf = (env: BlockEnv) => {
  let block = blocks.get(env)
  if (block === undefined) {
    block = blockFrom(env)
    blocks.set(env, block)
  }
  return block
}

const warmUp = ({ evm }: Instance, env: BlockEnv, message: EngineMessage): void => {
  const { warm, common } = evm
  if (!common.isActivatedEIP(2929)) return
  warm.warm(message.from)
  if (message.to !== null) warm.warm(message.to)
  if (common.isActivatedEIP(3651)) warm.warm(env.miner)
  for (const address of message.warm ?? []) warm.warm(address)
  for (const { address, storageKeys } of message.accessList) {
    warm.warm(address)
    for (const slot of storageKeys) warm.warmSlot(address, slot)
  }
}

const failureOf = ({ execResult }: EVMResult, common: Common): EngineFailure | null => {
  const error = execResult.exceptionError?.error
  if (error === undefined) return null
  if (error === EVMError.errorMessages.REVERT) return { kind: 'revert' }
  // Frontier lets a creation stand whose code could not be paid for.
  if (error === EVMError.errorMessages.CODESTORE_OUT_OF_GAS && !common.gteHardfork('homestead')) return null
  return { kind: 'halt', reason: error }
}

const destroyedBy = ({ destroyed, created }: MessageEffects, common: Common): readonly Hex[] => {
  const all = destroyed.values() as readonly Hex[]
  return common.isActivatedEIP(6780) ? all.filter(address => created.has(address)) : all
}

const logFrom = ([address, topics, data]: RawLog): Log => ({
  address: bytesToHex(address),
  topics: topics.map(bytesToHex),
  data,
})

const resultFrom = (result: EVMResult, { common, transfers, effects }: FastEvm): EngineResult => {
  const { executionGasUsed, gasRefund = 0n, returnValue } = result.execResult
  if (isFailed(result.execResult)) effects.revert(NOTHING_DONE)
  const { logs } = effects
  return {
    gasUsed: executionGasUsed,
    refund: gasRefund,
    output: returnValue,
    logs: (transfers ? logs.filter(log => !isTransferLog(log)) : logs).map(logFrom),
    created: result.createdAddress === undefined ? null : bytesToHex(result.createdAddress.bytes),
    destroyed: destroyedBy(effects, common),
    failure: failureOf(result, common),
    ...(transfers && { tracedLogs: logs.map(logFrom) }),
  }
}

const runOn = async (
  instance: Instance,
  journal: Journal,
  env: BlockEnv,
  message: EngineMessage,
  options: EngineOptions,
): Promise<EngineResult> => {
  const { evm } = instance
  instance.env = env
  instance.options = options
  evm.begin(journal, options)
  warmUp(instance, env, message)
  evm.warm.record(options.accesses)
  const result = await evm.runCall({
    block: blockOf(env),
    caller: addressFrom(message.from),
    gasPrice: message.gasPrice,
    gasLimit: message.gas,
    value: message.value,
    data: message.data,
    skipNonceIncrement: true,
    ...asSets(evm.effects),
    ...(message.to === null ? {} : { to: addressFrom(message.to) }),
    ...(message.blobVersionedHashes === undefined ? {} : { blobVersionedHashes: [...message.blobVersionedHashes] }),
  })
  return resultFrom(result, evm)
}

/** The EVM of EthereumJS over a journal. Instances are kept and used again; messages may run side by side on separate journals. */
export const createEthereumJsEngine = (Evm: EvmClass = FastEvm): Engine => {
  const idle = new Map<Common, Instance[]>()
  return {
    name: 'ethereumjs',
    async run(journal, env, message, options = {}) {
      const common = commonAt(env.params, env.number)
      await prepareFastEvm(common)
      const instance = idle.get(common)?.pop() ?? createInstance(Evm, common)
      const result = await runOn(instance, journal, env, message, options)
      // Only here: what an exception left half done is not used again.
      instance.evm.state.detach()
      instance.env = undefined
      instance.options = {}
      const pool = idle.get(common)
      if (pool === undefined) idle.set(common, [instance])
      else pool.push(instance)
      return result
    },
  }
}
