import { createEVM, type EVM, type InterpreterStep } from '@ethereumjs/evm'
import { Address, type PrefixedHexString } from '@ethereumjs/util'
import { bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import type { EngineEnv } from '../../src/evm/block-env.ts'
import type { Engine, EngineMessage } from '../../src/evm/engine.ts'
import { commonAt } from '../../src/evm/engines/ethereumjs/common.ts'
import { evmOptions, MendedEvm } from '../../src/evm/engines/ethereumjs/deviations.ts'
import { EthereumJsStateAdapter } from '../../src/evm/engines/ethereumjs/state-adapter.ts'

/** A step as EthereumJS' own interpreter emits it. */
export interface OracleStep {
  readonly pc: number
  readonly op: string
  readonly gas: number
  readonly cost: number
  readonly depth: number
  readonly refund: number
  readonly stack: readonly string[]
  readonly memory: string
}

const stepFrom = ({ pc, opcode, gasLeft, depth, gasRefund, stack, memory }: InterpreterStep): OracleStep => ({
  pc,
  op: opcode.name,
  gas: Number(gasLeft),
  cost: Number(opcode.dynamicFee ?? opcode.fee),
  depth: depth + 1,
  refund: Number(gasRefund),
  stack: stack.map(item => `0x${item.toString(16)}`),
  memory: Buffer.from(memory).toString('hex'),
})

const addressFrom = (hex: Hex): Address => new Address(hexToBytes(hex))

const warmUp = (evm: EVM, env: EngineEnv, message: EngineMessage): void => {
  const warm = (address: Hex): void => evm.journal.addAlwaysWarmAddress(address.slice(2))
  for (const address of evm.precompiles.keys()) evm.journal.addAlwaysWarmAddress(address)
  for (const address of [message.from, env.miner, ...(message.to === null ? [] : [message.to])]) warm(address)
  for (const { address, storageKeys } of message.accessList) {
    warm(address)
    for (const slot of storageKeys) evm.journal.addAlwaysWarmSlot(address.slice(2), slot.slice(2))
  }
}

const blockFrom = (env: EngineEnv) => ({
  header: {
    number: BigInt(env.number),
    coinbase: addressFrom(env.miner),
    timestamp: BigInt(env.timestamp),
    difficulty: BigInt(env.prevRandao),
    prevRandao: hexToBytes(env.prevRandao),
    gasLimit: env.gasLimit,
    baseFeePerGas: env.baseFeePerGas,
    getBlobGasPrice: () => 0n,
  },
})

/**
 * EthereumJS' EVM with its own journal, interpreter and `step` events: nothing of our loop is in it. `records` false: without the steps;
 * `asItComes`: with its deviations from Ethereum.
 */
export const createStepOracle = ({ records = true, asItComes = false } = {}): Engine & { steps: OracleStep[] } => {
  const oracle: Engine & { steps: OracleStep[] } = {
    name: 'steps',
    steps: [],
    async run(journal, env, message) {
      const common = commonAt(env.params, env.number)
      const stateManager = new EthereumJsStateAdapter()
      stateManager.attach(journal)
      const blockchain = {
        getBlock: async (number: number) => ({ hash: () => hexToBytes(env.blockHash(number)) }),
        putBlock: async () => {},
        shallowCopy: () => blockchain,
      }
      const parts = { common, stateManager, blockchain }
      const evm = asItComes ? await createEVM(parts) : new MendedEvm(evmOptions(parts, env.params.precompilePrices))
      if (records)
        evm.events.on('step', (step, done) => {
          oracle.steps.push(stepFrom(step))
          done?.()
        })
      warmUp(evm, env, message)
      const { execResult, createdAddress } = await evm.runCall({
        block: blockFrom(env),
        caller: addressFrom(message.from),
        gasPrice: message.gasPrice,
        gasLimit: message.gas,
        value: message.value,
        data: message.data,
        skipNonceIncrement: true,
        ...(message.blobVersionedHashes !== undefined && { blobVersionedHashes: [...message.blobVersionedHashes] }),
        ...(message.to !== null && { to: addressFrom(message.to) }),
      })
      const { exceptionError, selfdestruct = new Map<PrefixedHexString, PrefixedHexString>() } = execResult
      return {
        gasUsed: execResult.executionGasUsed,
        refund: execResult.gasRefund ?? 0n,
        output: execResult.returnValue,
        logs: (execResult.logs ?? []).map(([address, topics, data]) => ({
          address: bytesToHex(address),
          topics: topics.map(bytesToHex),
          data,
        })),
        created: createdAddress === undefined ? null : bytesToHex(createdAddress.bytes),
        destroyed: [...selfdestruct.keys()].filter(address => execResult.createdAddresses?.has(address)),
        failure: exceptionError === undefined ? null : { kind: 'halt', reason: exceptionError.error },
      }
    },
  }
  return oracle
}
