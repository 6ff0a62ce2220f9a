import type { Common } from '@ethereumjs/common'
import { bytesToHex, EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import { evmForkAt } from '../../../config/forks.ts'
import type { Log } from '../../../primitives/receipt/log.ts'
import type { Journal } from '../../../state/journal/journal.ts'
import type { EngineEnv } from '../../block-env.ts'
import type { Engine, EngineMessage, EngineOptions, EngineResult } from '../../engine.ts'
import { commonAt } from './common.ts'
import { evmOptions } from './deviations.ts'
import { libraryAddress, libraryBlock, libraryBlockchain } from './library-block.ts'
import { evmOpcodes } from './opcodes.ts'
import { EthereumJsStateAdapter } from './state-adapter.ts'
import { createdFrom, WatchedEvm } from './watched-evm.ts'
import { engineFailure, errorOf, WatchedRun } from './watched-run.ts'

type Machine = ReturnType<typeof createMachine>

/**
 * Creates an EVM with the state that it reads, which takes a fraction of a millisecond and serves one message at a time; with the precompiles
 * of this project or those of the library.
 */
export const createMachine = (common: Common, env: EngineEnv, isWatched: boolean, hasOwnPrecompiles = true) => {
  const state = new EthereumJsStateAdapter()
  const parts = { common, stateManager: state, blockchain: libraryBlockchain(env) }
  const fork = evmForkAt(env.params.forks, env.number)
  const ownPrecompiles = hasOwnPrecompiles ? { fork, check: () => evm.run.clock.check() } : undefined
  const evm: WatchedEvm = new WatchedEvm(
    evmOptions(parts, env.params.precompilePrices, { opcodes: evmOpcodes(common, isWatched), ownPrecompiles }),
  )
  return { evm, state, parts }
}

const warmUp = ({ evm }: Machine, env: EngineEnv, message: EngineMessage): void => {
  const { common, journal } = evm
  if (!common.isActivatedEIP(2929)) return
  const warm = (address: Hex): void => journal.addAlwaysWarmAddress(address.slice(2))
  // Moved precompiles are warm where the fork has them.
  for (const address of evm.forkPrecompiles.keys()) journal.addAlwaysWarmAddress(address)
  for (const address of [message.from, ...(message.to === null ? [] : [message.to]), ...(message.warm ?? [])])
    warm(address)
  if (common.isActivatedEIP(3651)) warm(env.miner)
  for (const { address, storageKeys } of message.accessList) {
    warm(address)
    for (const slot of storageKeys) journal.addAlwaysWarmSlot(address.slice(2), slot.slice(2))
  }
}

const runMessage = async (
  machine: Machine,
  journal: Journal,
  env: EngineEnv,
  message: EngineMessage,
  options: EngineOptions,
): Promise<EngineResult> => {
  const { evm, state } = machine
  const { from, to, data, gas, gasPrice, value, blobVersionedHashes } = message
  state.attach(journal, options.prefetch)
  const run = new WatchedRun(journal, options)
  evm.blockchain = libraryBlockchain(env, options.blockHash)
  evm.begin(run)
  warmUp(machine, env, message)
  await options.prefetch?.account(from)
  const created = to === null ? createdFrom(journal, from) : null
  const { execResult } = await evm.runCall({
    block: libraryBlock(env, evm.common),
    caller: libraryAddress(from),
    gasPrice,
    gasLimit: gas,
    value,
    data,
    skipNonceIncrement: true,
    ...(blobVersionedHashes !== undefined && { blobVersionedHashes: [...blobVersionedHashes] }),
    ...(to !== null && { to: libraryAddress(to) }),
  })
  const { exceptionError, returnValue, executionGasUsed, gasRefund, logs = [] } = execResult
  const failure = engineFailure(errorOf(exceptionError))
  return {
    gasUsed: executionGasUsed,
    refund: gasRefund ?? 0n,
    output: failure?.kind === 'halt' ? EMPTY_BYTES : returnValue,
    logs: logs.map(logFrom),
    internal: run.internal,
    created,
    destroyed: destroyedBy(evm.common, execResult),
    failure,
    ...(options.transfers && { tracedLogs: run.logs }),
  }
}

/** Converts the library's log. */
export const logFrom = ([address, topics, data]: readonly [Uint8Array, readonly Uint8Array[], Uint8Array]): Log => ({
  address: bytesToHex(address),
  topics: topics.map(bytesToHex),
  data,
})

interface Destroying {
  readonly selfdestruct?: ReadonlyMap<Hex, Hex>
  readonly createdAddresses?: ReadonlySet<Hex>
}

/** Accounts to delete; from EIP-6780 on only those that the transaction created. */
const destroyedBy = (common: Common, { selfdestruct, createdAddresses }: Destroying): readonly Hex[] => {
  const all = [...(selfdestruct?.keys() ?? [])]
  return common.isActivatedEIP(6780) ? all.filter(address => createdAddresses?.has(address)) : all
}

/** EVM of EthereumJS as an engine: slow, and as independent of the other one as the node's state allows. */
export const createEthereumJsEngine = (): Engine => {
  /** Idle machines of each fork, and those that report steps. */
  const idle = { checked: new WeakMap<Common, Machine[]>(), watched: new WeakMap<Common, Machine[]>() }
  return {
    name: 'ethereumjs',
    async run(journal, env, message, options = {}) {
      const common = commonAt(env.params, env.number)
      const isWatched = options.trace !== undefined || options.accesses !== undefined
      const machines = getOrMake(isWatched ? idle.watched : idle.checked, common, () => [])
      const machine = machines.pop() ?? createMachine(common, env, isWatched)
      try {
        return await runMessage(machine, journal, env, message, options)
      } finally {
        machine.evm.end()
        machine.state.detach()
        machines.push(machine)
      }
    },
  }
}
