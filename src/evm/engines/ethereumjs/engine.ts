import type { Common } from '@ethereumjs/common'
import { bytesToHex, EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
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

/** EVM with the state that it reads; it takes a fraction of a millisecond to make, and serves one message at a time. */
interface Machine {
  readonly evm: WatchedEvm
  readonly state: EthereumJsStateAdapter
}

const createMachine = (common: Common, env: EngineEnv, isWatched: boolean): Machine => {
  const state = new EthereumJsStateAdapter()
  const parts = { common, stateManager: state, blockchain: libraryBlockchain(env) }
  const fork = evmForkAt(env.params.forks, env.number)
  const ownPrecompiles = { fork, check: () => evm.run.clock.check() }
  const evm: WatchedEvm = new WatchedEvm(
    evmOptions(parts, env.params.precompilePrices, { opcodes: evmOpcodes(common, isWatched), ownPrecompiles }),
  )
  return { evm, state }
}

/** Idle machines of each fork. */
class Machines {
  readonly #idle = new WeakMap<Common, { readonly checked: Machine[]; readonly watched: Machine[] }>()

  #of(common: Common, isWatched: boolean): Machine[] {
    let idle = this.#idle.get(common)
    if (idle === undefined) {
      idle = { checked: [], watched: [] }
      this.#idle.set(common, idle)
    }
    return isWatched ? idle.watched : idle.checked
  }

  async use<Result>(env: EngineEnv, isWatched: boolean, work: (machine: Machine) => Promise<Result>): Promise<Result> {
    const common = commonAt(env.params, env.number)
    const idle = this.#of(common, isWatched)
    const machine = idle.pop() ?? createMachine(common, env, isWatched)
    try {
      return await work(machine)
    } finally {
      machine.evm.end()
      machine.state.detach()
      idle.push(machine)
    }
  }
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
  const machines = new Machines()
  return {
    name: 'ethereumjs',
    run: (journal, env, message, options = {}) =>
      machines.use(env, options.trace !== undefined || options.accesses !== undefined, machine =>
        runMessage(machine, journal, env, message, options),
      ),
  }
}
